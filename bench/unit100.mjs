// `npm run bench:unit100`: how much of Unit100 of Azure SignalR Service one machine offers: 100,000 connections, 100,000 echo
// messages of 2 KB a second, 99 % of them within a second. Both sides on this machine, the hub in C. Judges nothing.
//
//   npm run bench:unit100 -- [--connections 100000] [--rates 20000,30000,40000] [--seconds 5]
//
// Each connection that sends does so once a second, so that a rate is a number of senders; rates rise by one difference.
// Method: bench/README.md, *Unit100*.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { buildPeer } from './floor.mjs';
import { largeRun } from './largeRuns.mjs';
import { stolen } from './stolen.mjs';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '100000' },
    rates: { type: 'string' },
    seconds: { type: 'string', default: '5' },
  },
});
const connections = Number(values.connections);
const cores = cpus().length;
/** A core for the generator and one for the hub carry about so many a second; a machine with many is asked for all. */
const perPairOfCores = 40_000;
const most = Math.min(connections, (perPairOfCores * cores) / 2);
const rates = (values.rates ?? [0.5, 0.75, 1].map((share) => Math.round(share * most)).join(','))
  .split(',')
  .map(Number);
const [first, second = first] = rates;
/** What Unit100 takes, source: the vendor's performance guide, table of echo at 2 KB. */
const wholeRate = 100_000;

const whole = (number) => Math.round(number).toLocaleString('en-US');
const problem = buildPeer();
if (problem !== undefined) {
  console.log(`This needs the hub in C: ${problem}`);
  process.exit(0);
}
stolen();
const found = await largeRun({
  ...{ connections, intervalMs: 1000, senders: first, step: second - first },
  ...{ steps: rates.length, seconds: Number(values.seconds) },
});
console.log(
  `${whole(found.connected)} of ${whole(connections)} connections from ${found.processes} processes in ${found.connectSeconds.toFixed(0)} s, ` +
    `${found.failed} failed, ${found.dropped} dropped; ${cores} cores, Node ${process.version}, hub in C of ${found.peers} processes, ${stolen()}.`,
);
console.log(
  `Memory of all processes of the generator: ${whole(found.mostBytes / 1024 / 1024)} MB at most, ${(found.mostBytes / 1024 / connections).toFixed(1)} KB a connection.`,
);
for (const step of found.steps) {
  const [ours, hubs] = [step.cpuUsPerEcho, found.peerUsPerEcho].map(
    (us) => (us * step.perSecond) / 1e6,
  );
  console.log(
    `${whole(step.offered / step.seconds)}/s due: ${whole(step.sent)} of ${whole(step.offered)} sent, ${whole(step.received)} of ${whole(step.expected)} received, ` +
      `p50 ${((step.p50Us ?? 0) / 1000).toFixed(1)} ms, p99 ${((step.p99Us ?? 0) / 1000).toFixed(1)} ms, late p99 ${(step.slipP99Us / 1000).toFixed(1)} ms, ` +
      `${step.cpuUsPerEcho.toFixed(1)} us of CPU each: ${ours.toFixed(2)} cores, the hub ${hubs.toFixed(2)}; ${step.verdict}.`,
  );
}
const best = found.steps.filter(({ verdict }) => verdict === 'pass').at(-1);
if (best !== undefined) {
  const needed = ((best.cpuUsPerEcho + found.peerUsPerEcho) * wholeRate) / 1e6;
  console.log(
    `Valid up to ${whole(best.perSecond)} a second, ${((100 * best.perSecond) / wholeRate).toFixed(0)} % of Unit100. At this cost all of it takes ${needed.toFixed(1)} cores, ` +
      `${((best.cpuUsPerEcho * wholeRate) / 1e6).toFixed(1)} of them for the generator; here are ${cores}.`,
  );
}
