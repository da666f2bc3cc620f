import path from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Emitter } from '../base/async';
import { HeldSnapshots, type Packing, type Snapshot } from '../measure/snapshot';
import { calibrationOf, keepCalibration } from '../results/historyFiles';
import type { writeCounters } from '../results/counters/counterFile';
import type { Result } from '../results/result';
import { redactText } from '../results/redact';
import { fileProblem, type ResultFolder } from '../results/resultFolder';
import type { Observer } from './observe/openObserver';
import { observedOver, withObserved } from './observing';
import { folderIn } from './prepareRun';
import type { RunRequest, Shell } from './shell';

/** A minute of snapshots, which repeat their names, has 80 KB as text and some 10 KB as this, and takes half a millisecond. */
export const deflated: Packing = {
  // Copied: what zlib gives back stands in 16 KB of memory, however short it is.
  pack: (text) => Uint8Array.from(deflateRawSync(text, { level: 1 })),
  unpack: (packed) => inflateRawSync(packed).toString('utf8'),
};

/** What is measured of a run, from the first snapshot to the last: shown, and kept in its folder. */
export class SnapshotStore {
  /** For as long as the run lasts, of which it is the only part that grows. */
  private readonly held = new HeldSnapshots(deflated);
  private readonly emitter = new Emitter<Snapshot>();
  readonly onSnapshot = this.emitter.event;
  private problem: string | undefined;

  constructor(
    private readonly folder: ResultFolder,
    private readonly observer: Observer | undefined,
    private readonly say: Shell['say'],
  ) {}

  get all(): readonly Snapshot[] {
    return this.held.all;
  }

  add(measured: Snapshot): void {
    const snapshot = withObserved(measured, this.observer);
    this.folder.appendSample(snapshot);
    this.held.add(snapshot);
    this.emitter.fire(snapshot);
    const { problem } = snapshot;
    if (problem !== undefined && problem !== this.problem) this.say('server', redactText(problem));
    this.problem = problem;
  }

  /** With what was observed of the server meanwhile. */
  async observed(result: Result): Promise<Result> {
    const observed = await observedOver(this.all, this.observer, result);
    return observed ? { ...result, observed } : result;
  }
}

export interface FinishedRun {
  readonly result: Result;
  /** Folder of the result; undefined when it could be written nowhere. */
  readonly folder: string | undefined;
}

interface MeasuredRun {
  readonly folder: ResultFolder;
  readonly request: RunRequest;
  readonly startedAt: Date;
  readonly snapshots: SnapshotStore;
}

/** From what was measured to the files that are left of it, with what a comparison with the baseline says. */
export async function keepResult(
  measured: Result,
  run: MeasuredRun,
  shell: Pick<Shell, 'say' | 't'>,
  counters: typeof writeCounters,
): Promise<FinishedRun> {
  const result = await run.snapshots.observed(measured);
  const beside = path.dirname(run.folder.path);
  const finished = await store(await compared(result, run.request), run, shell, counters);
  await calibrate(finished.result, run.request, beside, shell);
  return finished;
}

/** With what a comparison with the baseline says, where one was asked for. */
async function compared(result: Result, { baseline }: RunRequest): Promise<Result> {
  if (baseline === undefined) return result;
  const { compareResults } = await import(
    /* webpackChunkName: "run" */ '../results/compare/compareResults.js'
  );
  return { ...result, baseline: compareResults(baseline.result, result, baseline) };
}

/** A search on a known size is kept for the runs to come. */
async function calibrate(
  result: Result,
  { title }: RunRequest,
  directory: string,
  shell: Pick<Shell, 'say' | 't'>,
): Promise<void> {
  const made = calibrationOf(result, path.basename(title));
  if (made === undefined) return;
  try {
    await keepCalibration(directory, made);
  } catch (error) {
    shell.say(
      'warning',
      shell.t('What Unit {0} carried was not kept: {1}.', made.unit, fileProblem(error)),
    );
  }
}

/** Writes the result; where its folder is gone or full, all that was measured goes to a new one. */
async function store(
  result: Result,
  { folder, request, startedAt, snapshots }: MeasuredRun,
  shell: Pick<Shell, 'say' | 't'>,
  counters: typeof writeCounters,
): Promise<FinishedRun> {
  /** False when it cannot be written. */
  const write = async (to: ResultFolder, what: Result): Promise<boolean> => {
    if (!(await to.writeResult(what))) return false;
    await counters(to.path, what, (message) => shell.say('warning', message));
    return true;
  };
  if (await write(folder, result)) return { result, folder: folder.path };
  const refusals: string[] = [];
  for (const directory of [...request.directories, request.spareDirectory ?? []].flat()) {
    const other = await folderIn(directory, request, startedAt, shell);
    if (typeof other === 'string') {
      refusals.push(other);
      continue;
    }
    try {
      for (const snapshot of snapshots.all) other.appendSample(snapshot);
      const moved = { ...result, id: other.id };
      if (!(await write(other, moved))) continue;
      shell.say('warning', shell.t('The result was written to {0} instead.', other.path));
      return { result: moved, folder: other.path };
    } finally {
      await other.dispose();
    }
  }
  shell.say('unstored', refusals.join(' '));
  return { result, folder: undefined };
}
