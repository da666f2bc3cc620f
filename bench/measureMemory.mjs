// One measurement of memory in a fresh process:
//
//   node --expose-gc bench/measureMemory.mjs CLIENT URL CONNECTIONS SECONDS
//
// CLIENT as in `measure.mjs`. Prints one line of JSON: bytes of an idle connection, and bytes allocated for each round trip
// where SECONDS are more than nothing.
import { createRequire } from 'node:module';
import { Session } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import { openInBatches } from './batches.mjs';
import { latencyHistogram, nowUs } from './stamp.mjs';

const { sampling } = createRequire(import.meta.url)('./allocating.cjs');
const [client, url, connectionsText, secondsText] = process.argv.slice(2);
const [name, protocol = 'json'] = client.split('/');
const connections = Number(connectionsText);
const settleMs = 200;
const warmupMs = 1500;

/** Once the garbage is gone. */
async function memory() {
  for (let round = 0; round < 4; round++) {
    await sleep(settleMs);
    globalThis.gc();
  }
  return process.memoryUsage();
}

const histogram = latencyHistogram();
const { open } = await import(`./clients/${name}.mjs`);
const empty = await memory();
const running = await open({
  ...{ url, transport: 'WebSockets', connections, protocol, batch: openInBatches },
  ...{ blob: 'x'.repeat(2048), nowUs, record: (us) => histogram.recordValue(us) },
});
const idle = await memory();
const each = (field) => (idle[field] - empty[field]) / connections;
const measured = { residentBytes: each('rss'), heapBytes: each('heapUsed') };

const seconds = Number(secondsText);
if (seconds > 0) {
  running.start();
  await sleep(warmupMs);
  const session = new Session();
  session.connect();
  const samples = sampling(session);
  const before = running.roundTrips();
  samples.start();
  await sleep(seconds * 1000);
  const trips = running.roundTrips() - before;
  samples.stop(({ bytes }) => Object.assign(measured, { trips, bytes }));
}
console.log(JSON.stringify(measured));
// The sockets close with the process.
process.exit(0);
