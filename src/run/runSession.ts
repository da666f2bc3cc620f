import path from 'node:path';
import { Emitter, type Event } from '../base/async';
import { type Snapshot, SnapshotHistory, type TextCompression } from '../measure/snapshot';
import type { RunSummary } from '../measure/summary';
import { redactText } from '../results/redact';
import { toolVersion, type Result } from '../results/result';
import { readCalibrations, calibrationFromResult, saveCalibration } from '../results/historyFiles';
import { searchStepOf } from '../plan/buildPlan';
import type { Run, StopReason } from '../engine/lead/run';
import { SearchedSteps } from '../engine/lead/stepSource';
import { type PreparedRun, type RunParts, folderIn } from './prepareRun';
import type { Shell, RunRequest } from './shell';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { summarizeObserved, type Observed } from '../measure/observed';
import type { writeCounterFile } from '../results/counters/counterFile';
import { describeFileError, type ResultFolder } from '../results/resultFolder';
import type { Observer } from './observe/openObserver';

/** {@link prepareRun} leads from a scenario to an open target, and this from its start to its stored result. */
export async function runSession(
  prepared: PreparedRun,
  shell: Pick<Shell, 'say' | 't'>,
  parts: Pick<RunParts, 'startRun' | 'completeResult' | 'writeCounters' | 'workerScript'>,
): Promise<RunSession> {
  const { askedMs, plan, request, target } = prepared;
  const { workerScript } = parts;
  const keepGoing = request.keepGoing === true;
  try {
    const steps =
      plan.search && new SearchedSteps(plan.search, searchStepOf(prepared.scenario), plan.agents);
    const deps = { workerScript, keepGoing, askedMs, steps };
    const running = await parts.startRun(plan, target, deps);
    return new RunSession(running, prepared, shell, parts);
  } catch (error) {
    await prepared.dispose();
    throw error;
  }
}

/** From its first connection to its stored result. */
export class RunSession {
  /** Path of the result folder; another one when the result has to go elsewhere. */
  folder: string;
  /** Settles when the result is stored, as far as it can be, and the target closed. */
  readonly finished: Promise<FinishedRun>;
  private readonly store: SnapshotStore;
  private readonly endEmitter = new Emitter<void>();
  private readonly resultEmitter = new Emitter<Result>();
  readonly onSnapshot: Event<Snapshot>;
  /** The load is over; what comes is the result. */
  readonly onEnd = this.endEmitter.event;
  /** The result is stored, as far as it can be. */
  readonly onResult = this.resultEmitter.event;

  constructor(
    private readonly running: Run,
    private readonly prepared: PreparedRun,
    private readonly shell: Pick<Shell, 'say' | 't'>,
    private readonly parts: Parameters<typeof runSession>[2],
  ) {
    this.folder = prepared.folder.path;
    this.store = new SnapshotStore(prepared.folder, prepared.observer, shell.say);
    this.onSnapshot = this.store.onSnapshot;
    running.onSnapshot((snapshot) => this.store.add(snapshot));
    this.finished = this.follow();
  }

  get snapshots(): readonly Snapshot[] {
    return this.store.all;
  }

  /** Ends the run in order; what was measured is kept. A second call closes at once. */
  stop(reason: StopReason): void {
    this.running.stop(reason);
  }

  private async follow(): Promise<FinishedRun> {
    const { prepared, parts, shell } = this;
    try {
      const summary = await this.running.finished.finally(() => this.endEmitter.fire());
      if (summary.endingStack !== undefined) shell.say('stack', redactText(summary.endingStack));
      const times = timesFrom(prepared.startedAt, summary);
      const beside = path.dirname(prepared.folder.path);
      const calibrations = await readCalibrations(beside);
      const scenarioName = path.basename(prepared.request.title);
      const of = { id: prepared.folder.id, scenarioName, toolVersion, calibrations };
      const measured = { ...summary, ...times };
      const result = await parts.completeResult(measured, prepared.scenario, of);
      const run = { ...prepared, snapshots: this.store };
      const finished = await keepResult(result, run, shell, parts.writeCounters);
      this.folder = finished.folder ?? this.folder;
      this.resultEmitter.fire(finished.result);
      return finished;
    } finally {
      await prepared.dispose();
    }
  }
}

/** The run's own times, moved so that they begin with the start that its folder is named by. */
function timesFrom(
  start: Date,
  { startedAt, endedAt }: Pick<RunSummary, 'startedAt' | 'endedAt'>,
): Pick<RunSummary, 'startedAt' | 'endedAt'> {
  const elapsedMs = Date.parse(endedAt) - Date.parse(startedAt);
  return {
    startedAt: start.toISOString(),
    endedAt: new Date(start.getTime() + elapsedMs).toISOString(),
  };
}

/** With what was last read of the server, where something is. */
function withObserved(snapshot: Snapshot, observer: Observer | undefined): Snapshot {
  const observed = observer?.values() ?? {};
  return Object.keys(observed).length === 0 ? snapshot : { ...snapshot, observed };
}

/** All that was seen, when the run is over; undefined where nothing was to be. */
async function observedOver(
  snapshots: readonly Snapshot[],
  observer: Observer | undefined,
  { startedAt, endedAt }: { readonly startedAt: string; readonly endedAt: string },
): Promise<Observed | undefined> {
  const [from, to] = [new Date(startedAt), new Date(endedAt)];
  const late = (await observer?.late(from, to)) ?? [];
  return summarizeObserved(snapshots, observer?.problems(), late, from.getTime());
}

/** A minute of snapshots, which repeat their names, has 80 KB as text and some 10 KB as this, and takes half a millisecond. */
export const deflated: TextCompression = {
  // Copied: what zlib gives back stands in 16 KB of memory, however short it is.
  pack: (text) => Uint8Array.from(deflateRawSync(text, { level: 1 })),
  unpack: (packed) => inflateRawSync(packed).toString('utf8'),
};

/** What is measured of a run, from the first snapshot to the last: shown, and kept in its folder. */
export class SnapshotStore {
  /** For as long as the run lasts, of which it is the only part that grows. */
  private readonly held = new SnapshotHistory(deflated);
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
  counters: typeof writeCounterFile,
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
  const made = calibrationFromResult(result, path.basename(title));
  if (made === undefined) return;
  try {
    await saveCalibration(directory, made);
  } catch (error) {
    shell.say(
      'warning',
      shell.t('What Unit {0} carried was not kept: {1}.', made.unit, describeFileError(error)),
    );
  }
}

/** Writes the result; where its folder is gone or full, all that was measured goes to a new one. */
async function store(
  result: Result,
  { folder, request, startedAt, snapshots }: MeasuredRun,
  shell: Pick<Shell, 'say' | 't'>,
  counters: typeof writeCounterFile,
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
