// Finds nats-server for the tests of runs on several machines, or takes it from the Debian package into out/nats, which
// needs no rights.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { apt, hasApt } from './apt.mjs';
import { root } from './nodeProgram.mjs';
import { conclude } from './outcome.mjs';

const folder = path.join(root, 'out', 'nats');
const unpacked = path.join(folder, 'usr', 'sbin', 'nats-server');

/** Path of a program that answers; undefined when there is none. */
function found(program) {
  const asked = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return asked.status === 0 && /v2\./.test(asked.stdout) ? program : undefined;
}

const here = () => found(process.env.NATS_SERVER ?? 'nats-server') ?? found(unpacked);

/** A text says what went wrong. */
async function unpack() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const problem = await apt(['download', 'nats-server'], folder);
  if (problem !== undefined) return `apt could not download it\n${problem}`;
  const file = readdirSync(folder).find((name) => name.endsWith('.deb'));
  const done = file && spawnSync('dpkg', ['--extract', file, '.'], { cwd: folder });
  return done?.status === 0 ? undefined : 'its package could not be unpacked';
}

// The file holds the path of the program.
await conclude('NATS server', path.join(folder, 'program'), async () => {
  if (here() !== undefined) return { ready: here() };
  if (!(await hasApt())) return { missing: 'nats-server is not on the path' };
  const problem = await unpack();
  return {
    ready: problem === undefined ? here() : undefined,
    failed: problem ?? 'it does not run here',
  };
});
