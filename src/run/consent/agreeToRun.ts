import { ExpectedError } from '../../base/expectedError';
import type { Scenario } from '../../scenario/scenario';
import type { Shell } from '../shell';
import { contactsBeyond, questionOf, reachOf } from './reach';

/** Before anything is contacted or executed. @throws ExpectedError `not-confirmed` */
export async function agreeToRun(
  scenario: Scenario,
  { confirm, context, also }: Pick<Shell, 'confirm' | 'context' | 'also'>,
): Promise<void> {
  if (confirm === undefined) return;
  const reach = reachOf(scenario, context, { also: also ?? [] });
  const isQuiet = reach.programs.length === 0 && contactsBeyond(reach).length === 0;
  if (isQuiet && scenario.unlikeRecording === undefined) return;
  if (!(await confirm(questionOf(scenario, reach), scenario)))
    throw new ExpectedError('not-confirmed', 'Not confirmed; nothing was started.');
}
