import path from 'node:path';
import { Emitter, type Event } from '../base/async';
import type { Snapshot } from '../measure/snapshot';
import type { RunSummary } from '../measure/summary';
import { redactText } from '../results/redact';
import { toolVersion, type Result } from '../results/result';
import { readCalibrations } from '../results/historyFiles';
import { searchStepOf } from '../plan/buildPlan';
import type { Run, StopReason } from '../engine/lead/run';
import { SearchedSteps } from '../engine/lead/stepSource';
import { keepResult, SnapshotStore, type FinishedRun } from './keepResult';
import type { PreparedRun, RunParts } from './prepareRun';
import type { Shell } from './shell';

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
