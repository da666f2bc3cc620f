import path from 'node:path';
import { Emitter, type Event } from '../base/async';
import type { Snapshot } from '../measure/snapshot';
import { SnapshotHistory, type TextCompression } from '../measure/snapshotHistory';
import type { RunSummary } from '../measure/summary';
import { redactText } from '../results/redact';
import { toolVersion, type Result } from '../results/result';
import { readCalibrations, calibrationFromResult, saveCalibration } from '../results/historyFiles';
import { createSearchStep } from '../plan/buildPlan';
import type { Run, StopReason } from '../engine/lead/run';
import { SearchedSteps } from '../engine/lead/stepSource';
import { type PreparedRun, type RunParts, tryCreateFolder } from './prepareRun';
import type { Shell, RunRequest } from './shell';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { summarizeObserved, type Observed } from '../measure/observed';
import type { writeCounterFile } from '../results/counters/counterFile';
import { describeFileError, type ResultFolder } from '../results/resultFolder';
import type { Observer } from './observe/openObserver';

/** Starts a prepared run. */
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
      plan.search &&
      new SearchedSteps(plan.search, createSearchStep(prepared.scenario), plan.agents);
    const deps = { workerScript, keepGoing, askedMs, steps };
    const running = await parts.startRun(plan, target, deps);
    return new RunSession(running, prepared, shell, parts);
  } catch (error) {
    await prepared.dispose();
    throw error;
  }
}

/** A run from its first connection to its stored result. */
export class RunSession {
  folder: string;
  /** Settles when the result is stored and the target closed. */
  readonly finished: Promise<FinishedRun>;
  private readonly store: SnapshotStore;
  private readonly endEmitter = new Emitter<void>();
  private readonly resultEmitter = new Emitter<Result>();
  readonly onSnapshot: Event<Snapshot>;
  readonly onEnd = this.endEmitter.event;
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

  /** Ends in order; a second call closes at once. */
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

/** Times of the run, moved to the start that names its folder. */
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

function withObserved(snapshot: Snapshot, observer: Observer | undefined): Snapshot {
  const observed = observer?.values() ?? {};
  return Object.keys(observed).length === 0 ? snapshot : { ...snapshot, observed };
}

async function observedOver(
  snapshots: readonly Snapshot[],
  observer: Observer | undefined,
  { startedAt, endedAt }: { readonly startedAt: string; readonly endedAt: string },
): Promise<Observed | undefined> {
  const [from, to] = [new Date(startedAt), new Date(endedAt)];
  const late = (await observer?.late(from, to)) ?? [];
  return summarizeObserved(snapshots, observer?.problems(), late, from.getTime());
}

/** A minute of snapshots: 80 KB of text, 10 KB packed, in half a millisecond. */
export const deflated: TextCompression = {
  // Copied: zlib's buffer has 16 KB however short its content.
  pack: (text) => Uint8Array.from(deflateRawSync(text, { level: 1 })),
  unpack: (packed) => inflateRawSync(packed).toString('utf8'),
};

/** Snapshots of a run: shown and stored. */
export class SnapshotStore {
  /** The only part of a run that grows. */
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

  async observed(result: Result): Promise<Result> {
    const observed = await observedOver(this.all, this.observer, result);
    return observed ? { ...result, observed } : result;
  }
}

export interface FinishedRun {
  readonly result: Result;
  readonly folder: string | undefined;
}

interface MeasuredRun {
  readonly folder: ResultFolder;
  readonly request: RunRequest;
  readonly startedAt: Date;
  readonly snapshots: SnapshotStore;
}

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

async function compared(result: Result, { baseline }: RunRequest): Promise<Result> {
  if (baseline === undefined) return result;
  const { compareResults } = await import(
    /* webpackChunkName: "sharedLater" */ '../results/compare/compareResults.js'
  );
  return { ...result, baseline: compareResults(baseline.result, result, baseline) };
}

/** A search on a known size calibrates later runs. */
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
      shell.t(
        'The load measured for Unit {0} could not be saved for later runs: {1}.',
        made.unit,
        describeFileError(error),
      ),
    );
  }
}

/** Where the folder is gone or full, everything goes to a new one. */
async function store(
  result: Result,
  { folder, request, startedAt, snapshots }: MeasuredRun,
  shell: Pick<Shell, 'say' | 't'>,
  counters: typeof writeCounterFile,
): Promise<FinishedRun> {
  const write = async (to: ResultFolder, what: Result): Promise<boolean> => {
    if (!(await to.writeResult(what))) return false;
    await counters(to.path, what, (message) => shell.say('warning', message));
    return true;
  };
  if (await write(folder, result)) return { result, folder: folder.path };
  const refusals: string[] = [];
  for (const directory of [...request.directories, request.spareDirectory ?? []].flat()) {
    const other = await tryCreateFolder(directory, request, startedAt, shell);
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
