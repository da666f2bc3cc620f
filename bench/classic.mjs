// What one echo round trip costs our engine over ASP.NET SignalR, beside the same over ASP.NET Core SignalR in JSON, in
// one run: each against the embedded hub in a process of its own. Method: bench/README.md. Judges nothing.
//
//   node bench/classic.mjs [--connections 200] [--rounds 4] [--seconds 2] [--rate 0]
//
// With a rate, whole runs of the command line send so many echoes a second in all, which is the same for both; without, each
// echo that comes back sends the next.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measure, median, runScenario, serve } from './processes.mjs';

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '2' },
    rate: { type: 'string', default: '0' },
  },
});
const [connections, rounds, seconds, rate] = [
  ...[values.connections, values.rounds, values.seconds, values.rate],
].map(Number);

/** As a measurement in a closed loop has it. */
async function paced(client, target) {
  const { result } = await runScenario(
    `config:
  connections: ${connections}
  baseSending: ${connections}
  step: 0
  sendingSteps: 1
  arrivingRate: 1000
  singleStepDuration: ${seconds}s
  warmup: 1s
  drain: 2s
  workers: 1
  connectionType: ${client === 'engine' ? 'Core' : 'AspNet'}
scenario: { name: echo, parameters: { messageSize: 2KB, sendingInterval: ${(1000 * connections) / rate}ms } }
`,
    target,
  );
  const [{ sent, received, lost, generator, ...step }] = result.steps;
  if (sent !== received || lost > 0) throw new Error(`${client} lost messages`);
  return {
    cpuUs: (generator.cpuUsPerMessage * (sent + received)) / received,
    roundTripsPerSecond: received / step.seconds,
  };
}

const measured = (client, target) =>
  rate > 0 ? paced(client, target) : measure(client, 'WebSockets', target, connections, seconds);

const hubs = { engine: await serve('hub'), 'engine/classic': await serve('hub', '--classic') };
const clients = Object.keys(hubs);
const found = new Map(clients.map((client) => [client, []]));
const ratios = [];
for (let round = 0; round < rounds; round++) {
  const order = round % 2 === 0 ? clients : [...clients].reverse();
  for (const client of order) {
    const { target } = hubs[client];
    found.get(client).push(await measured(client, target));
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
