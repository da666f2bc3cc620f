import type { Words } from '../../base/sentence';
import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ExpectedError } from '../../base/expectedError';
import { shownPercentiles } from '../../measure/latencySummary';
import { verdictWords } from '../../measure/show/verdictSentence';
import type { SearchKind } from '../../base/searchSummary';
import type { VerdictStatus } from '../../measure/summary';
import { readBaselines } from '../../results/historyFiles';
import { readResult } from '../../results/readResult';
import { emulationKind, type EmulationKind } from '../../results/result';
import { resultFile, samplesFile } from '../../results/resultFolder';
import type { UnfinishedRun } from '../editorState';

export type EntryStatus = VerdictStatus | 'interrupted' | 'running' | 'damaged' | 'newer';

export interface ResultEntry {
  readonly folder: string;
  /** Name of the folder, which the user may change. */
  readonly name: string;
  /** Id of the run, the original name of the folder; absent if the result cannot be read. */
  readonly id?: string;
  readonly scenario: string;
  readonly origin?: string;
  readonly status: EntryStatus;
  readonly startedMs: number;
  readonly p99Us?: number;
  readonly held?: { readonly of: SearchKind; readonly value: number | null };
  readonly unit?: number | null;
  readonly emulated?: EmulationKind;
  readonly isBaseline?: true;
  readonly sign?: string;
  readonly sentence: Words;
}

/** A folder without a result but with samples this recent belongs to a run in another window. */
const writingMs = 5000;

/** List entry of one result folder; undefined if there is no result. Never throws. */
export async function resultEntry(
  folder: string,
  now: Date,
  grew = false,
): Promise<ResultEntry | undefined> {
  const name = path.basename(folder);
  const named = { folder, name, ...parseFolderName(name) };
  try {
    // A result being written may be long and changes soon.
    if (!existsSync(resultPath({ folder })) && (grew || (await writtenLately(folder, now))))
      return { ...named, status: 'running', sentence: '' };
    const run = await readResult(folder);
    if (run.kind === 'interrupted') {
      const last = run.steps.filter(({ latencyUs }) => latencyUs.count > 0).at(-1)?.latencyUs;
      return { ...named, status: 'interrupted', sentence: '', p99Us: last?.p99 };
    }
    const { result } = run;
    const measured = result.steps.filter(({ latencyUs }) => latencyUs.count > 0).at(-1);
    const { search } = result;
    // The last step of a search is any near the limit.
    const p99Us =
      (search === undefined && measured && shownPercentiles(measured)?.p99) || undefined;
    const startedMs = Date.parse(result.startedAt);
    const { sign, words } = verdictWords(result);
    return {
      folder,
      name,
      id: result.id,
      scenario: parseFolderName(result.id).scenario,
      startedMs: Number.isFinite(startedMs) ? startedMs : named.startedMs,
      status: result.ending === 'interrupted' ? 'interrupted' : result.verdict.status,
      sign,
      sentence: words,
      emulated: emulationKind(result.target, result.scenario.service),
      p99Us,
      held: search && { of: search.of, value: search.low },
      unit: result.recommendation ? result.recommendation.unit : undefined,
    };
  } catch (error) {
    if (error instanceof ExpectedError && error.code === 'result-missing') return undefined;
    const newer = error instanceof ExpectedError && error.code === 'result-newer';
    const sentence = error instanceof Error ? error.message : String(error);
    return { ...named, status: newer ? 'newer' : 'damaged', sentence };
  }
}

/** Scenario and UTC time of `2026-11-21T14-02-11-chat-room`; a user's own name may follow after a blank. */
export function parseFolderName(name: string): {
  readonly scenario: string;
  readonly startedMs: number;
} {
  const [, day, h, m, s, rest] =
    /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})-([^ ]+)(?: .*)?$/.exec(name) ?? [];
  if (day === undefined) return { scenario: name, startedMs: 0 };
  const startedMs = Date.parse(`${day}T${h!}:${m!}:${s!}Z`);
  return { scenario: rest!, startedMs: Number.isFinite(startedMs) ? startedMs : 0 };
}

/** The wanted name, after the original one if the result is unreadable: only that says what ran and when. */
export function newFolderName(
  { name, id }: Pick<ResultEntry, 'name' | 'id'>,
  wanted: string,
): string {
  if (id !== undefined) return wanted;
  const [origin = ''] = name.split(' ');
  if (parseFolderName(origin).startedMs === 0 || `${wanted} `.startsWith(`${origin} `))
    return wanted;
  return `${origin} ${wanted}`;
}

async function writtenLately(folder: string, now: Date): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path.join(folder, samplesFile));
    // A clock set back must not make an old run look alive.
    return Math.abs(now.getTime() - mtimeMs) < writingMs;
  } catch {
    return false;
  }
}

/** Folder of a result, from the folder or its `result.json`. */
export function resultFolderAt(location: string): string {
  return path.basename(location) === resultFile ? path.dirname(location) : location;
}

export function resultPath({ folder }: Pick<ResultEntry, 'folder'>): string {
  return path.join(folder, resultFile);
}

/** Limit of results read; older ones are only counted. */
export const mostResults = 500;
/** Prefix of deleted folders while *Undo* is possible. */
export const deletedPrefix = '.deleted-';
const purgeAfterMs = 3_600_000;

export interface KnownEntry {
  readonly stamp: FolderStamp | undefined;
  readonly entry: ResultEntry | undefined;
}

export interface FoundResults {
  readonly entries: readonly ResultEntry[];
  readonly unread: number;
}

interface FolderStamp {
  readonly file: typeof resultFile | typeof samplesFile;
  readonly mtimeMs: number;
  readonly size: number;
}

/** Reads all result folders, newest first; `known` caches unchanged ones. */
export async function scanResults(
  directories: readonly string[],
  known: Map<string, KnownEntry>,
  now: Date,
): Promise<FoundResults> {
  const folders = (await Promise.all(directories.map((each) => foldersIn(each, now)))).flat();
  folders.sort((a, b) => (path.basename(a) < path.basename(b) ? 1 : -1));
  const read = folders.slice(0, mostResults);
  for (const folder of [...known.keys()]) if (!read.includes(folder)) known.delete(folder);
  const stamps = await Promise.all(read.map(stampOf));
  const entries: (ResultEntry | undefined)[] = [];
  // One at a time: reading a result takes many times its size in memory.
  for (const [at, folder] of read.entries()) {
    const [stamp, before] = [stamps[at], known.get(folder)];
    const same = stamp !== undefined && isDeepStrictEqual(before?.stamp, stamp);
    if (before && same && before.entry?.status !== 'running') {
      entries.push(before.entry);
      continue;
    }
    // Samples that grew since the last scan are being written, whatever the clocks say.
    const samples = stamp?.file === samplesFile && before?.stamp?.file === samplesFile;
    const entry = await resultEntry(folder, now, samples && !same);
    known.set(folder, { stamp, entry });
    entries.push(entry);
  }
  const baselines = new Set(
    (await Promise.all(directories.map(readBaselines))).flatMap((each) => Object.values(each)),
  );
  return {
    entries: entries.flatMap((entry) => {
      if (entry === undefined) return [];
      return baselines.has(entry.name) ? [{ ...entry, isBaseline: true as const }] : [entry];
    }),
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
    // Another window purged it.
  }
}

async function stampOf(folder: string): Promise<FolderStamp | undefined> {
  for (const file of [resultFile, samplesFile] as const) {
    try {
      const { mtimeMs, size } = await stat(path.join(folder, file));
      return { file, mtimeMs, size };
    } catch {
      // The next file may exist.
    }
  }
  return undefined;
}

/** Closing or reloading a window takes seconds. */
const lookAgainMs = 1000;
const mostLooks = 8;

type RunState = 'running' | 'interrupted' | 'over';

export interface RunTraces {
  readonly ownPid: number;
  isAlive(pid: number): boolean;
  now(): Date;
  wait(ms: number): Promise<void>;
}

const realTraces: RunTraces = {
  ownPid: process.pid,
  isAlive,
  now: () => new Date(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/**
 * State of a run of any window, by its process and its samples. Waits, since samples of a reloaded window are
 * fresh.
 */
export async function runState(
  { folder, pid }: UnfinishedRun,
  traces: RunTraces = realTraces,
): Promise<RunState> {
  // Our own pid was reused after a crash.
  for (let look = 0; pid !== traces.ownPid && traces.isAlive(pid); look++) {
    if (look === mostLooks) return 'running';
    await traces.wait(lookAgainMs);
  }
  let entry = await resultEntry(folder, traces.now());
  if (entry?.status === 'running') {
    await traces.wait(writingMs + 1000);
    entry = await resultEntry(folder, traces.now());
  }
  if (entry?.status === 'running') return 'running';
  return entry?.status === 'interrupted' ? 'interrupted' : 'over';
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
