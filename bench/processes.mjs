// The processes of a bench: a peer, measurements that each have a process of their own, runs of the built
// command line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from '../scripts/nodeProgram.mjs';
import { buildPeer, floorCommand, startFloorPeer } from './floor.mjs';

/** A measurement that takes longer is stuck. */
const measurementLimitMs = 30_000;
const cli = path.join(root, 'dist', 'cli.js');

export const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** Starts a program that prints where it is and ends with its standard input. */
export async function startPeer(...args) {
  const peer = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
  peer.once('exit', (code) => {
    if (code !== 0) throw new Error(`the peer ended with ${code}`);
  });
  const [line] = await once(peer.stdout, 'data');
  return { url: String(line).trim(), pid: peer.pid, stop: () => peer.stdin.end() };
}

/** What answers the echoes of a bench: the hub in C, for `c`, or that of the bench, with files of key and certificate for TLS. */
export async function startHub(kind, files = []) {
  if (kind !== 'c') return startPeer('bench/echoPeer.mjs', ...files);
  const problem = buildPeer();
  if (problem !== undefined) throw new Error(problem);
  return startFloorPeer(1);
}

/** Something that the command line serves; reports its URL or connection string. */
export async function serve(what, ...flags) {
  const {
    url: line,
    pid,
    stop,
  } = await startPeer(cli, 'serve', what, ...flags, '--port', '0', '--exit-with-stdin');
  const { url, connectionString = url } = JSON.parse(line);
  return { target: connectionString, pid, stop };
}

/** What a measurement in a process of its own prints. */
export async function output(
  title,
  args,
  program = process.execPath,
  timeout = measurementLimitMs,
) {
  const child = spawn(program, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout,
  });
  const [text, [code, signal]] = await Promise.all([textOf(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`${title}: ended with ${code ?? signal}`);
  return text;
}

/** What Node gets that measures a client: our engine has the young generation of a run's workers, `semiSpaceMb` of `startRun.ts`. */
export const flagsOf = (client) =>
  /^(signalr|ws)\b/.test(client) ? [] : ['--max-semi-space-size=2'];

/** One measurement of a client, see bench/README.md. */
export async function measure(client, transport, url, connections, seconds) {
  const title = `${client} at ${connections} connections`;
  const [name, mode = 'json'] = client.split('/');
  if (name === 'floor') {
    const [program, words] = floorCommand(mode, url, connections, seconds);
    return JSON.parse(await output(title, words, program));
  }
  const what = [client, transport, url, connections, seconds].map(String);
  const args = [...flagsOf(name), '--expose-gc', 'bench/measure.mjs', ...what];
  return JSON.parse(await output(title, args));
}

/**
 * One whole run of the built command line.
 *
 * @param target URL or connection string
 * @param watch is given the process
 * @param flags further ones of `run`
 */
export async function runScenario(scenario, target, watch = () => {}, flags = []) {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalr-bench-'));
  try {
    const file = path.join(folder, 'scenario.yaml');
    await writeFile(file, scenario);
    // Connection strings have keys in them.
    const isUrl = /^https?:/.test(target);
    const reference = ['--target', isUrl ? target : '${env:BENCH_TARGET}'];
    const run = spawn(
      process.execPath,
      [cli, 'run', file, ...reference, '--json', '--out', folder, ...flags],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, BENCH_TARGET: target },
      },
    );
    watch(run);
    const [text, progress, [code]] = await Promise.all([
      ...[run.stdout, run.stderr].map(textOf),
      once(run, 'close'),
    ]);
    if (text === '') throw new Error(`a run ended with ${code}: ${progress}`);
    return { code, result: JSON.parse(text) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function textOf(stream) {
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text;
}
