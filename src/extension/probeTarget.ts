import { ExpectedError } from '../base/expectedError';
import { readScenarioFile } from '../cli/scenarioFile';
import { hideSecrets } from '../runner/hideSecrets';
import { notRunnable } from '../scenario/notRunnable';
import { parseScenario } from '../scenario/parseScenario';
import { probeConnection } from '../targets/probeConnection';
import type { ServiceProbe } from '../targets/probeService';
import { openTarget } from '../targets/registry';
import type { TargetContext } from '../targets/target';
import { probeHub, type HubProbe } from '../wire/probeHub';
import { noticeText } from './noticeText';

/**
 * Connects once to what `config.target` would say; asks a service whether it takes the key.
 *
 * @throws ExpectedError when it is no target, or one of a kind that cannot be opened yet
 */
export async function probeTarget(
  text: string,
  reference: TargetContext['reference'],
  serverScript: string,
): Promise<HubProbe | ServiceProbe> {
  const context = { reference, serverScript, readFile: readScenarioFile };
  const service = await probeConnection(text, context);
  if (service !== undefined) return service;
  const { scenario, problems } = parseScenario('mode: simple\n', {
    overrides: [{ path: 'config.target', value: text }],
  });
  const error = problems.find(({ severity }) => severity === 'error');
  if (error || !scenario) throw new ExpectedError('bad-target', error?.message ?? text);
  const reason = notRunnable(scenario);
  if (reason !== undefined) throw new ExpectedError('not-runnable', reason);
  const target = await openTarget(scenario, context);
  try {
    const probe = await probeHub(target.endpoint);
    if (probe.reachable) return probe;
    // A server may repeat what it was sent.
    return { ...probe, message: noticeText(hideSecrets(probe.message, target.secrets)) };
  } finally {
    await target.dispose();
  }
}
