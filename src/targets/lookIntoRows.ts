import type { Scenario } from '../scenario/scenario';
import { requiredColumnsOfText } from './identities/needs';
import type { RowProblem } from './identities/openRows';
import type { TargetContext } from './target';

/** What is wrong with the files of rows of a scenario, without a run, in a sentence each. @param isThere which are read */
export async function lookIntoRows(
  scenario: Scenario,
  isThere: (file: string) => boolean,
  context: Pick<TargetContext, 'readFile'>,
): Promise<RowProblem[]> {
  const files = [scenario.identities?.kind === 'file' ? scenario.identities.file : undefined];
  if (![...files, scenario.data?.file].some((file) => file !== undefined && isThere(file)))
    return [];
  const { rowProblems } = await import('./identities/openRows.js');
  return rowProblems(scenario, requiredColumnsOfText(scenario), isThere, context);
}
