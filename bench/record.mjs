// What the recording proxy costs: latency that it adds at a steady rate of calls, CPU per message beside a proxy that
// reads nothing, and memory over a million messages. Hub and proxies are processes of their own, as people start
// them. Needs `npm run build`. Linux only. Method: bench/README.md. Judges nothing.
//   node bench/record.mjs [--seconds 2] [--rounds 12] [--calls 1000] [--messages 1000000] [--minutes 60] [--parts paced,flood,memory]
// The part `lasting` records at a low, steady rate for so many minutes; it runs when it is asked for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createReadStream,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { interval } from './pairs.mjs';
import { median } from './processes.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '12' },
    calls: { type: 'string', default: '1000' },
    messages: { type: 'string', default: '1000000' },
    minutes: { type: 'string', default: '60' },
    parts: { type: 'string', default: 'paced,flood,memory' },
  },
});
const [seconds, rounds, messages] = [values.seconds, values.rounds, values.messages].map(Number);
const minutes = Number(values.minutes);
const lastingPerSecond = 150;
const connections = 50;
/** Calls a second of the part `paced`; each is two messages. */
const perSecond = Number(values.calls);
const floodCalls = 10_000;
const folder = mkdtempSync(path.join(tmpdir(), 'bench-record-'));

/** Starts a program that prints where it is, and ends with its standard input. */
async function start(...args) {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { url: line.startsWith('{') ? JSON.parse(line).url : line, pid: child.pid, child };
}

async function stop({ child }) {
  const ended = once(child, 'close');
  child.stdin.end();
  await ended;
}

const startRecording = (hub, name) =>
  start(
    ...['dist/cli.js', 'record', '--target', hub.url, '--exit-with-stdin'],
    ...['--out', path.join(folder, name)],
  );

/** Time on a processor so far, of all threads, in microseconds; ticks of 10 ms would miss short turns. */
function cpuUs(pid) {
  let sumNs = 0;
  for (const task of readdirSync(`/proc/${pid}/task`))
    sumNs += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  return sumNs / 1000;
}

const residentMb = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

const blob = 'x'.repeat(200);

async function connect(url, onEcho) {
  const socket = new WebSocket(url.replace('http', 'ws'), { perMessageDeflate: false });
  await once(socket, 'open');
  const answered = once(socket, 'message');
  socket.send('{"protocol":"json","version":1}\x1e');
  await answered;
  socket.on('message', (data) => {
    const text = data.toString('latin1');
    for (let at = text.indexOf('"at":'); at > 0; at = text.indexOf('"at":', at + 5))
      onEcho(socket, Number.parseFloat(text.slice(at + 5)));
  });
  return socket;
}

const echo = (socket) =>
  socket.send(
    `{"type":1,"target":"Echo","arguments":[{"at":${performance.now()},"payload.MessageBlob":"${blob}"}]}\x1e`,
  );

/** One way to the hub, with its connections, which stay. */
async function openWay(name, process) {
  const way = { name, pid: process.pid, onEcho: () => undefined };
  const open = () => connect(process.url, (socket, atMs) => way.onEcho(socket, atMs));
  way.sockets = await Promise.all(Array.from({ length: connections }, open));
  return way;
}

/** Echoes at a steady rate: their latencies from the time of sending, in ms and in order. */
async function paced({ sockets, ...way }, owner, count) {
  const latencies = [];
  const over = new Promise((resolve) => {
    owner.onEcho = (_socket, atMs) => {
      latencies.push(performance.now() - atMs);
      if (latencies.length === count) resolve();
    };
  });
  const before = cpuUs(way.pid);
  const startMs = performance.now();
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, ((performance.now() - startMs) / 1000) * perSecond);
    for (; sent < due; sent++) echo(sockets[sent % connections]);
    await sleep(1);
  }
  await over;
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(count * share)];
  // Each echo is two messages: the call and the callback.
  return { p50: at(0.5), p99: at(0.99), cpuUs: (cpuUs(way.pid) - before) / (2 * count) };
}

/** So many echoes as fast as they go, one under way for each connection; CPU per message of the proxy. */
async function flood(way, count, onProgress = () => undefined) {
  const before = cpuUs(way.pid);
  let toSend = count - connections;
  let received = 0;
  await new Promise((resolve) => {
    way.onEcho = (socket) => {
      received += 1;
      if (received % 50_000 === 0) onProgress();
      if (toSend-- > 0) echo(socket);
      else if (received === count) resolve();
    };
    way.sockets.forEach(echo);
  });
  return { cpuUs: (cpuUs(way.pid) - before) / (2 * count) };
}

/** Each way in turn, in another order each round, after one round that does not count. */
async function inTurn(ways, measure) {
  const found = Object.fromEntries(ways.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round++)
    for (let turn = 0; turn < ways.length; turn++) {
      const way = ways[(turn + round + 1) % ways.length];
      const row = await measure(way);
      if (round >= 0) found[way.name].push(row);
    }
  return (name, key) => found[name].map((row) => row[key]);
}

const difference = (a, b) => interval(a.map((value, round) => value - b[round]));

const hub = await start('bench/echoPeer.mjs');
const pipe = await start('bench/pipeProxy.mjs', hub.url);
const recording = await startRecording(hub, 'turns');
try {
  const direct = await openWay('direct', hub);
  const proxies = [await openWay('pipe', pipe), await openWay('recording', recording)];
  const parts = values.parts.split(',');
  if (parts.includes('paced')) {
    // What is compiled when it has run often is compiled by then.
    for (const way of proxies) await flood(way, 2 * floodCalls);
    const of = await inTurn([direct, ...proxies], (way) => paced(way, way, seconds * perSecond));
    for (const key of ['p50', 'p99']) {
      const [alone, piped, recorded] = ['direct', 'pipe', 'recording'].map((name) => of(name, key));
      console.log(
        `${key} at ${perSecond} calls a second: direct ${median(alone).toFixed(2)}, pipe ${median(piped).toFixed(2)}, recording ${median(recorded).toFixed(2)} ms; recording adds ${difference(recorded, alone)} ms, ${difference(recorded, piped)} of them to those of a pipe`,
      );
    }
    cpu(`at ${perSecond} calls a second`, of);
  }
  if (parts.includes('flood')) {
    for (const way of proxies) await flood(way, 2 * floodCalls);
    cpu('as fast as they go', await inTurn(proxies, (way) => flood(way, floodCalls)));
  }
  if (parts.includes('memory')) await memory();
  if (parts.includes('lasting')) await lasting();
} finally {
  for (const child of [recording.child, pipe.child]) child.kill('SIGKILL');
  await stop(hub);
  rmSync(folder, { recursive: true, force: true });
}

/** Steady calls for minutes: what the recorder holds in memory meanwhile, and what stands in its file then. */
async function lasting() {
  const proxy = await startRecording(hub, 'lasting');
  const way = await openWay('lasting', proxy);
  let [sent, received] = [0, 0];
  way.onEcho = () => (received += 1);
  const startMs = performance.now();
  const passedS = () => (performance.now() - startMs) / 1000;
  const before = cpuUs(proxy.pid);
  const resident = [];
  while (passedS() < minutes * 60) {
    for (; sent < passedS() * lastingPerSecond; sent++) echo(way.sockets[sent % connections]);
    if (resident.length <= passedS() / 60) resident.push(residentMb(proxy.pid));
    await sleep(20);
  }
  while (received < sent) await sleep(20);
  const each = (cpuUs(proxy.pid) - before) / (2 * sent);
  await stop(proxy);
  const lines = await linesOf(path.join(folder, 'lasting.recording.jsonl'));
  console.log(
    `${minutes} minutes at ${2 * lastingPerSecond} messages a second: ${sent} calls, ${received} callbacks, ${lines} lines, CPU ${each.toFixed(1)} us a message, resident ${resident.map((mb) => mb.toFixed(0)).join(' ')} MB at each minute`,
  );
}

async function linesOf(file) {
  let lines = 0;
  const reading = createInterface({ input: createReadStream(file) });
  reading.on('line', () => (lines += 1));
  await once(reading, 'close');
  return lines;
}

function cpu(when, of) {
  const [piped, recorded] = [of('pipe', 'cpuUs'), of('recording', 'cpuUs')];
  console.log(
    `CPU per message ${when}: pipe ${median(piped).toFixed(1)}, recording ${median(recorded).toFixed(1)} us; recording adds ${difference(recorded, piped)} us`,
  );
}

async function memory() {
  const proxy = await startRecording(hub, 'million');
  const way = await openWay('million', proxy);
  const resident = [];
  const { cpuUs: each } = await flood(way, messages / 2, () =>
    resident.push(residentMb(proxy.pid)),
  );
  const file = statSync(path.join(folder, 'million.recording.jsonl')).size / 1024 / 1024;
  console.log(
    `${messages} messages: CPU ${each.toFixed(1)} us a message, resident ${resident.map((mb) => mb.toFixed(0)).join(' ')} MB after each 100,000, file ${file.toFixed(0)} MB`,
  );
  proxy.child.kill('SIGKILL');
}
