import { say, sentence, type Words } from '../../base/sentence';
import { createReason } from '../../measure/judge/reason';
import type { Event } from '../../base/async';
import { closeMarginUs } from '../../base/message';
import type { Snapshot, Phase, StepProgress } from '../../measure/snapshot';
import type {
  AgentProgress,
  AgentSummary,
  Ending,
  RunSummary,
  Verdict,
  ConnectionSummary,
} from '../../measure/summary';
import type { RunTotals } from '../../measure/total/runTotals';
import type { Plan, PlanEntry, PlanStep } from '../../plan/plan';
import type { StartWorkers, WorkerHost } from '../../messages/worker';
import type { SecretHider } from '../../targets/identities/rowSecrets';
import type { IdentityCalls, SignInPasses, TargetProblems } from '../../targets/target';
import type { StepSource } from './stepSource';
import type { StepSoFar } from '../../measure/judge/abortWatch';
import type { JudgedConnections } from '../../base/objectives/objective';
import { totalErrors } from '../../base/errorClass';
import type { Slo } from '../../base/slo';
import { counterEdgesUs } from '../../measure/histogram';
import { RecoveryWatch } from '../../measure/judge/stepWatches';
import type { SearchSummary } from '../../base/searchSummary';
import type { StepFacts, StepTotals } from '../../measure/total/stepTotals';
import type { MergedTick } from '../../measure/sample';
import type { RateWindows } from '../../measure/total/tickMerger';
import { senderCount } from '../../plan/population';
import type { CpuMeter } from '../machineClock';
import { listCalls, isListenOnly, numberDuplicates, stepsIn } from '../../usecases/sessionSteps';
import { allConnectionsLostWords, couldNotConnectWords } from '../../measure/judge/hubComplaint';
import { leadTimings } from './waiting';

export interface ConductorContext {
  readonly startWorkers: StartWorkers;
  readonly keepGoing: boolean;
  readonly steps?: StepSource;
  /** Time for which the target was probed before the run. */
  readonly askedMs?: number;
  readonly secrets: readonly string[];
  readonly hider?: SecretHider;
  readonly nowUs: () => number;
  readonly targetUrls: readonly string[];
  readonly target: RunSummary['target'];
  readonly problems?: TargetProblems | undefined;
  readonly passes?: SignInPasses;
  readonly identityCalls?: IdentityCalls;
  readonly machine: RunSummary['machine'];
}

/** `stopped` by a person or program, `interrupted` by a signal. */
export type StopReason = 'stopped' | 'interrupted';

export interface Run {
  readonly onSnapshot: Event<Snapshot>;
  /** Resolves on every ending; rejects only for a defect of ours. */
  readonly finished: Promise<RunSummary>;
  /** Ends the run in order and keeps what was measured; a second call closes at once. */
  stop(reason: StopReason): void;
}

export type EndingReason = () => Words;

interface Ended {
  readonly ending: Ending;
  readonly endingWords: Words | undefined;
  readonly endingStack: string | undefined;
  readonly startedAt: Date;
  readonly elapsedUs: number;
}

interface Led {
  readonly plan: Plan;
  readonly context: ConductorContext;
  readonly totals: RunTotals;
  readonly steps: StepSource;
  readonly workers: WorkerHost;
}

const atEnd = ({ status, ...agent }: AgentProgress): AgentSummary => ({
  ...agent,
  status: status === 'lost' || status === 'left' ? status : 'done',
});

export function runSummary(
  { plan: { slo }, context: { target, machine }, totals, steps, workers }: Led,
  { ending, endingWords, endingStack, startedAt, elapsedUs }: Ended,
): RunSummary {
  const cutShort: Verdict = {
    status: 'incomplete',
    reasons: [createReason(ending, sentence('the step was cut short'))],
  };
  const search = steps.found?.(ending, elapsedUs);
  const begun = totals.steps.filter((step) => step.seconds > 0 || step.sent > 0);
  return {
    startedAt: startedAt.toISOString(),
    endedAt: new Date(startedAt.getTime() + elapsedUs / 1000).toISOString(),
    ending,
    ...(endingWords === undefined ? {} : { endingWords, endingMessage: say(endingWords) }),
    ...(endingStack === undefined ? {} : { endingStack }),
    target,
    machine,
    ...(workers.agents && { agents: totals.addMeasurements(workers.agents()).map(atEnd) }),
    connections: withoutIdleLife(totals.connections(), search),
    steps: begun.map((step) => step.summary(slo, cutShort)),
    plannedSteps: steps.count,
    ...(search && { search }),
    errors: totals.errors,
    errorExamples: totals.errorExamples,
  };
}

export interface RunningStep {
  readonly plan: PlanStep;
  readonly totals: StepTotals;
  /** Run time in microseconds. */
  readonly measureUs: number;
  /** When its last message left, as reported; at least the end of the step. */
  sentUs: number;
  readonly before: JudgedConnections;
  cpu?: CpuMeter;
}

export function stepFacts(plan: Plan, step: PlanStep): StepFacts {
  const names = numberDuplicates(plan.entries.map(({ useCase }) => useCase));
  return {
    index: step.index,
    senders: step.senders,
    // Each step of a search may be the last.
    isLast: plan.search !== undefined || step.index % (plan.cycle ?? plan.steps.length) === 0,
    listens: plan.entries.every((entry, at) => senderCount(step, at) === 0 || listens(entry)),
    byCalls: plan.entries.some((entry) => entry.run.via === 'rest'),
    ...(names.length > 1
      ? {
          entries: names.map((name, at) => ({
            ...{ name, senders: senderCount(step, at) },
            ...callFacts(plan, plan.entries[at]!, senderCount(step, at)),
          })),
        }
      : callFacts(plan, plan.entries[0]!, step.senders)),
  };
}

const listens = ({ run: { session } }: PlanEntry): boolean =>
  session !== undefined && listCalls(stepsIn(session)).every(({ step }) => step.kind === 'on');

function callFacts(
  { connections }: Plan,
  { run: { session }, tracks }: PlanEntry,
  senders: number,
): Pick<StepFacts, 'calls'> {
  if (session === undefined) return {};
  // Senders are drawn: each recorded client is replayed equally often only if all send.
  const replays = senders === connections ? connections / (tracks?.clients ?? 1) : NaN;
  const calls = listCalls(stepsIn(session)).map(({ name, step, times = 1 }) => ({
    name,
    ...(times !== 1 && tracks === undefined && { times }),
    ...(tracks &&
      'recorded' in step &&
      Number.isInteger(replays) && { recorded: (step.recorded ?? 0) * replays }),
    ...(step.kind === 'on' && isListenOnly(step) && { comes: step.event }),
  }));
  return { calls };
}

export function measuredSeconds({ plan, measureUs }: RunningStep, nowUs: number): number {
  return Math.max(0, Math.min((nowUs - measureUs) / 1_000_000, plan.measureMs / 1000));
}

/** As of the last report: later counts are not known yet. */
export function measuredSoFar(
  { totals, measureUs }: RunningStep,
  connections: JudgedConnections,
): StepSoFar {
  const { knownUs } = totals;
  const measuredMs = Math.max(0, knownUs - measureUs) / 1000;
  return { deliveries: totals.deliveries(), connections, knownUs, measuredMs };
}

export function stepProgress(
  step: RunningStep,
  connections: JudgedConnections,
  sampledUs: number,
): StepProgress {
  const { plan, totals, measureUs } = step;
  const totalS = plan.measureMs / 1000;
  const passedS = Math.max(0, Math.min(totalS, (sampledUs - measureUs) / 1_000_000));
  const elapsedS = totals.seconds > 0 ? totals.seconds : passedS;
  const { duplicated, outOfOrder, payloadBytesIn, payloadBytesOut, entries } = totals;
  const waiting = totals.waiting();
  const warmupErrors = totalErrors(totals.warmupErrors);
  const messages = totals.messageProgress(plan.senders, elapsedS);
  const clocks = totals.clockFacts();
  const inside = totals.latencySameAgent;
  const pushed = totals.pushed.summary(elapsedS);
  const plannedMs = plan.stages === undefined ? plan.measureMs : undefined;
  const objectives = totals.verdict === undefined ? totals.objectives : undefined;
  const missed = objectives?.unmet(measuredSoFar(step, connections), plannedMs);
  return {
    index: plan.index,
    ...messages,
    ...(missed && { missed }),
    over: totals.verdict !== undefined,
    ...(totals.verdict && { verdict: totals.verdict.status }),
    ...{ elapsedS, totalS, duplicated, outOfOrder, payloadBytesIn, payloadBytesOut },
    ...(pushed.length > 0 && { pushed }),
    ...(waiting && { waiting }),
    latencyClasses: totals.latency.classCounts(counterEdgesUs),
    errors: totalErrors(totals.errors),
    ...(warmupErrors > 0 && { warmupErrors }),
    ...(entries.length > 0 && { entries: entries.map((entry) => entry.progress(elapsedS)) }),
    ...clocks,
    ...(clocks.clockErrorUs && { latencySameAgentUs: inside.summary() }),
    ...totals.sessionProgress(),
    generator: totals.generator(),
  };
}

export function connectionProgress(totals: RunTotals, takingPart: number): Snapshot['connections'] {
  const { requested, connected, failed, dropped, reconnected } = totals.connectionCounts();
  return {
    ...{ requested, connected, failed, dropped, takingPart },
    ...(reconnected > 0 && { reconnected }),
    connectP99Us: totals.connectUs.p99,
  };
}

/** Keeps snapshots small: with many agents they are included less often. */
const agentsPerTick = 50;

export function agentProgress(
  tick: number,
  totals: RunTotals,
  workers: Pick<WorkerHost, 'agents'>,
): Pick<Snapshot, 'agents'> {
  const agents = workers.agents?.() ?? [];
  const isDue = agents.length > 0 && tick % Math.ceil(agents.length / agentsPerTick) === 0;
  return isDue ? { agents: totals.addMeasurements(agents) } : {};
}

export function tickInterval(
  tick: MergedTick | undefined,
  windows: RateWindows,
): Pick<Snapshot, 'interval'> {
  if (tick === undefined || tick.offered + tick.received === 0) return {};
  const { offered, sent, latencyUs } = tick;
  // An ambiguous delivery may be subtracted in a later second.
  const received = Math.max(0, tick.received);
  return { interval: { ...windows.within(tick.tick), offered, sent, received, latencyUs } };
}

const pollMs = 20;

export class RecoveryPolling {
  private watch: RecoveryWatch | undefined;
  private timer: NodeJS.Timeout | undefined;
  private deadSinceUs: number | undefined;

  constructor(
    private readonly plan: Plan,
    private readonly slo: Slo,
    private readonly nowUs: () => number,
    private readonly openConnections: () => number,
  ) {}

  /** Call at the begin of the measured time; does nothing without reconnects. */
  begin({ plan: step, totals, measureUs }: RunningStep): void {
    const { life } = this.plan;
    this.watch = undefined;
    // With lifetimes alone some connections are always missing.
    if (life === undefined || (!life.repair && life.dropAllAfterMs === undefined)) return;
    const { dropAllAfterMs } = life;
    const stormUs = dropAllAfterMs === undefined ? undefined : measureUs + dropAllAfterMs * 1000;
    const watch = new RecoveryWatch({
      slo: this.slo,
      connections: this.openConnections(),
      measureUs,
      endUs: measureUs + step.measureMs * 1000,
      ...(stormUs !== undefined && { storm: { fromUs: stormUs - closeMarginUs, atUs: stormUs } }),
      sends: step.senders > 0,
    });
    this.watch = totals.recovery = watch;
    this.timer = setInterval(() => this.look(), pollMs);
  }

  private look(): void {
    this.watch?.open(this.nowUs(), this.openConnections());
  }

  deadForMs(): number {
    const nowUs = this.nowUs();
    if (this.openConnections() > 0) this.deadSinceUs = undefined;
    else this.deadSinceUs ??= nowUs;
    return (nowUs - (this.deadSinceUs ?? nowUs)) / 1000;
  }

  end(): void {
    clearInterval(this.timer);
  }

  tick(tick: MergedTick): void {
    this.watch?.second(tick);
  }
}

/** A search turns on reconnects by itself: without drops there is nothing to report. */
export function withoutIdleLife(
  { life, ...connections }: ConnectionSummary,
  search: SearchSummary | undefined,
): ConnectionSummary {
  const isIdle = search !== undefined && life !== undefined && life.drops + life.closed === 0;
  return life === undefined || isIdle ? connections : { ...connections, life };
}

/** Each step of a search is judged by its own losses, the first also by connecting. */
export function judgedConnectionsOf(
  step: RunningStep,
  totals: RunTotals,
  requested: number,
  { search }: Plan,
): JudgedConnections {
  const now = totals.judgedConnections(requested);
  return search !== undefined && step.plan.index > 1 ? lostSince(step.before, now) : now;
}

const lostSince = (before: JudgedConnections, now: JudgedConnections): JudgedConnections => ({
  requested: now.requested,
  failed: Math.max(0, now.failed - before.failed),
  dropped: Math.max(0, now.dropped - before.dropped),
  notBack: Math.max(0, (now.notBack ?? 0) - (before.notBack ?? 0)),
});

export function describeLostTarget(
  phase: Phase,
  plan: Plan,
  totals: RunTotals,
  recovery: RecoveryPolling,
  workers: WorkerHost,
  targetUrl: string,
): (() => Words) | undefined {
  const { requested, connected, failed, dropped } = totals.connectionCounts();
  if (phase === 'connecting') {
    const isHopeless =
      connected === 0 && failed >= Math.min(leadTimings.hopelessConnects, requested);
    return isHopeless ? () => describeUnreachable(totals, targetUrl) : undefined;
  }
  const isDead = (): boolean =>
    plan.life === undefined
      ? // A client that recovers its socket was dropped, and takes part all the same.
        connected === dropped && workers.takingPart() === 0
      : recovery.deadForMs() > (plan.search ? leadTimings.deadInSearchMs : leadTimings.deadMs);
  if (connected === 0 || !isDead() || phase === 'closing' || phase === 'done') return undefined;
  return () => allConnectionsLostWords(connected, totals.errorExamples);
}

export function describeUnreachable({ errorExamples }: RunTotals, targetUrl: string): Words {
  const [, host] = /^\w+:\/\/([^/\s?#,]+)/.exec(targetUrl) ?? [];
  const isOne = !targetUrl.includes(',');
  return couldNotConnectWords(errorExamples, (isOne && host) || 'the target');
}
