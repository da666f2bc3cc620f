/** Commands of scenarios that the user has agreed to, by their hashes: a file of the user's, one a line. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { readBounded } from '../results/readResult';
import { replaceFile } from '../results/safeFiles';
import type { ProcessIo } from './io';

type Env = ProcessIo['env'];

/** Undefined where the environment has no folder for it: then each run asks. */
function fileOf({ XDG_CONFIG_HOME: xdg, APPDATA: roaming, HOME: home }: Env): string | undefined {
  const config = xdg || roaming || (home && path.join(home, '.config'));
  return config ? path.join(config, 'signalr-bench', 'agreed-commands') : undefined;
}

export async function areAgreed(hashes: readonly string[], env: Env): Promise<boolean> {
  if (hashes.length === 0) return true;
  const agreed = await readAgreed(fileOf(env));
  return hashes.every((hash) => agreed.includes(hash));
}

async function readAgreed(file: string | undefined): Promise<string[]> {
  const text = file === undefined ? '' : await readBounded(file).catch(() => '');
  return text.split('\n').filter(Boolean);
}

/** What cannot be kept is asked again. */
export async function keepAgreed(hashes: readonly string[], env: Env): Promise<void> {
  const file = fileOf(env);
  if (file === undefined) return;
  const before = await readAgreed(file);
  if (hashes.every((hash) => before.includes(hash))) return;
  const agreed = new Set([...before, ...hashes]);
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await replaceFile(file, [...agreed].map((hash) => `${hash}\n`).join(''));
  } catch {
    // A home that cannot be written.
  }
}
