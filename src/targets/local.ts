import { isAzure, services } from '../base/services';
import type { Scenario } from '../scenario/scenario';
import { openConnection } from './openConnection';
import { resolveEndpoint, secretsOf } from './resolveEndpoint';
import { disposeAll, startServerProcess, type ServedThing } from './serverProcess';
import type { OpenTarget, Target, TargetContext, ProblemListener } from './target';

/** The embedded hub on loopback, or the emulator of the scenario's service. */
export const local: Target = {
  kind: 'local',
  open: async (scenario, context) => {
    const { service } = scenario;
    const { serverScript, onProblem } = context;
    const { value, dispose } = await startLocalServer(service, serverScript, onProblem);
    try {
      if (!isAzure(service)) return { ...(await openHub(value, scenario, context)), dispose };
      const opened = await openConnection(value, scenario, context);
      return {
        ...opened,
        kind: 'local',
        emulated: true,
        dispose: () => disposeAll(opened, { dispose }),
      };
    } catch (error) {
      await dispose();
      throw error;
    }
  },
};

async function openHub(
  url: string,
  scenario: Scenario,
  context: TargetContext,
): Promise<Omit<OpenTarget, 'dispose'>> {
  const endpoint = await resolveEndpoint([url], scenario, context);
  const secrets = secretsOf(endpoint);
  return { kind: 'local', emulated: true, endpoint, secrets, url, hostsBeyond: [] };
}

function servedFor(service: Scenario['service']): ServedThing {
  if (!isAzure(service))
    return { args: ['hub', '--port', '0'], name: 'embedded hub', prints: 'url' };
  const { emulator, name } = services[service];
  const args = [emulator, '--port', '0'];
  return { args, name: `emulator of ${name}`, prints: 'connectionString' };
}

export function startLocalServer(
  service: Scenario['service'],
  serverScript: string,
  onProblem?: ProblemListener,
): ReturnType<typeof startServerProcess> {
  return startServerProcess(serverScript, servedFor(service), { onProblem });
}
