// The floor of the bench: clients in C that do the same work, built with the compiler of the system.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { root } from '../scripts/nodeProgram.mjs';

const source = path.join(root, 'bench', 'floor', 'client.c');
const program = path.join(root, 'out', 'bench', 'floorClient');

/** Builds it; says in a sentence why there is none. */
export function buildFloor() {
  if (process.platform !== 'linux') return 'the floor needs epoll, so Linux.';
  mkdirSync(path.dirname(program), { recursive: true });
  const built = spawnSync('cc', ['-O2', '-o', program, source], { encoding: 'utf8' });
  if (built.error !== undefined) return `there is no C compiler (${built.error.code}).`;
  return built.status === 0 ? undefined : `the compiler refused it: ${built.stderr.trim()}`;
}

/** Command line of one measurement; `mode` is json, messagepack or broadcast. */
export const floorCommand = (mode, url, connections, seconds) => [
  program,
  [new URL(url).port, connections, seconds, mode].map(String),
];
