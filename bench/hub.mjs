// What the embedded hub serves from its one process: echoes of 2 KB in a closed loop by our engine, which takes less of a
// processor for each than the hub does, so that the hub is what bounds them. Needs `npm run build` and Linux. Judges nothing.
//
//   node bench/hub.mjs [--connections 200,2000,10000,18000] [--seconds 4]
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measure, serve } from './processes.mjs';
import { stolen } from './stolen.mjs';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '200,2000,10000,18000' },
    seconds: { type: 'string', default: '4' },
  },
});
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
for (const connections of values.connections.split(',').map(Number)) {
  const hub = await serve('hub');
  stolen();
  const readings = [];
  const timer = setInterval(
    () => readings.push({ atMs: performance.now(), cpuUs: cpuUsOf(hub.pid) }),
    readingMs,
  );
  const found = await measure('engine', 'WebSockets', hub.target, connections, seconds);
  clearInterval(timer);
  const kilobytes = mostKbOf(hub.pid);
  hub.stop();
  // Those of the measured time: the client ends with it.
  const [first, last] = [readings.at(-((seconds - 1) * 1000) / readingMs), readings.at(-1)];
  const cores = (last.cpuUs - first.cpuUs) / 1000 / (last.atMs - first.atMs);
  const perSecond = found.roundTripsPerSecond;
  console.log(
    `${connections} connections: ${Math.round(perSecond)} echoes a second, the hub ${cores.toFixed(2)} of a core ` +
      `(${((cores * 1e6) / perSecond).toFixed(1)} us each) and ${(kilobytes / 1024).toFixed(0)} MB at most, ` +
      `the generator ${((found.cpuUs * perSecond) / 1e6).toFixed(2)}; ${stolen()}`,
  );
}
