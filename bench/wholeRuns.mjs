// What whole runs cost, with everything that a bench in a closed loop leaves out: pacing, stamps of due time, steps,
// snapshots, the lead, storing. The built command line against a lean hub in C, in turns with other clients behind a simple
// schedule. Method: bench/README.md, *Whole runs*. Judges nothing; Linux, and a C compiler.
//
//   node bench/wholeRuns.mjs [--loads 1000x10,1000x20,1000x40,10000x1] [--clients engine,ws,signalr,artillery] [--seconds 5]
//     [--ladder 2000x30-60/5]
//
// A load is connections x messages a second of each; a ladder goes from one rate to another, both in thousands of messages
// a second, by so many thousands. An empty list leaves the loads out.
import { parseArgs } from 'node:util';
import { artillerySteps } from './artillery.mjs';
import { buildPeer, startFloorPeer } from './floor.mjs';
import { output, runScenario } from './processes.mjs';
import { stolen } from './stolen.mjs';

const { values } = parseArgs({
  options: {
    loads: { type: 'string', default: '1000x10,1000x20,1000x40,10000x1' },
    clients: { type: 'string', default: 'engine,ws,signalr' },
    ladder: { type: 'string', default: '' },
    seconds: { type: 'string', default: '5' },
  },
});
const seconds = Number(values.seconds);
const listOf = (text) => text.split(',').filter((name) => name !== '');
/** The objective, and how late 1 % of the messages may leave by it: as the self-check of a run has it. */
const limitUs = 1_000_000;
const mostSlipUs = limitUs / 10;
const leastSentShare = 0.99;
const mostCpuShare = 0.95;

const scenario = ({ connections, each, senders, step, steps }) => `config:
  connections: ${connections}
  baseSending: ${senders}
  step: ${step}
  sendingSteps: ${steps}
  arrivingRate: 3000
  connectInFlight: 200
  singleStepDuration: ${seconds}s
  warmup: 1s
  drain: 5s
  workers: 1
  skipNegotiation: true
scenario: { name: echo, parameters: { messageSize: 2KB, sendingInterval: ${1000 / each}ms } }
slo: { p99: 1s }
`;

/** Steps of a run of the command line, by the fields that all clients have. */
async function engineSteps(load, url) {
  const { result } = await runScenario(scenario(load), url);
  return result.steps.map(
    ({ senders, offered, sent, received, generator, latencyUs, ...step }) => ({
      ...{ senders, seconds: step.seconds, offered, sent, received },
      cpuUsPerEcho: (generator.cpuUsPerMessage * (sent + received)) / received,
      cpuShare: generator.cpuShare,
      slipP99Us: generator.slipP99Us,
      p99Us: latencyUs.p99 ?? latencyUs.max,
      isHealthy: generator.valid,
    }),
  );
}

async function pacedSteps(client, { connections, each, senders, step, steps }, url) {
  const counts = Array.from({ length: steps }, (_, at) => senders + at * step).join(',');
  const words = [client, url, connections, each, seconds, counts].map(String);
  const text = await output(client, ['bench/paced.mjs', ...words], undefined, 240_000);
  const lines = text.trim().split('\n');
  return lines.map((line) => {
    const one = JSON.parse(line);
    const isHealthy =
      one.sent >= leastSentShare * one.offered &&
      one.slipP99Us <= mostSlipUs &&
      one.cpuShare <= mostCpuShare;
    return { ...one, isHealthy };
  });
}

async function otherSteps(load, url) {
  const steps = await artillerySteps(load, url);
  return steps.map((one) => ({
    ...one,
    // Its users pause behind each answer, however long that took.
    isHealthy: one.sent >= 0.95 * one.offered && one.cpuShare <= mostCpuShare,
  }));
}

const generators = { engine: engineSteps, artillery: otherSteps };
const stepsOf = (client, load, url) =>
  generators[client]?.(load, url) ?? pacedSteps(client, load, url);

const whole = (number) => Math.round(number).toLocaleString('en-US');
const words = (client, connections, one) =>
  [
    client.padEnd(9),
    `${whole(connections)} connections`.padStart(18),
    `${whole(one.offered / one.seconds)}/s due, ${whole(one.received / one.seconds)}/s came back`.padStart(
      38,
    ),
    `${one.cpuUsPerEcho.toFixed(1)} us of CPU each`.padStart(20),
    `${one.cpuShare.toFixed(2)} of a core`,
    one.slipP99Us === undefined
      ? 'does not know how late it was'
      : `late p99 ${(one.slipP99Us / 1000).toFixed(1)} ms, p99 ${(one.p99Us / 1000).toFixed(1)} ms`,
    one.isHealthy ? 'healthy' : 'not healthy',
  ].join('  ');

const problem = buildPeer();
if (problem !== undefined) {
  console.log(`Whole runs need the hub in C: ${problem}`);
  process.exit(0);
}
const clients = listOf(values.clients);
/** A fresh hub for each run: one that is behind with the one before would be measured, too. */
async function measured(client, load) {
  const peer = await startFloorPeer(1);
  stolen();
  try {
    return await stepsOf(client, load, peer.url);
  } finally {
    peer.stop();
  }
}

console.log(
  `Echo of 2 KB, JSON, Node ${process.version}, one worker; the hub in C has a process of its own.`,
);
for (const text of listOf(values.loads)) {
  const [connections, each] = text.split('x').map(Number);
  for (const client of clients) {
    const load = { connections, each, senders: connections, step: 0, steps: 1 };
    const [one] = await measured(client, load);
    console.log(`${words(client, connections, one)}, ${stolen()}`);
  }
}
if (values.ladder !== '') {
  const [connections, from, to, by] = values.ladder.split(/[x/-]/).map(Number);
  // Each sends so often that all together make the last step.
  const each = (to * 1000) / connections;
  const step = (by * 1000) / each;
  const steps = Math.floor((to - from) / by) + 1;
  for (const client of clients) {
    const load = { connections, each, senders: connections - (steps - 1) * step, step, steps };
    const found = await measured(client, load);
    for (const one of found) console.log(words(client, connections, one));
    console.log(`${stolen()} meanwhile.`);
    const best = found.filter(({ isHealthy }) => isHealthy).at(-1);
    console.log(
      best === undefined
        ? `${client}: no step was healthy.`
        : `${client}: healthy up to ${whole(best.received / best.seconds)} echoes a second.`,
    );
  }
}
