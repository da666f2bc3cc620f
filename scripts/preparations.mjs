import { existsSync } from 'node:fs';
import { setPriority, constants } from 'node:os';
import path from 'node:path';
import { exitCode, packageProgram, root, startNode } from './nodeProgram.mjs';

/**
 * What suites need. `leaves`: the file that is there when it worked out; a script that
 * succeeds without it has said what cannot be had on this machine. `after`: what must be there first.
 * `soon`: waited for before the others. `alone`: needs none of the packages, and may begin before them.
 */
const preparations = {
  compiled: { args: () => [packageProgram('typescript', 'tsc'), '-b'], soon: true },
  bundles: { args: () => ['scripts/build.mjs'], soon: true },
  aspnetServer: {
    args: () => ['scripts/buildInterop.mjs'],
    after: 'compiled',
    leaves: 'out/interop/aspnetcore/.published',
    soon: true,
  },
  vscodeHost: {
    args: () => ['scripts/setupVscode.mjs'],
    leaves: 'out/vscodeHost.ready',
    alone: true,
    soon: true,
  },
  chromium: {
    args: () => ['scripts/setupChromium.mjs'],
    leaves: 'out/chromium.ready',
    alone: true,
    soon: true,
  },
  natsServer: { args: () => ['scripts/natsServer.mjs'], leaves: 'out/nats/program', alone: true },
  vsix: { args: () => ['scripts/packageVsix.mjs', 'out/signalr-benchmark.vsix'], after: 'bundles' },
};

/** Of a child and all that it starts from now on. */
export function lowerPriority(child, priority) {
  try {
    setPriority(child.pid, priority);
  } catch {
    // It has ended already, or the system does not allow it; then it runs like the others.
  }
}

/**
 * Runs a script in the background.
 *
 * @param {number} priority as `os.setPriority` has it; low takes only what others leave of the processor
 * @returns {Promise<{ code: number, said: Buffer }>} its exit code, and its output for whoever waits for it
 */
export async function inBackground(args, priority = constants.priority.PRIORITY_LOW) {
  const child = startNode(args, {}, ['ignore', 'pipe', 'pipe']);
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk));
  lowerPriority(child, priority);
  const code = await exitCode(child);
  return { code, said: Buffer.concat(said) };
}

export const needsNoPackages = (name) => preparations[name].alone === true;

/** Each preparation that was asked for, begun once. */
const begun = new Map();

/**
 * Begins a preparation, or joins in the one that is under way.
 *
 * @param {keyof typeof preparations} name
 * @returns {Promise<'ready' | 'failed' | 'missing'>} `missing`: this machine cannot have it
 */
export function prepare(name) {
  if (!begun.has(name)) begun.set(name, carryOut(preparations[name]));
  return begun.get(name);
}

async function carryOut({ args, leaves, after, soon }) {
  if (after !== undefined && (await prepare(after)) !== 'ready') return 'failed';
  const { PRIORITY_NORMAL, PRIORITY_LOW } = constants.priority;
  const { code, said } = await inBackground(args(), soon ? PRIORITY_NORMAL : PRIORITY_LOW);
  process.stdout.write(said);
  if (code !== 0) {
    console.error(`Failed: ${args().join(' ')}.`);
    return 'failed';
  }
  return leaves === undefined || existsSync(path.join(root, leaves)) ? 'ready' : 'missing';
}
