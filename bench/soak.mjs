// Whether a long run stays what it is: counts exact, memory flat, slip the same.
//
//   npm run soak -- [--minutes 30] [--connections 2000] [--rate 2000] [--threads]
//
// The hub, the process that leads and two worker processes are watched each by itself; with --threads leads the process
// that works, too. A tenth of the time, a minute at most, is warm-up. Linux only, since memory is read from /proc. Exit
// code 1 where a count is not exact, memory grows or slip drifts. Method: docs/evidence/reliability.md.
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../scripts/nodeProgram.mjs';
import { runScenario, serve } from './processes.mjs';
import { mediansOf, risesBeyond, trendOf } from './trend.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    connections: { type: 'string', default: '2000' },
    rate: { type: 'string', default: '2000' },
    threads: { type: 'boolean', default: false },
  },
});
const [minutes, connections, rate] = ['minutes', 'connections', 'rate'].map((name) =>
  Number(values[name]),
);
const seconds = Math.round(minutes * 60);
const warmupS = Math.min(60, Math.round(seconds / 10));
const isLong = seconds >= 600;
/** Each has counts and a slip of its own: two minutes, where there is time for a trend. */
const stepCount = isLong ? Math.round(minutes / 2) : 3;
const stepS = Math.floor((seconds - warmupS) / stepCount);
/** Points that a trend goes through. */
const points = 60;
/** Of its size, over the whole time, that a process may grow by and be called flat; readings of a short run say little. */
const mostGrowth = isLong ? 0.05 : 0.3;
/** Of its size, over the whole time, that slip may rise by, where there are steps enough for a trend. */
const mostDrift = 0.5;

const scenario = `config:
  connections: ${connections}
  arrivingRate: 500
  baseSending: ${connections}
  step: 0
  repeat: ${stepCount}
  warmup: 1s
  singleStepDuration: ${stepS}s
  drain: 30s
  ${values.threads ? 'workers: 1' : 'processes: 2'}
scenario:
  name: echo
  parameters: { messageSize: 2KB, sendingInterval: ${(connections / rate) * 1000}ms }
slo: { p99: 60s }
`;

const readings = new Map();
/** Of processes by their ids. */
const names = new Map();

async function read(name, pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
  if (kilobytes === undefined) return;
  names.set(pid, name);
  if (!readings.has(name)) readings.set(name, []);
  readings.get(name).push(Number(kilobytes));
}

/** Processes of a process, in the order in which they began. */
async function childrenOf(pid) {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = tasks.map((task) =>
    readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => ''),
  );
  return (await Promise.all(lists))
    .flatMap((list) => list.trim().split(' ').filter(Boolean).map(Number))
    .sort((a, b) => a - b);
}

// glibc has an arena for each thread otherwise, whose gaps look like growth.
process.env.MALLOC_ARENA_MAX = '1';
// For this process it comes too late: it has loaded everything.
const folder = await mkdtemp(path.join(tmpdir(), 'signalr-soak-'));
const collecting = path.join(folder, 'collecting.cjs');
await copyFile(path.join(root, 'bench', 'collecting.cjs'), collecting);
process.env.NODE_OPTIONS = `--require ${JSON.stringify(collecting)}`;
const server = await serve('hub');
const begunMs = performance.now();
function watch(run) {
  const name = values.threads ? 'lead and worker' : 'lead';
  const timer = setInterval(async () => {
    await Promise.all([read(name, run.pid), read('hub', server.pid)]);
    const workers = values.threads ? [] : await childrenOf(run.pid);
    await Promise.all(workers.map((pid, at) => read(`worker ${at}`, pid)));
  }, 1000);
  run.once('close', () => clearInterval(timer));
}

// On a busy machine a step may be late, and so invalid: what is looked for here does not hang on it.
const { code, result } = await runScenario(scenario, server.target, watch, [
  '--keep-going',
]).finally(server.stop);

const formatKb = (kilobytes) => `${(kilobytes / 1024).toFixed(1)} MB`;
const faults = [];
const [first] = result.steps;
console.log(
  `${connections} connections, ${rate} msg/s of 2 KB and back, ${minutes} min, ${values.threads ? 'threads' : 'processes'}, Node ${process.version}; exit code ${code}`,
);
for (const step of result.steps) {
  const { index, offered, sent, expected, received, lost, duplicated, outOfOrder, extra } = step;
  const due = stepS * rate;
  const isExact = [offered, sent, expected, received].every((count) => count === due);
  if (!isExact || lost + duplicated + outOfOrder + extra > 0)
    faults.push(
      `step ${index} is not exact: ${JSON.stringify({ due, offered, sent, expected, received, lost, duplicated, outOfOrder, extra })}`,
    );
  console.log(
    `step ${index}: ${received} of ${due} received, p50 ${step.latencyUs.p50} µs, p99 ${step.latencyUs.p99} µs, slip p99 ${Math.round(step.generator.slipP99Us)} µs`,
  );
}
if (result.steps.length !== stepCount) faults.push(`${result.steps.length} of ${stepCount} steps`);
if (result.ending !== 'completed')
  faults.push(`${result.verdict.reasons[0]?.message}: ${JSON.stringify(result.errorExamples)}`);
if (result.connections.dropped > 0)
  faults.push(`${result.connections.dropped} connections dropped`);

/** Of readings of memory in KB, so many a minute: how large it is, its trend, and that in words. */
function memoryTrend(readings, readingsPerMinute) {
  const medians = mediansOf(readings, points);
  const perMinute = (readingsPerMinute * medians.length) / readings.length;
  const { slope, low, high } = trendOf(medians);
  const size = medians[Math.floor(medians.length / 2)];
  const [mean, least, most] = [slope, low, high].map((each) => (each * perMinute).toFixed(1));
  const words = `${formatKb(size)}, slope ${mean} KB/min (95 %: ${least} to ${most})`;
  return { size, lowPerMinute: low * perMinute, words };
}

// From the begin of the second step on: by then everything is as large as it gets.
const skipped = Math.ceil((performance.now() - begunMs) / 1000 - (stepCount - 1) * stepS);
for (const [name, all] of readings) {
  const { size, lowPerMinute, words } = memoryTrend(all.slice(Math.max(skipped, warmupS)), 60);
  if (lowPerMinute * minutes > mostGrowth * size) faults.push(`the memory of ${name} grows`);
  console.log(`${name}: ${words}`);
}
// What lives: resident memory also has what the allocators keep for later.
const linesPerMinute = 6;
/** Fewer say nothing of a trend. */
const leastReadings = 30;
for (const file of (await readdir(folder)).filter((name) => /^\d/.test(name))) {
  const lines = (await readFile(path.join(folder, file), 'utf8')).trim().split('\n');
  const late = lines.map((line) => JSON.parse(line)).slice((skipped / 60) * linesPerMinute);
  if (late.length < leastReadings) continue;
  const [pid, thread] = file.split('-');
  console.log(`what lives in the ${names.get(Number(pid))}, thread ${thread}:`);
  for (const part of Object.keys(late[0])) {
    const kilobytes = late.map((bytes) => bytes[part] / 1024);
    const { size, words } = memoryTrend(kilobytes, linesPerMinute);
    if (size > 0) console.log(`  ${part}: ${words}`);
  }
}
await rm(folder, { recursive: true });
const slips = result.steps.map(({ generator }) => generator.slipP99Us);
const { slope, low, high } = trendOf(slips);
if (isLong && risesBeyond(mostDrift, slips)) faults.push('slip drifts');
console.log(
  `slip p99: slope ${Math.round(slope)} µs per step of ${stepS} s (95 %: ${Math.round(low)} to ${Math.round(high)}), ${Math.round(first?.generator.slipP99Us ?? 0)} µs in the first`,
);
for (const fault of faults) console.log(`fault: ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
