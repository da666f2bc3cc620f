import path from 'node:path';
import { Emitter } from '../base/event';
import { HeldSnapshots, type Snapshot } from '../measure/snapshot';
import type { RunSummary } from '../measure/summary';
import { redactText } from '../results/redact';
import { toolVersion, type Result } from '../results/result';
import { readCalibrations } from '../results/calibrations';
import { searchStepOf } from '../plan/buildPlan';
import type { Run, StopReason } from '../engine/lead/conductor';
import { SearchedSteps } from '../engine/lead/stepSource';
import { deflated, keepResult, type FinishedRun } from './keepResult';
import { observedOver, withObserved } from './observing';
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
  // For as long as the run lasts, of which it is the only part that grows.
  private readonly kept = new HeldSnapshots(deflated);
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
    running.onSnapshot((snapshot) => this.take(withObserved(snapshot, prepared.observer)));
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
      const scenarioName = path.basename(prepared.request.title);
      const of = { id: prepared.folder.id, scenarioName, toolVersion, calibrations };
      const measured = { ...summary, ...times };
      const result = await parts.completeResult(measured, prepared.scenario, of);
      const run = { ...prepared, kept: this.kept };
      const observed = await observedOver(this.kept.all, prepared.observer, result);
      const seen = observed ? { ...result, observed } : result;
      const finished = await keepResult(seen, run, shell, parts.writeCounters);
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
