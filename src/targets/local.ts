import type { Scenario } from '../scenario/scenario';
import { openConnection } from './connectionString';
import { resolveEndpoint, secretsOf } from './resolveEndpoint';
import { startServerProcess, type ServedThing } from './serverProcess';
import type { OpenTarget, Target, TargetContext } from './target';

/** The embedded hub on loopback, or the emulator of the scenario's service. */
export const local: Target = {
  kind: 'local',
  open: async (scenario, context) => {
    const { service } = scenario;
    const server = servers[service];
    const { value, dispose } = await startServerProcess(context.serverScript, server);
    try {
      if (service === 'hub') return { ...(await openHub(value, scenario, context)), dispose };
      const opened = await openConnection(value, scenario, context);
      return {
        ...opened,
        kind: 'local',
        dispose: () => opened.dispose().finally(dispose),
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
  return { kind: 'local', endpoint, secrets: secretsOf(endpoint), url, loopback: true };
}

const servers: Readonly<Record<Scenario['service'], ServedThing>> = {
  hub: { args: ['hub', '--port', '0'], name: 'embedded hub', tells: 'url' },
  signalr: {
    args: ['azure-signalr', '--port', '0'],
    name: 'emulator of Azure SignalR Service',
    tells: 'connectionString',
  },
  webpubsub: {
    args: ['web-pubsub', '--port', '0'],
    name: 'emulator of Azure Web PubSub',
    tells: 'connectionString',
  },
};

/** The embedded hub, see {@link startServerProcess}. */
export async function startLocalHub(
  serverScript: string,
): Promise<{ readonly url: string; readonly dispose: () => Promise<void> }> {
  const { value, dispose } = await startServerProcess(serverScript, servers.hub);
  return { url: value, dispose };
}
