// One measurement in a fresh process: `node --expose-gc bench/measure.mjs CLIENT TRANSPORT URL CONNECTIONS SECONDS`,
// CLIENT as in `engine` or, for the other protocol, `engine/messagepack`. Prints one line of JSON.
import { setTimeout as sleep } from 'node:timers/promises';
import { openInBatches } from './batches.mjs';
import { latencyHistogram, nowUs } from './stamp.mjs';

const [client, transport, url, connectionsText, secondsText] = process.argv.slice(2);
const [name, protocol = 'json'] = client.split('/');
const connections = Number(connectionsText);
const seconds = Number(secondsText);
const warmupMs = 1000;
const settleMs = 400;

/** A message of 2 KB: the blob is what the published tables call the message size. */
const blob = 'x'.repeat(2048);

/** Resident bytes once the garbage is gone. */
async function residentBytes() {
  for (let round = 0; round < 2; round++) {
    await sleep(settleMs / 2);
    globalThis.gc();
  }
  return process.memoryUsage.rss();
}

const histogram = latencyHistogram();
const record = (us) => histogram.recordValue(us);

const { open } = await import(`./clients/${name}.mjs`);
const emptyBytes = await residentBytes();
const batch = openInBatches;
const options = { url, transport, connections, protocol, batch, blob, nowUs, record };
const running = await open(options);
const idleBytes = await residentBytes();

running.start();
await sleep(warmupMs);
histogram.reset();
const roundTripsBefore = running.roundTrips();
const cpuBefore = process.cpuUsage();
const startedMs = performance.now();
await sleep(seconds * 1000);
const cpu = process.cpuUsage(cpuBefore);
const roundTrips = running.roundTrips() - roundTripsBefore;
const elapsedMs = performance.now() - startedMs;

console.log(
  JSON.stringify({
    roundTrips,
    roundTripsPerSecond: roundTrips / (elapsedMs / 1000),
    cpuUs: (cpu.user + cpu.system) / roundTrips,
    p50Us: histogram.getValueAtPercentile(50),
    bytesPerConnection: (idleBytes - emptyBytes) / connections,
  }),
);
// The sockets close with the process.
process.exit(0);
