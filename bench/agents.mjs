// What runs on several machines cost, measured on whole runs of the built command line over a real bus:
//
//   node bench/agents.mjs simulated [AGENTS] [WORKERS] [SECONDS]   coordinator and bus with agents that only report
//   node bench/agents.mjs cost [ROUNDS] [SECONDS] [USE CASE]       agents' CPU per message against that of single runs
//   node bench/agents.mjs latency [ROUNDS] [SECONDS] [USE CASE]    p50 and p99 of three agents against one, and three runs
//   node bench/agents.mjs start [AGENTS]                           from the command to the first message, part by part
//
// After `npm run build`. Linux only, since CPU time is read from /proc. Judges nothing; see bench/README.md.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../scripts/nodeProgram.mjs';
import { interval } from './pairs.mjs';
import { stolen } from './stolen.mjs';
import { median, serve } from './processes.mjs';

const cli = path.join(root, 'dist', 'cli.js');
const ticksPerSecond = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout);
const folder = mkdtempSync(path.join(tmpdir(), 'signalr-bench-'));
const children = new Set();

function start(program, args, env = {}) {
  const child = spawn(program, args, {
    ...{ cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { ...process.env, ...env },
  });
  children.add(child);
  child.text = { out: '', err: '' };
  for (const [name, stream] of [
    ['out', child.stdout],
    ['err', child.stderr],
  ])
    stream.setEncoding('utf8').on('data', (text) => (child.text[name] += text));
  child.ended = once(child, 'close').then(([code]) => {
    children.delete(child);
    return code;
  });
  return child;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** A bus of its own, with the port at which it says how much went over it. */
async function startBus() {
  const program = readFileSync(path.join(root, 'out', 'nats', 'program'), 'utf8');
  const [port, monitor] = [await freePort(), await freePort()];
  const store = mkdtempSync(path.join(folder, 'bus-'));
  const where = ['--addr', '127.0.0.1', '--port', `${port}`, '--http_port', `${monitor}`];
  const child = start(program, [...where, '--jetstream', '--store_dir', store]);
  await new Promise((resolve, reject) => {
    child.stderr.on('data', () => child.text.err.includes('Server is ready') && resolve());
    child.once('exit', () => reject(new Error(`nats-server ended: ${child.text.err}`)));
  });
  const traffic = async () => {
    const { in_bytes, out_bytes } = await (await fetch(`http://127.0.0.1:${monitor}/varz`)).json();
    return { inBytes: in_bytes, outBytes: out_bytes };
  };
  return { url: `nats://127.0.0.1:${port}`, pid: child.pid, traffic };
}

/** CPU time of a process with all its threads so far, seconds. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

let runs = 0;

/** A run of the command line, on agents where `words` say so. */
function lead(scenario, target, words = [], env = {}, node = []) {
  const out = path.join(folder, `run-${(runs += 1)}`);
  writeFileSync(`${out}.yaml`, scenario);
  const flags = ['--target', target, '--json', '--keep-going', '--out', out, ...words];
  const startedAt = Date.now();
  const child = start(process.execPath, [...node, cli, 'run', `${out}.yaml`, ...flags], env);
  const finished = child.ended.then((code) => {
    if (!child.text.out.startsWith('{'))
      throw new Error(`a run ended with ${code}: ${child.text.err}`);
    return JSON.parse(child.text.out);
  });
  return { child, finished, startedAt, samples: () => samplesIn(out) };
}

function samplesIn(out) {
  const [name] = readdirSync(out);
  const text = readFileSync(path.join(out, name, 'samples.jsonl'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const onAgents = (agents, run) => ['--on', 'hosts', '--agents', `${agents}`, '--run', run];

/** CPU of the coordinator from mark to mark, percent of a core, for each quarter of the time: the first has what Node compiles. */
function byQuarters(marks) {
  const at = (quarter) => marks[Math.round((quarter * (marks.length - 1)) / 4)];
  const shares = [0, 1, 2, 3].map((quarter) => {
    const [begin, end] = [at(quarter), at(quarter + 1)];
    return (100_000 * (end.coordinator - begin.coordinator)) / (end.at - begin.at);
  });
  return shares.map((share) => share.toFixed(1)).join(', ');
}

async function simulated([agentsText = '50', workersText = '1', secondsText = '20']) {
  const [agents, workers, seconds] = [agentsText, workersText, secondsText].map(Number);
  const perSecond = 5000;
  const scenario = `config:
  connections: ${agents * workers * 100}
  baseSending: ${agents * workers * 100}
  workers: ${workers}
  warmup: 2s
  singleStepDuration: ${seconds}s
scenario: { name: echo, parameters: { sendingInterval: 20ms } }
slo: { p99: 10s }
`;
  const [bus, hub] = [await startBus(), await serve('hub')];
  const run = 'simulated';
  const profile = process.env.BENCH_PROFILE
    ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`]
    : [];
  const { child, finished, samples } = lead(
    ...[scenario, hub.target, onAgents(agents, run), { SIGNALR_BENCH_BUS: bus.url }, profile],
  );
  // Two processes, so that each is in time on a machine with two cores.
  const simulators = [Math.ceil(agents / 2), Math.floor(agents / 2)].map((count) =>
    start(process.execPath, [
      'bench/simulatedAgents.mjs',
      ...[bus.url, run, `${count}`, `${agents}`, `${perSecond}`],
    ]),
  );
  const marks = [];
  const timer = setInterval(async () => {
    try {
      const [coordinator, server] = [child.pid, bus.pid].map(cpuOf);
      marks.push({ at: Date.now(), coordinator, server, ...(await bus.traffic()) });
    } catch {
      // The run is over.
    }
  }, 500);
  const result = await finished.finally(() => clearInterval(timer));
  const own = await Promise.all(
    simulators.map(async ({ ended, text }) => {
      if ((await ended) !== 0) throw new Error(text.err);
      return JSON.parse(text.out);
    }),
  );
  hub.stop();
  const all = samples();
  const measured = all.filter(({ phase }) => phase === 'measuring');
  // By the moments at which the samples of measured seconds were written.
  const startMs = Date.parse(result.startedAt);
  const [first, last] = [measured[0], measured.at(-1)].map(({ atMs }) => startMs + atMs);
  const within = marks.filter(({ at }) => at >= first && at <= last);
  const [from, to] = [within[0], within.at(-1)];
  const perS = (field) => (to[field] - from[field]) / ((to.at - from.at) / 1000);
  const lags = measured
    .filter(({ tick, interval }, at) => interval && tick !== measured[at - 1]?.tick)
    .map(({ atMs, tick }) => atMs - tick * 1000);
  const [step] = result.steps;
  const kilobytes = (bytes) => `${(bytes / 1000).toFixed(0)} KB/s`;
  console.log(
    `${agents} simulated agents with ${workers} workers each, ${step.verdict.status}, ` +
      `${step.expected - step.received} missing, ${step.agentsComplete ?? '?'} complete`,
  );
  console.log(
    `coordinator: ${(100 * perS('coordinator')).toFixed(1)} % of a core, by quarters of the time ${byQuarters(within)}`,
  );
  console.log(
    `bus: ${(100 * perS('server')).toFixed(1)} % of a core, ${kilobytes(perS('inBytes'))} in, ${kilobytes(perS('outBytes'))} out`,
  );
  console.log(
    `seconds are merged ${median(lags).toFixed(0)} ms after their end, ${Math.max(...lags).toFixed(0)} ms at most (${lags.length} of ${seconds}, ${measured.filter(({ complete }) => !complete).length} incomplete)`,
  );
  const late = own.map(
    ({ lateMs, mostLateMs }) => `${lateMs.toFixed(0)} (${mostLateMs.toFixed(0)} at most)`,
  );
  console.log(`event loops of the simulation late by p99 ms: ${late.join(', ')}`);
}

/** Agents of the product, each in a process of its own, which work for one run. */
const startAgents = (count, bus, run) =>
  Array.from({ length: count }, () =>
    start(process.execPath, [cli, 'agent', '--run', run], { SIGNALR_BENCH_BUS: bus.url }),
  );

async function onSo({ many, machines }, scenarioOf, run, bus, hub) {
  if (machines === 'agents') {
    const working = startAgents(many, bus, run);
    const words = onAgents(many, run);
    const result = await lead(scenarioOf(1, many), hub.target, words, {
      SIGNALR_BENCH_BUS: bus.url,
    }).finished;
    await Promise.all(working.map(({ ended }) => ended));
    return result.steps;
  }
  const runs = Array.from({ length: many }, () => lead(scenarioOf(many, many), hub.target));
  const results = await Promise.all(runs.map(({ finished }) => finished));
  return results.flatMap(({ steps }) => steps);
}

const arms = {
  'one machine': { many: 1, machines: 'runs' },
  'one agent': { many: 1, machines: 'agents' },
  'three runs side by side': { many: 3, machines: 'runs' },
  'three agents': { many: 3, machines: 'agents' },
};
const useCases = [
  ['echo', 999, '100ms'],
  ['sendToGroup', 99, '1s'],
];

/** @param senders and connections are divided by `parts` */
const loadOf =
  ([useCase, senders, interval], connections, seconds) =>
  (parts, processes) =>
    `config:
  connections: ${connections / parts}
  arrivingRate: 1000
  baseSending: ${senders / parts}
  workers: ${3 / processes}
  warmup: 2s
  singleStepDuration: ${seconds}s
scenario: { name: ${useCase}, parameters: { sendingInterval: ${interval}, messageSize: 200${useCase === 'sendToGroup' ? `, groupCount: ${9 / parts}` : ''} } }
slo: { p99: 10s }
`;

async function cost([roundsText = '5', secondsText = '6', only = '']) {
  const [rounds, seconds] = [roundsText, secondsText].map(Number);
  const [bus, hub] = [await startBus(), await serve('hub')];
  for (const useCase of useCases.filter(([name]) => name.startsWith(only))) {
    const found = Object.fromEntries(Object.keys(arms).map((arm) => [arm, []]));
    for (let round = 0; round < rounds; round++) {
      const order = Object.entries(arms);
      for (const [arm, how] of round % 2 === 0 ? order : order.toReversed()) {
        const run = `cost-${useCase[0].toLowerCase()}-${round}-${how.many}`;
        stolen();
        const steps = await onSo(how, loadOf(useCase, 999, seconds), run, bus, hub);
        const handled = ({ sent, received }) => sent + received;
        const all = steps.reduce((sum, step) => sum + handled(step), 0);
        const cpuUs = steps.reduce(
          (sum, step) => sum + step.generator.cpuUsPerMessage * handled(step),
          0,
        );
        found[arm].push(cpuUs / all);
        const lost = steps.reduce((sum, step) => sum + step.lost, 0);
        console.log(
          `${useCase[0]}, ${arm}: ${(cpuUs / all).toFixed(2)} us of ${all} messages, ${lost} lost, ${stolen()}`,
        );
      }
    }
    for (const [arm, base] of [
      ['one agent', 'one machine'],
      ['three agents', 'three runs side by side'],
      ['three runs side by side', 'one machine'],
      ['three agents', 'one machine'],
    ])
      console.log(
        `${useCase[0]}, ${arm} against ${base}: ${interval(found[arm].map((us, round) => us / found[base][round]))}`,
      );
  }
  hub.stop();
}

async function latency([roundsText = '10', secondsText = '5', useCase = 'sendToGroup']) {
  const [rounds, seconds] = [roundsText, secondsText].map(Number);
  const [bus, hub] = [await startBus(), await serve('hub')];
  const found = { p50: [], p99: [] };
  const load = { echo: ['echo', 300, '300ms'], sendToGroup: ['sendToGroup', 30, '1s'] }[useCase];
  const compared = Object.entries(arms).filter(([arm]) => arm !== 'one machine');
  for (let round = 0; round < rounds; round++) {
    const seen = {};
    for (const [arm, how] of round % 2 === 0 ? compared : compared.toReversed()) {
      const run = `latency-${round}-${how.many}`;
      stolen();
      const steps = await onSo(how, loadOf(load, 300, seconds), run, bus, hub);
      const sum = (field) => steps.reduce((before, step) => before + (step[field] ?? 0), 0);
      // Of runs side by side, the middle one's: they have no percentile in common.
      const ofRuns = (name) => median(steps.map(({ latencyUs }) => latencyUs[name]));
      seen[arm] = { p50: ofRuns('p50'), p99: ofRuns('p99') };
      console.log(
        `${arm}: p50 ${seen[arm].p50} us, p99 ${seen[arm].p99} us of ${sum('received')} deliveries, ${sum('lost')} lost, clocks ${sum('clockErrorUs')} us, ${stolen()}`,
      );
    }
    for (const name of Object.keys(found)) {
      const of = (arm) => seen[arm][name];
      found[name].push({
        'three agents against one': of('three agents') / of('one agent'),
        'three runs side by side against one agent':
          of('three runs side by side') / of('one agent'),
        'three agents against three runs side by side':
          of('three agents') / of('three runs side by side'),
      });
    }
  }
  for (const [name, ratios] of Object.entries(found))
    for (const which of Object.keys(ratios[0]))
      console.log(`${name}, ${which}: ${interval(ratios.map((each) => each[which]))}`);
  hub.stop();
}

async function starting([agentsText = '3']) {
  const agents = Number(agentsText);
  const scenario = `config: { connections: 300, baseSending: 30, workers: 1, warmup: 0s, singleStepDuration: 2s }
scenario: { name: echo, parameters: { sendingInterval: 100ms } }
slo: { p99: 10s }
`;
  const [bus, hub] = [await startBus(), await serve('hub')];
  const run = 'starting';
  const working = startAgents(agents, bus, run);
  await Promise.all(
    working.map(async (agent) => {
      while (!agent.text.err.includes('waiting')) await once(agent.stderr, 'data');
    }),
  );
  const { child, finished, startedAt } = lead(scenario, hub.target, onAgents(agents, run), {
    SIGNALR_BENCH_BUS: bus.url,
  });
  const parts = ['waits for', `agents    ${agents} of ${agents}`, ' → ', 'connecting', 'measuring'];
  let at = 0;
  child.stderr.on('data', () => {
    for (const { err } = child.text; at < parts.length && err.includes(parts[at]); at++)
      console.log(`${String(Date.now() - startedAt).padStart(6)} ms  ${parts[at].trim()}`);
  });
  await finished;
  await Promise.all(working.map(({ ended }) => ended));
  hub.stop();
}

const kinds = { simulated, cost, latency, start: starting };
const [kind = 'simulated', ...rest] = process.argv.slice(2);
try {
  await kinds[kind](rest);
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
