// Finds nats-server for the tests of runs on several machines, or takes it from the Debian package into out/nats, which
// needs no rights. Where it cannot be had it says so and succeeds, so that the tests can be skipped; with CI=true that is
// a failure.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './nodeProgram.mjs';

const folder = path.join(root, 'out', 'nats');
const unpacked = path.join(folder, 'usr', 'sbin', 'nats-server');
/** Holds the path of the program. */
const readyFile = path.join(folder, 'program');

/** Path of a program that answers; undefined when there is none. */
function found(program) {
  const asked = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return asked.status === 0 && /v2\./.test(asked.stdout) ? program : undefined;
}

/** A text says why there is none. */
function unpack() {
  if (!existsSync('/etc/debian_version')) return 'nats-server is not on the path';
  mkdirSync(folder, { recursive: true });
  const run = (...words) => spawnSync(words[0], words.slice(1), { cwd: folder, encoding: 'utf8' });
  const download = () => run('apt-get', '-qq', 'download', 'nats-server').status === 0;
  if (!download()) {
    run('apt-get', '-qq', 'update');
    if (!download()) return 'apt could not download nats-server';
  }
  const file = readdirSync(folder).find((name) => name.endsWith('.deb'));
  if (file === undefined || run('dpkg', '--extract', file, '.').status !== 0)
    return 'the package of nats-server could not be unpacked';
  return undefined;
}

rmSync(readyFile, { force: true });
const here = () => found(process.env.NATS_SERVER ?? 'nats-server') ?? found(unpacked);
const missing = here() === undefined ? unpack() : undefined;
const program = here();
if (program === undefined) {
  const inCi = process.env.CI === 'true';
  const why = missing ?? 'nats-server does not run here';
  console.log(`NATS server: ${inCi ? 'FAILED' : 'skipped'}, ${why}.`);
  process.exitCode = inCi ? 1 : 0;
} else {
  mkdirSync(folder, { recursive: true });
  writeFileSync(readyFile, program);
  console.log(`NATS server: ${program}.`);
}
