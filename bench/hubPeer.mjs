// The embedded hub as a peer, for the transports that the echo peer does not speak. Prints its URL on
// standard output and ends when its standard input does.
import { startBenchHub } from '../out/src/servers/hub/benchHub.js';

const hub = await startBenchHub();
console.log(hub.url);
process.stdin.on('end', () => process.exit(0)).resume();
