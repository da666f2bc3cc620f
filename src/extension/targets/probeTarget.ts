import { ExpectedError } from '../../base/expectedError';
import { readScenarioFile } from '../../session/scenarioFile';
import { hideSecrets } from '../../runner/lead/hideSecrets';
import { notRunnable } from '../../scenario/check/notRunnable';
import { parseScenario } from '../../scenario/parseScenario';
import type { Scenario } from '../../scenario/scenario';
import { probeEmulator, probeConnection } from '../../targets/connect/probeConnection';
import type { ServiceProbe } from '../../targets/service/probeService';
import { probeAgreed } from '../../targets/connect/probeAgreed';
import { openTarget } from '../../targets/openTarget';
import type { TargetContext } from '../../targets/target';
import { contractMethods } from '../../usecases/hubContract';
import { probeHub, type HubProbe } from '../../wire/connect/probeHub';
import { noticeText } from '../noticeText';

/** What is asked: the text of `config.target`, and of which service the emulator is when that is `local`. */
export interface ProbedTarget {
  readonly text: string;
  readonly service: Scenario['service'];
}

/**
 * Connects once to what `config.target` would say; asks a service, or the emulator of one, whether it takes
 * the key.
 *
 * @param agree settles with whether a hub may be followed to that host beyond this machine
 * @returns undefined when it may not
 * @throws ExpectedError when it is no target, or one of a kind that cannot be opened yet
 */
export async function probeTarget(
  { text, service }: ProbedTarget,
  surroundings: Omit<TargetContext, 'readFile'>,
  agree: (host: string) => Promise<boolean>,
): Promise<HubProbe | ServiceProbe | undefined> {
  const context = { ...surroundings, readFile: readScenarioFile };
  if (service !== 'hub') return probeEmulator(service, context);
  const probe = await probeConnection(text, context);
  if (probe !== undefined) return probe;
  const { scenario, problems } = parseScenario('mode: simple\n', {
    overrides: [{ path: 'config.target', value: text }],
  });
  const error = problems.find(({ severity }) => severity === 'error');
  if (error || !scenario) throw new ExpectedError('bad-target', error?.message ?? text);
  const reason = notRunnable(scenario);
  if (reason !== undefined) throw new ExpectedError('not-runnable', reason);
  const target = await openTarget(scenario, context);
  try {
    const hub = await probeAgreed(
      target,
      (endpoint) => probeHub(endpoint, contractMethods()),
      agree,
    );
    if (hub === undefined || hub.reachable) return hub;
    // A server may repeat what it was sent.
    return { ...hub, message: noticeText(hideSecrets(hub.message, target.secrets)) };
  } finally {
    await target.dispose();
  }
}
