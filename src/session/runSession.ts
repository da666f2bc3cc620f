import path from 'node:path';
import { Emitter } from '../base/event';
import { HeldSnapshots, type Snapshot } from '../measure/snapshot';
import type { RunSummary } from '../measure/summary';
import { redactText } from '../results/redact';
import { toolVersion, type Result } from '../results/result';
import { calibrationOf, keepCalibration, readCalibrations } from '../results/calibrations';
import { fileProblem, type ResultFolder } from '../results/resultFolder';
import { searchStepOf } from '../plan/buildPlan';
import type { Run, StopReason } from '../runner/lead/conductor';
import { SearchedSteps } from '../runner/lead/stepSource';
import { folderIn, type PreparedRun, type RunParts } from './prepareRun';
import type { Shell } from './shell';

export interface FinishedRun {
  readonly result: Result;
  /** Folder of the result; undefined when it could be written nowhere. */
  readonly folder: string | undefined;
}

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
    const steps = plan.search && new SearchedSteps(plan.search, searchStepOf(prepared.scenario));
    const deps = { workerScript, keepGoing, askedMs, ...(steps && { steps }) };
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
  private readonly kept = new HeldSnapshots();
  private readonly snapshotEmitter = new Emitter<Snapshot>();
  private readonly endEmitter = new Emitter<void>();
  private readonly resultEmitter = new Emitter<Result>();
  readonly onSnapshot = this.snapshotEmitter.event;
  /** The load is over; what comes is the result. */
  readonly onEnd = this.endEmitter.event;
  /** The result is stored, as far as it can be. */
  readonly onResult = this.resultEmitter.event;
  private problem: string | undefined;

  constructor(
    private readonly running: Run,
    private readonly prepared: PreparedRun,
    private readonly shell: Pick<Shell, 'say' | 't'>,
    private readonly parts: Parameters<typeof runSession>[2],
  ) {
    this.folder = prepared.folder.path;
    running.onSnapshot((snapshot) => this.take(snapshot));
    this.finished = this.follow();
  }

  get snapshots(): readonly Snapshot[] {
    return this.kept.all;
  }

  /** Ends the run in order; what was measured is kept. A second call closes at once. */
  stop(reason: StopReason): void {
    this.running.stop(reason);
  }

  private take(snapshot: Snapshot): void {
    this.prepared.folder.appendSample(snapshot);
    this.kept.add(snapshot);
    this.snapshotEmitter.fire(snapshot);
    const { problem } = snapshot;
    if (problem !== undefined && problem !== this.problem)
      this.shell.say('server', redactText(problem));
    this.problem = problem;
  }

  private async follow(): Promise<FinishedRun> {
    const { prepared, parts, shell } = this;
    try {
      const summary = await this.running.finished.finally(() => this.endEmitter.fire());
      if (summary.endingStack !== undefined) shell.say('stack', redactText(summary.endingStack));
      const times = timesFrom(prepared.startedAt, summary);
      const beside = path.dirname(prepared.folder.path);
      const calibrations = await readCalibrations(beside);
      const of = { id: prepared.folder.id, toolVersion, calibrations };
      const measured = { ...summary, ...times };
      const result = await parts.completeResult(measured, prepared.scenario, of);
      const finished = await this.store(await this.compared(result));
      await this.calibrate(finished.result, beside);
      this.resultEmitter.fire(finished.result);
      return finished;
    } finally {
      await prepared.dispose();
    }
  }

  /** With what a comparison with the baseline says, where one was asked for. */
  private async compared(result: Result): Promise<Result> {
    const { baseline } = this.prepared.request;
    if (baseline === undefined) return result;
    const { compareResults } = await import(
      /* webpackChunkName: "run" */ '../results/compare/compareResults.js'
    );
    return { ...result, baseline: compareResults(baseline.result, result, baseline) };
  }

  /** A search on a known size is kept for the runs to come. */
  private async calibrate(result: Result, directory: string): Promise<void> {
    const { shell, prepared } = this;
    const made = calibrationOf(result, path.basename(prepared.request.title));
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
  private async store(result: Result): Promise<FinishedRun> {
    const { prepared, shell } = this;
    const { folder, request, startedAt } = prepared;
    if (await this.write(folder, result)) return { result, folder: folder.path };
    const refusals: string[] = [];
    for (const directory of [...request.directories, request.spareDirectory ?? []].flat()) {
      const other = await folderIn(directory, request, startedAt, shell);
      if (typeof other === 'string') {
        refusals.push(other);
        continue;
      }
      try {
        for (const snapshot of this.kept.all) other.appendSample(snapshot);
        const moved = { ...result, id: other.id };
        if (!(await this.write(other, moved))) continue;
        this.folder = other.path;
        shell.say('warning', shell.t('The result was written to {0} instead.', other.path));
        return { result: moved, folder: other.path };
      } finally {
        await other.dispose();
      }
    }
    shell.say('unstored', refusals.join(' '));
    return { result, folder: undefined };
  }

  /** False when the result cannot be written. */
  private async write(folder: ResultFolder, result: Result): Promise<boolean> {
    if (!(await folder.writeResult(result))) return false;
    await this.parts.writeCounters(folder.path, result, (message) =>
      this.shell.say('warning', message),
    );
    return true;
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
