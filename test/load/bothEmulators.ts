import { startAzureSignalr } from '../../src/servers/azureSignalr/serviceEmulator';
import { startWebPubSubEmulator } from '../../src/servers/webpubsub/webPubSubEmulator';

type Service = 'signalr' | 'webpubsub';

/** Starts both emulators for the tests of the suite; reports the connection strings once they are there. */
export function bothEmulators(): Readonly<Record<Service, string>> {
  const connectionStrings = { signalr: '', webpubsub: '' };
  let stop: () => Promise<unknown>;
  before(async () => {
    const signalr = await startAzureSignalr();
    const webpubsub = await startWebPubSubEmulator();
    stop = () => Promise.all([signalr.dispose(), webpubsub.dispose()]);
    connectionStrings.signalr = signalr.connectionString;
    connectionStrings.webpubsub = webpubsub.connectionString;
  });
  after(() => stop());
  return connectionStrings;
}
