// What the embedded hub serves from its one process: echoes of 2 KB in a closed loop, and deliveries of a broadcast, by the
// client in C, which has the other core for itself. Needs `npm run build`, Linux and a C compiler. Judges nothing.
//
//   node bench/hub.mjs [--connections 200,2000,10000,18000] [--seconds 4]
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildFloor, floorCommand } from './floor.mjs';
import { output, serve } from './processes.mjs';
import { stolen } from './stolen.mjs';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '200,2000,10000,18000' },
    seconds: { type: 'string', default: '4' },
  },
});
const problem = buildFloor();
if (problem !== undefined) {
  console.log(`This needs the client in C: ${problem}`);
  process.exit(0);
}

/** User and system time of all threads so far, in microseconds: fields 14 and 15 of proc_pid_stat(5), in ticks of 10 ms. */
function cpuUsOf(pid) {
  const [, fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  return (user + system) * 10_000;
}

const mostKbOf = (pid) =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);

const seconds = Number(values.seconds);
const readingMs = 250;
for (const [mode, counts] of [
  ['json', values.connections.split(',').map(Number)],
  ['broadcast', [2000]],
])
  for (const connections of counts) {
    const hub = await serve('hub');
    stolen();
    const [program, words] = floorCommand(mode, hub.target, connections, seconds);
    const readings = [];
    const timer = setInterval(
      () => readings.push({ atMs: performance.now(), cpuUs: cpuUsOf(hub.pid) }),
      readingMs,
    );
    const found = JSON.parse(await output(mode, words, program, 120_000));
    clearInterval(timer);
    const kilobytes = mostKbOf(hub.pid);
    hub.stop();
    // Those of the measured time: the client ends with it.
    const [first, last] = [readings.at(-((seconds - 1) * 1000) / readingMs), readings.at(-1)];
    const cores = (last.cpuUs - first.cpuUs) / 1000 / (last.atMs - first.atMs);
    console.log(
      `${mode}, ${connections} connections: ${Math.round(found.roundTripsPerSecond)} a second, the hub ${cores.toFixed(2)} of a core ` +
        `and ${(kilobytes / 1024).toFixed(0)} MB at most, the client ${((found.cpuUs * found.roundTripsPerSecond) / 1e6).toFixed(2)} of a core; ${stolen()}`,
    );
  }
