/** Commands of scenarios that the user has agreed to, by their hashes: a file of the user's, one a line. */
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ProcessIo } from './io';

type Env = ProcessIo['env'];

/** Undefined where the environment has no folder for it: then each run asks. */
function fileOf({ XDG_CONFIG_HOME: xdg, APPDATA: roaming, HOME: home }: Env): string | undefined {
  const config = xdg || roaming || (home && path.join(home, '.config'));
  return config ? path.join(config, 'signalr-bench', 'agreed-commands') : undefined;
}

export async function areAgreed(hashes: readonly string[], env: Env): Promise<boolean> {
  if (hashes.length === 0) return true;
  const file = fileOf(env);
  const text = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
  const known = new Set(text.split('\n'));
  return hashes.every((hash) => known.has(hash));
}

/** What cannot be kept is asked again. */
export async function keepAgreed(hashes: readonly string[], env: Env): Promise<void> {
  const file = fileOf(env);
  if (file === undefined || (await areAgreed(hashes, env))) return;
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, hashes.map((hash) => `${hash}\n`).join(''), { mode: 0o600 });
  } catch {
    // A home that cannot be written.
  }
}
