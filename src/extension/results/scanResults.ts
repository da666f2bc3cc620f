import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { resultFile, samplesFile } from '../../results/resultFolder';
import { resultEntry, type ResultEntry } from './resultEntry';

/** Results read at most; beyond, the oldest are counted only. */
export const mostResults = 500;
const readAtOnce = 8;
/** Larger results are read one at a time: each takes many times its size in memory. */
const largeBytes = 1024 * 1024;
/** A folder that was deleted with a way back; purged when nobody can take it any more. */
export const deletedPrefix = '.deleted-';
const purgeAfterMs = 3_600_000;

/** What is known of a folder, and what it looked like then. */
export interface KnownEntry {
  readonly stamp: FolderStamp | undefined;
  readonly entry: ResultEntry | undefined;
}

export interface FoundResults {
  readonly entries: readonly ResultEntry[];
  /** Folders beyond {@link mostResults}. */
  readonly unread: number;
}

/** Changes whenever there is something new to read in a result folder. */
interface FolderStamp {
  /** Name of the file that tells how the run stands. */
  readonly file: typeof resultFile | typeof samplesFile;
  readonly mtimeMs: number;
  readonly size: number;
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
  const oneAtATime = queue();
  const readNext = async (): Promise<void> => {
    while (next < read.length) {
      const position = next++;
      entries[position] = await entryOf(read[position]!, { known, now, oneAtATime });
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

interface Scan {
  readonly known: Map<string, KnownEntry>;
  readonly now: Date;
  readonly oneAtATime: <T>(act: () => Promise<T>) => Promise<T>;
}

async function entryOf(folder: string, scan: Scan): Promise<ResultEntry | undefined> {
  const { known, now, oneAtATime } = scan;
  const stamp = await stampOf(folder);
  const before = known.get(folder);
  const same = stamp !== undefined && isDeepStrictEqual(before?.stamp, stamp);
  if (before && same && before.entry?.status !== 'running') return before.entry;
  // Samples that grew between two looks are being written, whatever the clocks of the machines say.
  const samples = stamp?.file === samplesFile && before?.stamp?.file === samplesFile;
  const grew = samples && !same;
  const read = (): Promise<ResultEntry | undefined> => resultEntry(folder, now, grew);
  const entry = await ((stamp?.size ?? 0) > largeBytes ? oneAtATime(read) : read());
  known.set(folder, { stamp, entry });
  return entry;
}

/** The result when there is one, else the samples; undefined when there is neither. */
async function stampOf(folder: string): Promise<FolderStamp | undefined> {
  for (const file of [resultFile, samplesFile] as const) {
    try {
      const { mtimeMs, size } = await stat(path.join(folder, file));
      return { file, mtimeMs, size };
    } catch {
      // The next one tells.
    }
  }
  return undefined;
}

/** Lets one go after the other. */
function queue(): Scan['oneAtATime'] {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const mine = last.then(act);
    last = mine.catch(() => undefined);
    return mine;
  };
}
