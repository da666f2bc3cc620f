import { startAppServer } from '../../src/servers/appServer/appServer';
import { startAzureSignalr } from '../../src/servers/azureSignalr/serviceEmulator';
import { EmulatorPeer } from './emulatorPeer';
import type { HubHere } from './loadHub';

/** An app server of an emulated Azure SignalR Service, which sends its clients on to that. */
export async function startBehindService(): Promise<HubHere> {
  const emulator = await startAzureSignalr();
  const { url: endpoint, key: accessKey } = new EmulatorPeer(emulator.connectionString);
  const app = await startAppServer({
    service: {
      ...{ accessKey, audience: new URL(endpoint).origin.replace(/:\d+$/, '') },
      ...{ clientEndpoint: endpoint, serverEndpoint: endpoint },
    },
    hub: 'chat',
  });
  return {
    url: app.url,
    dispose: async () => {
      await app.dispose();
      await emulator.dispose();
    },
  };
}
