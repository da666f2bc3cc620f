// What memory the load generator takes: of a connection that is idle, and of a message. Method: bench/README.md, *Memory*.
// Judges nothing.
//
//   node bench/memory.mjs [--clients engine,ws,signalr] [--connections 2000,4000,8000,16000] [--seconds 4] [--rate 40000] [--top 6]
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../scripts/nodeProgram.mjs';
import { buildPeer, startFloorPeer } from './floor.mjs';
import { flagsOf, output, runScenario, startPeer } from './processes.mjs';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: 'engine,ws,signalr' },
    connections: { type: 'string', default: '2000,4000,8000,16000' },
    seconds: { type: 'string', default: '4' },
    rate: { type: 'string', default: '40000' },
    top: { type: 'string', default: '6' },
  },
});
const seconds = Number(values.seconds);
const listOf = (text) => text.split(',').filter((name) => name !== '');
const kilobytes = (bytes) => (bytes / 1024).toFixed(1);
/** Of a closed loop; few, so that each has many messages. */
const loopConnections = 200;

async function measured(client, url, connections, forSeconds) {
  const words = [
    ...[...flagsOf(client), '--expose-gc', 'bench/measureMemory.mjs'],
    ...[client, url, connections, forSeconds],
  ];
  const title = `${client} at ${connections} connections`;
  return JSON.parse(await output(title, words.map(String), process.execPath, 120_000));
}

/** Bytes by function, the largest first, and those of Node's own code together. */
function printAllocations(title, bytes, messages) {
  const rows = Object.entries(bytes).sort(([, one], [, other]) => other - one);
  const sum = (some) => some.reduce((total, [, count]) => total + count, 0) / messages;
  const ofNode = sum(rows.filter(([name]) => name.includes(' node:')));
  console.log(
    `${title}: ${sum(rows).toFixed(0)} bytes each, ${ofNode.toFixed(0)} of them by Node's own code, of ${messages} messages`,
  );
  for (const [name, count] of rows.slice(0, Number(values.top)))
    console.log(`${(count / messages).toFixed(1).padStart(10)}  ${name}`);
}

const peer = await startPeer('bench/echoPeer.mjs');
try {
  const counts = listOf(values.connections).map(Number);
  console.log(`KB of an idle connection, resident (in the heap), Node ${process.version}:`);
  for (const client of listOf(values.clients)) {
    const found = [];
    for (const connections of counts)
      found.push({ connections, ...(await measured(client, peer.url, connections, 0)) });
    const cells = found.map(
      ({ connections, residentBytes, heapBytes }) =>
        `${connections}: ${kilobytes(residentBytes)} (${kilobytes(heapBytes)})`,
    );
    const [first, last] = [found[0], found.at(-1)];
    const more =
      (last.residentBytes * last.connections - first.residentBytes * first.connections) /
      (last.connections - first.connections);
    console.log(
      [
        client.padEnd(10),
        ...cells,
        ...(found.length > 1 ? [`each further: ${kilobytes(more)}`] : []),
      ].join('   '),
    );
  }
  console.log('\nBytes allocated for a round trip of 2 KB in a closed loop:');
  for (const client of listOf(values.clients)) {
    const { trips, bytes } = await measured(client, peer.url, loopConnections, seconds);
    printAllocations(client, bytes, trips);
  }
} finally {
  peer.stop();
}

const rate = Number(values.rate);
const problem = buildPeer();
if (problem !== undefined || rate === 0) {
  if (problem !== undefined) console.log(`Whole runs need the hub in C: ${problem}`);
  process.exit(0);
}
const connections = 1000;
const fromMs = 4000;
const scenario = `config:
  connections: ${connections}
  baseSending: ${connections}
  step: 0
  sendingSteps: 1
  arrivingRate: 3000
  connectInFlight: 200
  singleStepDuration: ${seconds + 8}s
  warmup: 1s
  workers: 1
  skipNegotiation: true
scenario: { name: echo, parameters: { messageSize: 2KB, sendingInterval: ${(1000 * connections) / rate}ms } }
slo: { p99: 60s }
`;
const folder = await mkdtemp(path.join(tmpdir(), 'signalr-bench-'));
Object.assign(process.env, {
  NODE_OPTIONS: `--require ${JSON.stringify(path.join(root, 'bench', 'allocating.cjs'))}`,
  BENCH_ALLOCATIONS: folder,
  BENCH_FROM_MS: String(fromMs),
  BENCH_UNTIL_MS: String(fromMs + seconds * 1000),
});
const hub = await startFloorPeer(1);
try {
  await runScenario(scenario, hub.url);
  console.log(
    `\nThe same in a whole run, ${rate} echoes a second over ${connections} connections:`,
  );
  for (const name of await readdir(folder)) {
    const { ms, bytes } = JSON.parse(await readFile(path.join(folder, name), 'utf8'));
    printAllocations(
      `process and thread ${name.slice(0, -5)}`,
      bytes,
      Math.round((rate * ms) / 1000),
    );
  }
} finally {
  hub.stop();
  await rm(folder, { recursive: true });
}
