// Whole runs of many connections on one machine against the hub in C, both in as many processes as descriptors and cores
// ask for, and what they take: by the results of the runs and by /proc. Linux.
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { startFloorPeer } from './floor.mjs';
import { runScenario } from './processes.mjs';

/** Far enough below the usual limits of descriptors: the system spreads connections evenly, but not exactly. */
const connectionsOfPeer = 16_000;
const pageBytes = 4096;
/** Of /proc: clock ticks a second on Linux, whatever the machine. */
const ticksPerSecond = 100;

const readProc = (pid, name) => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
};

/** What stands behind the name of the program, which may have blanks: parent, …, ticks of user and system time. */
const statOf = (pid) =>
  readProc(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ');

const cpuSeconds = (pids) =>
  pids.reduce((sum, pid) => {
    const stat = statOf(pid);
    return stat === undefined ? sum : sum + (Number(stat[11]) + Number(stat[12])) / ticksPerSecond;
  }, 0);

const residentBytes = (pids) =>
  pids.reduce(
    (sum, pid) => sum + Number(readProc(pid, 'statm')?.split(' ')[1] ?? 0) * pageBytes,
    0,
  );

/** A process and its children. */
function familyOf(pid) {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return [pid, ...all.map(Number).filter((one) => Number(statOf(one)?.[1]) === pid)];
}

/** The first seconds after so many connections still have what opening them has put off. */
const warmupS = 5;

/** Each connection sends at the same rate; a step for each number of senders. */
const scenario = ({ connections, intervalMs, senders, step, steps, seconds }) => `config:
  connections: ${connections}
  baseSending: ${senders}
  step: ${step}
  sendingSteps: ${steps}
  arrivingRate: 20000
  connectInFlight: 500
  connectTimeout: 60s
  singleStepDuration: ${seconds}s
  warmup: ${warmupS}s
  drain: 5s
  skipNegotiation: true
scenario: { name: echo, parameters: { messageSize: 2KB, sendingInterval: ${intervalMs}ms } }
slo: { p99: 1s }
`;

/** What is said of a run that is on its way. */
const connectingLine = /connecting ([\d,]+) of/;

/** Watches the processes of a run from outside. */
function watch(run, peers, seen) {
  const timer = setInterval(() => {
    const family = familyOf(run.pid);
    const bytes = residentBytes(family);
    seen.processes = Math.max(seen.processes, family.length);
    if (bytes > seen.mostBytes) seen.mostBytes = bytes;
  }, 1000);
  run.once('close', () => clearInterval(timer));
  run.stderr.on('data', (chunk) => {
    const text = String(chunk);
    const nowMs = performance.now();
    if (connectingLine.test(text)) seen.connectingMs ??= nowMs;
    if (/preparing|step 1 of/.test(text)) seen.connectedMs ??= nowMs;
    if (/step 1 of/.test(text)) seen.peerBefore ??= cpuSeconds(peers);
    if (/closing connections/.test(text)) seen.peerAfter ??= cpuSeconds(peers);
  });
}

/**
 * One run.
 *
 * @param load connections, intervalMs of each, senders of the first step, senders that each further step adds, steps, seconds
 */
export async function largeRun(load) {
  const peerCount = Math.max(
    Math.ceil(load.connections / connectionsOfPeer),
    Math.floor(cpus().length / 2),
  );
  const peer = await startFloorPeer(peerCount);
  const seen = { mostBytes: 0, processes: 0 };
  try {
    const watched = (run) => watch(run, peer.pids, seen);
    const more = ['--processes', 'auto'];
    const { code, result } = await runScenario(scenario(load), peer.url, watched, more);
    const { connected, failed, dropped } = result.connections;
    // With the warm-up of each step.
    const echoes = result.steps.reduce(
      (sum, { received, seconds }) => sum + (received * (seconds + warmupS)) / seconds,
      0,
    );
    return {
      ...{ code, connections: load.connections, connected, failed, dropped },
      peers: peerCount,
      processes: seen.processes,
      connectSeconds: (seen.connectedMs - seen.connectingMs) / 1000,
      mostBytes: seen.mostBytes,
      peerUsPerEcho: ((seen.peerAfter - seen.peerBefore) * 1e6) / echoes,
      steps: result.steps.map(stepFigures),
    };
  } finally {
    peer.stop();
  }
}

function stepFigures(step) {
  const { offered, sent, expected, received, seconds, generator, latencyUs, verdict } = step;
  return {
    ...{ senders: step.senders, seconds, offered, sent, expected, received },
    perSecond: received / seconds,
    // Per message sent or received in the result.
    cpuUsPerEcho: (generator.cpuUsPerMessage * (sent + received)) / received,
    ...{ cpuShare: generator.cpuShare, slipP99Us: generator.slipP99Us },
    ...{ p50Us: latencyUs.p50, p99Us: latencyUs.p99, verdict: verdict.status },
  };
}
