// The one way to Debian's packages. Preparations run beside each other, and apt has one lock for its lists and one for
// its packages: two at once fail, so here one waits for the other.
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** For all checkouts of this user. */
const lockFile = path.join(tmpdir(), `signalr-benchmark-apt-${process.getuid?.() ?? 0}.lock`);
/** Longer than the largest package takes to install. */
const lockLimitSeconds = 900;
/** A mirror may be busy, and another program (apt-daily on a new machine) may hold apt's own lock. */
const tries = 4;
const pauseMs = Number(process.env.SIGNALR_BENCH_APT_PAUSE_MS ?? 5000);
const options = [
  '-qq',
  ...['-o', 'Acquire::Retries=3'],
  ...['-o', 'DPkg::Lock::Timeout=300'],
  // A list that could not be fetched is an error: apt alone warns, goes on with what it has, and then lacks packages.
  ...['-o', 'APT::Update::Error-Mode=any'],
];

/** @returns {Promise<{ code: number | null, text: string }>} `code` null: the program could not be started */
function run(words, cwd) {
  return new Promise((resolve) => {
    const [program, ...args] = words;
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => chunks.push(chunk));
    child.once('error', (error) => resolve({ code: null, text: error.message }));
    child.once('close', (code) => resolve({ code, text: Buffer.concat(chunks).toString() }));
  });
}

/** apt-get with the lock: with the words of each command in turn, until one fails. */
async function locked(commands, cwd) {
  for (const command of commands) {
    const apt = ['apt-get', ...options, ...command];
    const done = await run(['flock', '--timeout', `${lockLimitSeconds}`, lockFile, ...apt], cwd);
    if (done.code !== 0) return done;
  }
  return { code: 0, text: '' };
}

export const hasApt = async () => (await run(['apt-get', '--version'])).code === 0;

/**
 * Carries out a command of apt-get, with new package lists where it fails with those that are there, and again where that fails.
 *
 * @param {string[]} words such as `install --yes chromium`
 * @param {string} [cwd] where `download` puts its file
 * @returns {Promise<string | undefined>} why it did not work, in apt's words
 */
export async function apt(words, cwd) {
  let done = await locked([words], cwd);
  for (let attempt = 1; done.code !== 0 && attempt <= tries; attempt++) {
    if (attempt > 1) await pause(pauseMs * attempt);
    done = await locked([['update'], words], cwd);
  }
  return done.code === 0 ? undefined : done.text.trim().split('\n').slice(-4).join('\n');
}
