// The emulator of Azure Web PubSub as a peer. Prints its connection string on standard output and ends when
// its standard input does.
import { startWebPubSubEmulator } from '../out/src/servers/webpubsub/webPubSubEmulator.js';

const { connectionString } = await startWebPubSubEmulator();
console.log(connectionString);
process.stdin.on('end', () => process.exit(0)).resume();
