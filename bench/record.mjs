// What the recording proxy costs: latency that it adds at 1,000 messages a second, CPU per message, and memory
// over a million messages. The hub and the proxy are processes of their own, as people start them.
//   node bench/record.mjs [--seconds 10] [--rounds 3] [--messages 1000000]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    messages: { type: 'string', default: '1000000' },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const messages = Number(values.messages);
const connections = 50;
const perSecond = 1000;
const folder = mkdtempSync(path.join(tmpdir(), 'bench-record-'));

async function start(...args) {
  const stdio = ['pipe', 'pipe', 'ignore'];
  const child = spawn(process.execPath, ['dist/cli.js', ...args, '--exit-with-stdin'], { stdio });
  const lines = createInterface({ input: child.stdout });
  const [line] = await once(lines, 'line');
  return { url: JSON.parse(line).url, pid: child.pid, child };
}

async function stop({ child }) {
  const ended = once(child, 'close');
  child.stdin.end();
  await ended;
}

/** User and system time so far, in microseconds; 100 ticks a second on Linux. */
function cpuUs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
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
    for (const text of data.toString('latin1').split('\x1e')) {
      const at = text.indexOf('"at":');
      if (at > 0 && text.includes('RecordLatency'))
        onEcho(socket, Number.parseFloat(text.slice(at + 5)));
    }
  });
  return socket;
}

const echo = (socket) =>
  socket.send(
    `{"type":1,"target":"Echo","arguments":[{"at":${performance.now()},"payload.MessageBlob":"${blob}"}]}\x1e`,
  );

const percentile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

/** Echoes at a steady rate; latency from the time of sending. */
async function paced(url) {
  const latencies = [];
  const sockets = await Promise.all(
    Array.from({ length: connections }, () =>
      connect(url, (_socket, atMs) => latencies.push(performance.now() - atMs)),
    ),
  );
  await sleep(500);
  const startMs = performance.now();
  let sent = 0;
  while (sent < seconds * perSecond) {
    const due = Math.min(seconds * perSecond, ((performance.now() - startMs) / 1000) * perSecond);
    for (; sent < due; sent++) echo(sockets[sent % connections]);
    await sleep(1);
  }
  await sleep(300);
  for (const socket of sockets) socket.close();
  if (latencies.length !== sent) throw new Error(`${latencies.length} of ${sent} echoes came`);
  const sorted = latencies.sort((a, b) => a - b);
  return { sent, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
}

/** As many echoes as there are to be, one under way for each connection. */
async function flood(url, count, onProgress) {
  let left = count;
  let received = 0;
  const { promise: over, resolve } = Promise.withResolvers?.() ?? withResolvers();
  const sockets = await Promise.all(
    Array.from({ length: connections }, () =>
      connect(url, (socket) => {
        received += 1;
        if (received % 50_000 === 0) onProgress(received);
        if (left-- > 0) echo(socket);
        else if (received === count) resolve();
      }),
    ),
  );
  for (const socket of sockets) {
    left -= 1;
    echo(socket);
  }
  await over;
  for (const socket of sockets) socket.close();
}

function withResolvers() {
  let resolve;
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}

const hub = await start('serve', 'hub', '--port', '0');
const record = (name) => start('record', '--target', hub.url, '--out', path.join(folder, name));
try {
  const rows = { direct: [], proxy: [] };
  for (let round = 0; round < rounds; round++) {
    rows.direct.push(await paced(hub.url));
    const proxy = await record(`paced${round}`);
    const before = cpuUs(proxy.pid);
    const row = await paced(proxy.url);
    // Each echo is two messages: the call and the callback.
    rows.proxy.push({ ...row, cpuUs: (cpuUs(proxy.pid) - before) / (2 * row.sent) });
    await stop(proxy);
  }
  const median = (list, key) =>
    percentile(
      list.map((row) => row[key]).sort((a, b) => a - b),
      0.5,
    );
  const text = (ms) => `${ms.toFixed(2)} ms`;
  for (const key of ['p50', 'p99']) {
    const [direct, proxied] = [median(rows.direct, key), median(rows.proxy, key)];
    console.log(
      `${key}: direct ${text(direct)}, through the proxy ${text(proxied)}, added ${text(proxied - direct)}`,
    );
  }
  console.log(
    `CPU of the proxy: ${median(rows.proxy, 'cpuUs').toFixed(1)} us a message (each of two directions)`,
  );

  const proxy = await record('million');
  const resident = [];
  const before = cpuUs(proxy.pid);
  await flood(proxy.url, messages / 2, () => resident.push(residentMb(proxy.pid)));
  const flooded = (cpuUs(proxy.pid) - before) / messages;
  const file = statSync(path.join(folder, 'million.recording.jsonl')).size / 1024 / 1024;
  console.log(
    `${messages} messages: CPU ${flooded.toFixed(1)} us a message, resident ${resident.map((mb) => mb.toFixed(0)).join(' ')} MB, file ${file.toFixed(0)} MB`,
  );
  proxy.child.kill('SIGKILL');
} finally {
  await stop(hub);
  rmSync(folder, { recursive: true, force: true });
}
