import { ExpectedError } from '../base/expectedError';
import { readScenarioFile } from '../cli/scenarioFile';
import { looksLikeConnectionString } from '../scenario/connectionString';
import { notRunnable } from '../scenario/notRunnable';
import { parseScenario } from '../scenario/parseScenario';
import { openTarget } from '../targets/registry';
import type { TargetContext } from '../targets/target';
import { probeHub, type HubProbe } from '../wire/probeHub';

/**
 * Connects once to what `config.target` would say.
 *
 * @throws ExpectedError when it is no target, or one of a kind that cannot be opened yet
 */
export async function probeTarget(
  text: string,
  reference: TargetContext['reference'],
  serverScript: string,
): Promise<HubProbe> {
  const secret = /^\$\{secret:(.*)\}$/.exec(text)?.[1];
  const kept = secret === undefined ? undefined : reference('secret', secret);
  const isConnectionString = kept !== undefined && looksLikeConnectionString(kept);
  const { scenario, problems } = parseScenario('mode: simple\n', {
    overrides: [
      { path: isConnectionString ? 'config.connectionString' : 'config.target', value: text },
    ],
  });
  const error = problems.find(({ severity }) => severity === 'error');
  if (error || !scenario) throw new ExpectedError('bad-target', error?.message ?? text);
  const reason = notRunnable(scenario);
  if (reason !== undefined) throw new ExpectedError('not-runnable', reason);
  const target = await openTarget(scenario, {
    reference,
    serverScript,
    readFile: readScenarioFile,
  });
  try {
    return await probeHub(target.endpoint);
  } finally {
    await target.dispose();
  }
}
