import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { resultEntry, resultPath, type ResultEntry } from './resultEntry';

/** Results read at most; beyond, the oldest are counted only. */
export const mostResults = 500;
const readAtOnce = 8;
/** A folder that was deleted with a way back; purged when nobody can take it any more. */
export const deletedPrefix = '.deleted-';
const purgeAfterMs = 3_600_000;

/** What is known of a folder, and what it looked like then. */
export interface KnownEntry {
  readonly stamp: string;
  readonly entry: ResultEntry | undefined;
}

export interface FoundResults {
  readonly entries: readonly ResultEntry[];
  /** Folders beyond {@link mostResults}. */
  readonly unread: number;
}

/**
 * Reads all result folders below the directories, newest names first. Unchanged results are taken from
 * `known`, which is kept up to date. Directories that are missing hold none.
 */
export async function scanResults(
  directories: readonly string[],
  known: Map<string, KnownEntry>,
  now: Date,
): Promise<FoundResults> {
  const folders = (await Promise.all(directories.map((each) => foldersIn(each, now)))).flat();
  folders.sort((a, b) => (path.basename(a) < path.basename(b) ? 1 : -1));
  const read = folders.slice(0, mostResults);
  for (const folder of [...known.keys()]) if (!read.includes(folder)) known.delete(folder);
  const entries: (ResultEntry | undefined)[] = Array.from({ length: read.length });
  let next = 0;
  const readNext = async (): Promise<void> => {
    while (next < read.length) {
      const position = next++;
      entries[position] = await entryOf(read[position]!, known, now);
    }
  };
  await Promise.all(Array.from({ length: readAtOnce }, readNext));
  return {
    entries: entries.filter((entry) => entry !== undefined),
    unread: folders.length - read.length,
  };
}

async function foldersIn(directory: string, now: Date): Promise<string[]> {
  try {
    const inside = await readdir(directory, { withFileTypes: true });
    const folders = inside.filter((each) => each.isDirectory());
    for (const { name } of folders) {
      if (name.startsWith(deletedPrefix)) await purge(path.join(directory, name), now);
    }
    return folders
      .filter(({ name }) => !name.startsWith('.'))
      .map(({ name }) => path.join(directory, name));
  } catch {
    return [];
  }
}

async function purge(folder: string, now: Date): Promise<void> {
  try {
    const { ctimeMs } = await stat(folder);
    if (now.getTime() - ctimeMs > purgeAfterMs) await rm(folder, { recursive: true, force: true });
  } catch {
    // Another window was faster.
  }
}

async function entryOf(
  folder: string,
  known: Map<string, KnownEntry>,
  now: Date,
): Promise<ResultEntry | undefined> {
  const stamp = await stampOf(resultPath({ folder }));
  const before = known.get(folder);
  if (before && stamp !== '' && before.stamp === stamp) return before.entry;
  const entry = await resultEntry(folder, now);
  known.set(folder, { stamp, entry });
  return entry;
}

/** Changes with the file; empty when there is none. */
async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size } = await stat(file);
    return `${mtimeMs}:${size}`;
  } catch {
    return '';
  }
}
