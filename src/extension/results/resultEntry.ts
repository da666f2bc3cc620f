import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { emulatedBy, type Emulated } from '../../results/emulated';
import { shownLatency } from '../../measure/judge/judgedLatency';
import type { VerdictStatus } from '../../measure/show/summary';
import { verdictSentence } from '../../measure/judge/verdictSentence';
import { readResult } from '../../results/readResult';
import { resultFile, samplesFile } from '../../results/resultFolder';

export type EntryStatus = VerdictStatus | 'interrupted' | 'running' | 'damaged' | 'newer';

/** A result folder as lists show it. */
export interface ResultEntry {
  /** Path of the folder. */
  readonly folder: string;
  /** Name of the folder, which people may change. */
  readonly name: string;
  /** Id of its run, where its result can be read: what the folder was called at first. */
  readonly id?: string;
  /** Name of the scenario it ran. */
  readonly scenario: string;
  /** URI of the scenario's file, where this machine knows it. */
  readonly origin?: string;
  readonly status: EntryStatus;
  /** Milliseconds since 1970; 0 when nothing tells. */
  readonly startedMs: number;
  /** p99 of the last step with deliveries. */
  readonly p99Us?: number;
  /** Recommended Units; null when no size fits. */
  readonly unit?: number | null;
  /** What has answered in place of a service, where it is known. */
  readonly emulated?: Emulated;
  /** Verdict, or what is wrong with the folder. */
  readonly sentence: string;
}

/** A folder without a result that was written to this lately belongs to a run in another window. */
export const writingMs = 5000;

/**
 * Reads what a list shows of one result folder; undefined when it is none. Never throws.
 *
 * @param grew whether the samples are known to have grown just now
 */
export async function resultEntry(
  folder: string,
  now: Date,
  grew = false,
): Promise<ResultEntry | undefined> {
  const name = path.basename(folder);
  const named = { folder, name, ...fromName(name) };
  try {
    // What is still being written is not read for a list: it may be long, and is another one soon.
    if (!existsSync(resultPath({ folder })) && (grew || (await writtenLately(folder, now)))) {
      return { ...named, status: 'running', sentence: '' };
    }
    const run = await readResult(folder);
    if (run.kind === 'interrupted') {
      const p99Us = run.steps.filter(({ latencyUs }) => latencyUs.count > 0).at(-1)?.latencyUs.p99;
      return {
        ...named,
        status: 'interrupted',
        sentence: '',
        ...(p99Us !== undefined && { p99Us }),
      };
    }
    const { result } = run;
    const measured = result.steps.filter(({ latencyUs }) => latencyUs.count > 0).at(-1);
    const p99Us = measured && shownLatency(measured)?.p99;
    const { scenario } = fromName(result.id);
    const emulated = emulatedBy(result.target, result.scenario.service);
    const startedMs = Date.parse(result.startedAt);
    return {
      folder,
      name,
      id: result.id,
      scenario,
      startedMs: Number.isFinite(startedMs) ? startedMs : named.startedMs,
      status: result.ending === 'interrupted' ? 'interrupted' : result.verdict.status,
      sentence: verdictSentence(result),
      ...(emulated !== undefined && { emulated }),
      ...(p99Us !== undefined && p99Us !== null && { p99Us }),
      ...(result.recommendation && { unit: result.recommendation.unit }),
    };
  } catch (error) {
    if (error instanceof ExpectedError && error.code === 'result-missing') return undefined;
    const newer = error instanceof ExpectedError && error.code === 'result-newer';
    const sentence = error instanceof Error ? error.message : String(error);
    return { ...named, status: newer ? 'newer' : 'damaged', sentence };
  }
}

/**
 * Time (UTC) and scenario in the name of a folder: `2026-11-21T14-02-11-chat-room`. Names of scenarios in
 * it have no blanks: behind one stands what somebody called it, see {@link nameWithOrigin}.
 */
export function fromName(name: string): { readonly scenario: string; readonly startedMs: number } {
  const [, day, h, m, s, rest] =
    /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})-([^ ]+)(?: .*)?$/.exec(name) ?? [];
  if (day === undefined) return { scenario: name, startedMs: 0 };
  const startedMs = Date.parse(`${day}T${h!}:${m!}:${s!}Z`);
  return { scenario: rest!, startedMs: Number.isFinite(startedMs) ? startedMs : 0 };
}

type NamedFolder = Pick<ResultEntry, 'name' | 'id'>;

/**
 * The name wanted for a folder; behind the one that it was made with where no result can be read: nothing
 * else tells when it ran, and what.
 */
export function nameWithOrigin({ name, id }: NamedFolder, wanted: string): string {
  if (id !== undefined) return wanted;
  const [origin = ''] = name.split(' ');
  if (fromName(origin).startedMs === 0 || `${wanted} `.startsWith(`${origin} `)) return wanted;
  return `${origin} ${wanted}`;
}

async function writtenLately(folder: string, now: Date): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path.join(folder, samplesFile));
    // A clock that was set back must not make an old run look alive for long.
    return Math.abs(now.getTime() - mtimeMs) < writingMs;
  } catch {
    return false;
  }
}

/** The folder of a result, which may be given itself, or by its `result.json`. */
export function folderAt(location: string): string {
  return path.basename(location) === resultFile ? path.dirname(location) : location;
}

/** Path of the result itself. */
export function resultPath({ folder }: Pick<ResultEntry, 'folder'>): string {
  return path.join(folder, resultFile);
}
