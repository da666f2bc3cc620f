import { ExpectedError } from '../base/expectedError';
import type { Scenario } from '../scenario/scenario';
import type { OpenTarget } from '../targets/target';
import { dialectProblem } from '../wire/probeHub';

/**
 * Makes sure that the hub speaks a dialect this version can drive, before anything is started.
 *
 * @throws ExpectedError `dialect`
 */
export async function refuseOtherDialect(
  { kind, endpoint }: OpenTarget,
  { dialect }: Scenario,
  ask = dialectProblem,
): Promise<void> {
  if (dialect !== 'auto' || kind === 'local') return;
  const problem = await ask(endpoint);
  if (problem !== undefined) throw new ExpectedError('dialect', problem);
}
