// `npm run bench`: what one echo round trip costs the load generator, for our engine, the `ws` package and
// the official client, side by side. Method: bench/README.md. Judges nothing.
//
//   npm run bench -- [--clients engine,ws,signalr] [--connections 200,2000] [--rounds 5] [--seconds 2]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { packageProgram, root, runNode } from '../scripts/nodeProgram.mjs';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: 'engine,ws,signalr' },
    connections: { type: 'string', default: '200,2000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
  },
});
const clients = values.clients.split(',');
const connectionCounts = values.connections.split(',').map(Number);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

/** A measurement that takes longer is stuck. */
const measurementLimitMs = 30_000;
/** No round begins that would end later than this. */
const totalLimitMs = 230_000;

const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

async function startPeer() {
  const peer = spawn(process.execPath, ['bench/echoPeer.mjs'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  peer.once('exit', (code) => {
    if (code !== 0) throw new Error(`the echo peer ended with ${code}`);
  });
  const [line] = await once(peer.stdout, 'data');
  return { url: `http://127.0.0.1:${Number(line)}/hub`, stop: () => peer.stdin.end() };
}

async function measure(client, url, connections) {
  const args = ['--expose-gc', 'bench/measure.mjs', client, url, connections, seconds].map(String);
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: measurementLimitMs,
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const [code, signal] = await once(child, 'close');
  if (code !== 0)
    throw new Error(`${client} at ${connections} connections: ended with ${code ?? signal}`);
  return JSON.parse(output);
}

/** Measurements by connections and client; within a round every client has its turn, each round in
 * another order, so that a machine that gets slower slows down all of them. */
async function measureAll(url) {
  const found = new Map();
  const startedMs = performance.now();
  let done = 0;
  for (let round = 0; round < rounds; round++) {
    const elapsedMs = performance.now() - startedMs;
    if (round > 0 && elapsedMs + elapsedMs / round > totalLimitMs) break;
    const turn = round % clients.length;
    const order = [...clients.slice(turn), ...clients.slice(0, turn)];
    for (const connections of connectionCounts) {
      for (const client of order) {
        const key = `${connections} ${client}`;
        found.set(key, [...(found.get(key) ?? []), await measure(client, url, connections)]);
        process.stderr.write('.');
      }
    }
    done++;
  }
  process.stderr.write('\n');
  console.log(
    `2 KB JSON echo, Node ${process.version}, ${cpus().length} cores, median of ${done}.`,
  );
  return found;
}

function printTable(found) {
  const widths = [11, 9, 14, 13, 9, 14, 13];
  const line = (cells) =>
    console.log(cells.map((cell, at) => cell.padStart(widths[at])).join('  '));
  const ratio = (value, other) => `${(other / value).toFixed(2)}x`;
  line([
    'connections',
    'client',
    'CPU us / trip',
    '(min - max)',
    'CPU less',
    'KB / idle conn',
    'trips / s',
  ]);
  for (const connections of connectionCounts) {
    const of = (client, field) => found.get(`${connections} ${client}`).map((one) => one[field]);
    const ours = median(of(clients[0], 'cpuUs'));
    for (const client of clients) {
      const cpu = of(client, 'cpuUs');
      line([
        String(connections),
        client,
        median(cpu).toFixed(1),
        `${Math.min(...cpu).toFixed(1)} - ${Math.max(...cpu).toFixed(1)}`,
        client === clients[0] ? '' : ratio(ours, median(cpu)),
        (median(of(client, 'bytesPerConnection')) / 1024).toFixed(1),
        Math.round(median(of(client, 'roundTripsPerSecond'))).toString(),
      ]);
    }
  }
  console.log(`"CPU less": how many times less CPU ${clients[0]} takes than that client.`);
}

const code = await runNode([packageProgram('typescript', 'tsc'), '-b']);
if (code !== 0) process.exit(code);
const peer = await startPeer();
try {
  printTable(await measureAll(peer.url));
} finally {
  peer.stop();
}
