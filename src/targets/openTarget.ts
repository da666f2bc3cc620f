import { ExpectedError } from '../base/expectedError';
import type { Scenario } from '../scenario/scenario';
import { local } from './local';
import { connectionString } from './openConnection';
import { hubUrl } from './openHubUrl';
import { TargetProblems, type OpenTarget, type Target, type TargetContext } from './target';

export const targets: readonly Target[] = [local, hubUrl, connectionString];

/** Opens the scenario's target. @throws ExpectedError when it has none, or one that cannot be opened */
export async function openTarget(scenario: Scenario, context: TargetContext): Promise<OpenTarget> {
  if (scenario.target === undefined) {
    throw new ExpectedError(
      'no-target',
      'The scenario names no target. Write `target: local` or the hub URL into the file, or use --target.',
    );
  }
  const problems = new TargetProblems();
  const name = scenario.target.kind;
  const target = targets.find(({ kind }) => kind === name);
  if (target === undefined) throw new Error(`nothing opens targets of the kind ${name}`);
  return { ...(await target.open(scenario, { ...context, onProblem: problems.report })), problems };
}
