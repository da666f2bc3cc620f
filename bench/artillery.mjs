// The same load by artillery, a load generator of npm: installed into a folder of its own when it is asked for. Each
// virtual user opens a web socket, shakes hands, and then, again and again, sends a message, waits for the answer, checks that
// it is one, and pauses. It counts by intervals of ten seconds of the clock, so that one of these is measured. Linux alone.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../scripts/nodeProgram.mjs';

const version = '2.0.21';
const folder = path.join(root, 'out', 'bench', 'artillery');
const program = path.join(folder, 'node_modules', 'artillery', 'bin', 'run');
/** Source: `normalizeTs` of its `ssms.js`. */
const intervalMs = 10_000;
const ticksPerSecond = 100;
/** What its process needs before the first of its users, and opened a second. */
const startMs = 5000;
const arrivalRate = 500;

async function install() {
  if (existsSync(program)) return;
  await mkdir(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true }');
  // Scripts of its packages would fetch browsers.
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save'];
  const { status, stderr } = spawnSync('npm', ['install', ...flags, `artillery@${version}`], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`artillery could not be installed: ${stderr}`);
}

const handshake = '{"protocol":"json","version":1}\x1e';
const message = `{"type":1,"target":"Echo","arguments":[{"payload.Timestamp":"${'0'.repeat(16)}","payload.MessageBlob":"${'x'.repeat(2048)}"}]}\x1e`;
/** Without a match it would not wait for the answer. */
const answered = (payload, word) => ({
  send: { payload, match: { regexp: word, value: word } },
});

const script = ({ connections, each }, url, loops) => ({
  config: {
    target: url.replace(/^http/, 'ws'),
    phases: [{ duration: Math.ceil(connections / arrivalRate), arrivalCount: connections }],
    ws: { perMessageDeflate: false },
  },
  scenarios: [
    {
      engine: 'ws',
      flow: [
        answered(handshake, '{}'),
        {
          loop: [answered(message, 'RecordLatency'), { think: `${1000 / each}ms` }],
          count: loops,
        },
      ],
    },
  ],
});

/** CPU time so far of a process and all that it has started, seconds. */
function cpuOf(pid) {
  const fields = (id) => {
    try {
      return readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1].split(' ');
    } catch {
      return [];
    }
  };
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((id) => [id, fields(id)[1]]);
  const sum = (id) =>
    parents
      .filter(([, parent]) => parent === String(id))
      .reduce((all, [child]) => all + sum(child), Number(fields(id)[11]) + Number(fields(id)[12]));
  return sum(pid) / ticksPerSecond;
}

/** Its only step, by the fields of a step of a result that are used; it does not know how late it was. */
export async function artillerySteps(load, url) {
  await install();
  const temporary = await mkdtemp(path.join(tmpdir(), 'artillery-'));
  try {
    const rampMs = 1000 * Math.ceil(load.connections / arrivalRate) + startMs;
    // The measured interval begins when all are there.
    const fromMs = Math.ceil((Date.now() + rampMs) / intervalMs) * intervalMs;
    const untilMs = fromMs + intervalMs;
    const loops = Math.ceil(((untilMs + 2000 - Date.now()) / 1000) * load.each);
    const file = path.join(temporary, 'script.json');
    const report = path.join(temporary, 'report.json');
    writeFileSync(file, JSON.stringify(script(load, url, loops)));
    await sleep(fromMs - rampMs - Date.now());
    const child = spawn(process.execPath, [program, 'run', '--output', report, file], {
      cwd: temporary,
      env: { ...process.env, ARTILLERY_DISABLE_TELEMETRY: 'true' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = once(child, 'close');
    const cpuAt = async (ms) => {
      await Promise.race([sleep(ms - Date.now()), ended]);
      return cpuOf(child.pid);
    };
    const before = await cpuAt(fromMs);
    const cpuUs = 1e6 * ((await cpuAt(untilMs)) - before);
    await ended;
    const { intermediate } = JSON.parse(readFileSync(report, 'utf8'));
    const { counters } = intermediate.find(({ period }) => Number(period) === fromMs);
    const received = counters['websocket.messages_received'] ?? 0;
    const seconds = intervalMs / 1000;
    return [
      {
        ...{ senders: load.connections, seconds, received, cpuUsPerEcho: cpuUs / received },
        offered: load.connections * load.each * seconds,
        sent: counters['websocket.messages_sent'] ?? 0,
        cpuShare: cpuUs / (1e6 * seconds),
      },
    ];
  } finally {
    await rm(temporary, { recursive: true });
  }
}
