import type { Scenario } from '../scenario/scenario';
import { needsOfTexts } from './identities/resolveIdentities';
import type { TargetContext } from './target';

/** What is wrong with the files of rows of a scenario, without a run: by the name of each file, in a sentence. */
export async function lookIntoRows(
  scenario: Scenario,
  context: Pick<TargetContext, 'readFile'>,
): Promise<{ readonly file: string; readonly message: string }[]> {
  const { rowProblems } = await import('./identities/openRows.js');
  return rowProblems(scenario, needsOfTexts(scenario), context);
}
