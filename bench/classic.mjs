// What one echo round trip costs our engine over ASP.NET SignalR, beside the same over ASP.NET Core SignalR in JSON, in
// one run: each against the embedded hub in a process of its own. Method: bench/README.md. Judges nothing.
//
//   node bench/classic.mjs [--connections 200] [--rounds 4] [--seconds 2]
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measure, median, serve } from './processes.mjs';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '2' },
  },
});
const [connections, rounds, seconds] = [values.connections, values.rounds, values.seconds].map(
  Number,
);

const hubs = { engine: await serve('hub'), 'engine/classic': await serve('hub', '--classic') };
const clients = Object.keys(hubs);
const found = new Map(clients.map((client) => [client, []]));
const ratios = [];
for (let round = 0; round < rounds; round++) {
  const order = round % 2 === 0 ? clients : [...clients].reverse();
  for (const client of order) {
    const { target } = hubs[client];
    found.get(client).push(await measure(client, 'WebSockets', target, connections, seconds));
    process.stderr.write('.');
  }
  const [core, classic] = clients.map((client) => found.get(client).at(-1).cpuUs);
  ratios.push(classic / core);
}
process.stderr.write('\n');
for (const { stop } of Object.values(hubs)) stop();

const spread = (numbers, digits) =>
  `${median(numbers).toFixed(digits)} (${Math.min(...numbers).toFixed(digits)} - ${Math.max(...numbers).toFixed(digits)})`;
console.log(
  `2 KB echo over WebSockets, ${connections} connections, Node ${process.version}, ${cpus().length} cores, median of ${rounds}.`,
);
for (const client of clients) {
  const of = (field) => found.get(client).map((one) => one[field]);
  const trips = Math.round(median(of('roundTripsPerSecond')));
  console.log(`${client.padEnd(15)} CPU us / trip ${spread(of('cpuUs'), 1)}, ${trips} trips / s`);
}
console.log(`ASP.NET SignalR by ASP.NET Core SignalR: ${spread(ratios, 2)} times the CPU.`);
