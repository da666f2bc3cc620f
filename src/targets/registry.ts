import { ExpectedError } from '../base/expectedError';
import type { Scenario } from '../scenario/scenario';
import { connectionString } from './connectionString';
import { hubUrl } from './hubUrl';
import { local } from './local';
import type { OpenTarget, Target, TargetContext } from './target';
import { TargetProblems } from './targetProblems';

/** All kinds of targets. */
export const targets: { readonly [Kind in Target['kind']]: Target } = {
  local,
  hubUrl,
  connectionString,
};

/**
 * Opens the scenario's target.
 *
 * @throws ExpectedError when it has none, or one that cannot be opened
 */
export async function openTarget(scenario: Scenario, context: TargetContext): Promise<OpenTarget> {
  if (scenario.target === undefined) {
    throw new ExpectedError(
      'no-target',
      'The scenario names no target. Write `target: local` or the hub URL into the file, or use --target.',
    );
  }
  const problems = new TargetProblems();
  const target = targets[scenario.target.kind];
  return { ...(await target.open(scenario, { ...context, onProblem: problems.tell })), problems };
}
