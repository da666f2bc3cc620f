// `npm run bench`: what one echo round trip costs the load generator, for our engine, the `ws` package and
// the official client, side by side, what a delivery of a broadcast costs our engine, and what the ways of the
// two services cost. Method: bench/README.md. Judges nothing.
//
//   npm run bench -- [--clients engine,floor,ws,signalr,engine/messagepack,floor/messagepack,signalr/messagepack]
//     [--connections 200,2000] [--rounds 4] [--seconds 2]
//     [--transports WebSockets,ServerSentEvents,LongPolling] [--services ratios,appServer,runs, or none]
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { packageProgram, runNode } from '../scripts/nodeProgram.mjs';
import { measure, median, output, startPeer } from './processes.mjs';
import { buildFloor } from './floor.mjs';
import { services } from './services.mjs';

const { values } = parseArgs({
  options: {
    clients: {
      type: 'string',
      default: 'engine,floor,ws,signalr,engine/messagepack,floor/messagepack,signalr/messagepack',
    },
    connections: { type: 'string', default: '200,2000' },
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '2' },
    transports: { type: 'string', default: 'WebSockets,ServerSentEvents,LongPolling' },
    services: { type: 'string', default: 'ratios,appServer,runs' },
  },
});
const seconds = Number(values.seconds);
const listOf = (text) => text.split(',').filter((name) => name !== '');

const protocolOf = (client) => client.split('/')[1] ?? 'json';

/** Server-sent events carry text only. */
const speaksOver = (transport, client) =>
  transport !== 'ServerSentEvents' || protocolOf(client) === 'json';

const isFloor = (client) => client.startsWith('floor');

/** What is measured over a transport; the HTTP transports in short, as they cost many times more. */
function workOf(transport) {
  const clients = values.clients.split(',').filter((client) => hasFloor || !isFloor(client));
  const connectionCounts = values.connections.split(',').map(Number);
  const rounds = Number(values.rounds);
  if (transport === 'WebSockets')
    return { transport, clients, connectionCounts, rounds, script: 'bench/echoPeer.mjs' };
  return {
    transport,
    clients: clients.filter(
      (client) => client !== 'ws' && !isFloor(client) && speaksOver(transport, client),
    ),
    connectionCounts: connectionCounts.slice(0, 1),
    rounds: Math.min(rounds, 3),
    script: 'bench/hubPeer.mjs',
  };
}

/** No round over one transport begins that would end later than this. */
const totalLimitMs = 230_000;
const receivers = 2000;
const streaming = 200;

/** Measurements by connections and client; within a round every client has its turn, each round in
 * another order, so that a machine that gets slower slows down all of them. */
async function measureAll({ transport, clients, connectionCounts, rounds }, url) {
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
        const one = await measure(client, transport, url, connections, seconds);
        found.set(key, [...(found.get(key) ?? []), one]);
        process.stderr.write('.');
      }
    }
    done++;
  }
  process.stderr.write('\n');
  console.log(
    `2 KB echo over ${transport}, JSON unless said otherwise, Node ${process.version}, ${cpus().length} cores, median of ${done}.`,
  );
  return found;
}

function printTable({ clients, connectionCounts }, found) {
  const widths = [11, 19, 14, 13, 9, 14, 13];
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
    for (const client of clients) {
      const cpu = of(client, 'cpuUs');
      const base = baseOf(clients, client);
      line([
        String(connections),
        client,
        median(cpu).toFixed(1),
        `${Math.min(...cpu).toFixed(1)} - ${Math.max(...cpu).toFixed(1)}`,
        client === base ? '' : ratio(median(of(base, 'cpuUs')), median(cpu)),
        (median(of(client, 'bytesPerConnection')) / 1024).toFixed(1),
        Math.round(median(of(client, 'roundTripsPerSecond'))).toString(),
      ]);
    }
  }
  for (const connections of connectionCounts)
    for (const client of clients.filter(isFloor)) {
      const of = (name) => median(found.get(`${connections} ${name}`).map(({ cpuUs }) => cpuUs));
      const base = baseOf(clients, client);
      const [ours, floor] = [of(base), of(client)];
      if (!isFloor(base))
        console.log(
          `${base} at ${connections} connections: ${(ours / floor).toFixed(2)} times the CPU of the client in C.`,
        );
    }
  console.log('"CPU less": how many times less CPU the first client of that protocol takes.');
}

/** The client that another one is compared with: the first that speaks the same protocol. */
const baseOf = (clients, client) =>
  clients.find((other) => protocolOf(other) === protocolOf(client));

/** What a broadcast costs its receivers, in each protocol. */
async function printBroadcast(url) {
  for (const [protocol, client] of [
    ['JSON', 'broadcast'],
    ['MessagePack', 'broadcast/messagepack'],
  ]) {
    const runs = [];
    const reads = [];
    const toAll = [];
    const floor = [];
    for (let round = 0; round < 3; round++) {
      runs.push((await measure(client, 'WebSockets', url, receivers, seconds)).cpuUs);
      if (hasFloor && protocol === 'JSON')
        floor.push((await measure('floor/broadcast', '', url, receivers, seconds)).cpuUs);
      const reader = await output('reader', ['bench/reader.mjs', protocol.toLowerCase()]);
      reads.push(JSON.parse(reader).us);
      const reaching = await output('reader', [
        ...['bench/reader.mjs', protocol.toLowerCase(), 'to-all'],
      ]);
      toAll.push(JSON.parse(reaching).us);
    }
    console.log(
      `Broadcast of 2 KB to ${receivers} receivers, ${protocol}: ${median(runs).toFixed(2)} us of CPU per delivery, ` +
        `${median(reads).toFixed(3)} us of them to read and count it, ` +
        `${median(toAll).toFixed(3)} us with the time to all.` +
        (floor.length > 0 ? ` A client in C: ${median(floor).toFixed(2)} us per delivery.` : ''),
    );
  }
}

/** What an item of a stream costs that goes up and comes back, beside the official client. */
async function printStreams() {
  const peer = await startPeer('bench/hubPeer.mjs');
  try {
    for (const [name, protocol] of [
      ['JSON', 'json'],
      ['MessagePack', 'messagepack'],
    ]) {
      const cpu = { streamEngine: [], streamSignalr: [] };
      for (let round = 0; round < 3; round++) {
        const clients = Object.keys(cpu);
        for (const client of round % 2 === 0 ? clients : clients.reverse())
          cpu[client].push(
            (await measure(`${client}/${protocol}`, 'WebSockets', peer.url, streaming, seconds))
              .cpuUs,
          );
      }
      const [ours, theirs] = Object.values(cpu).map(median);
      console.log(
        `Stream item of 2 KB, up and back, ${streaming} connections, ${name}: ${ours.toFixed(1)} us of CPU, ` +
          `${theirs.toFixed(1)} us with the official client, ${(theirs / ours).toFixed(2)}x.`,
      );
    }
  } finally {
    peer.stop();
  }
}

for (const build of [[packageProgram('typescript', 'tsc'), '-b'], ['scripts/build.mjs']]) {
  const code = await runNode(build);
  if (code !== 0) process.exit(code);
}
const floorProblem = buildFloor();
const hasFloor = floorProblem === undefined;
if (!hasFloor) console.log(`Without the floor: ${floorProblem}`);
for (const work of listOf(values.transports).map(workOf)) {
  const peer = await startPeer(work.script);
  try {
    printTable(work, await measureAll(work, peer.url));
    if (work.transport === 'WebSockets') {
      await printBroadcast(peer.url);
      await printStreams();
    }
  } finally {
    peer.stop();
  }
}
for (const part of listOf(values.services)) if (part !== 'none') await services[part](seconds);
