import { connectPhases, type ConnectPhase } from '../../base/endpoint';
import { addErrors, type ErrorClass, type ErrorCounts } from '../../base/errorClass';
import { latenessUs } from '../../base/objectives/latency';
import type { JudgedConnections } from '../../base/objectives/objective';
import { LatencyHistogram } from '../histogram';
import { nameWorstAgent } from '../judge/verdict';
import {
  type ClockSample,
  type ConnectionCounts,
  type ConnectionSample,
  type GeneratorSample,
  LifeCounts,
  noConnections,
  type StepSample,
  TargetCounts,
  type UnsettledMessages,
  type WorkerSample,
} from '../sample';
import type {
  AgentProgress,
  AgentStep,
  ConnectionSummary,
  ConnectTimes,
  DroppedConnection,
  ErrorExample,
  LifeSummary,
  Quantiles,
  Verdict,
} from '../summary';
import { StepTotals, type StepFacts } from './stepTotals';

const examplesPerClass = 3;
const keptDrops = 100;
const connectionFields = Object.keys(noConnections) as (keyof ConnectionCounts)[];

const shortcomings: Readonly<Partial<Record<string, Parameters<AgentTotals['worst']>[1]>>> = {
  ...{ cpu: 'cpuShare', suspended: 'suspendedUs' },
  'send-rate': 'unsent',
};

export class RunTotals {
  readonly steps: StepTotals[] = [];
  readonly errors: ErrorCounts = {};
  readonly errorExamples: ErrorExample[] = [];
  private readonly soFar = new Map<number, ConnectionCounts>();
  private readonly connectionSums: Record<keyof ConnectionCounts, number> = { ...noConnections };
  private readonly sampledUs = new Map<number, number>();
  private readonly connectTimes = new LatencyHistogram();
  private readonly phaseTimes = new Map<ConnectPhase, LatencyHistogram>();
  private readonly drops: DroppedConnection[] = [];
  private readonly life = new LifeTotals();
  /** Of agents that were lost: what they had counted stays, what they held is gone. */
  private readonly lost = new Set<number>();
  private readonly unsettledOf = new Map<number, UnsettledMessages>();
  private readonly clockJumps = new Map<number, number>();
  rampSeconds = 0;
  private readonly targets: readonly TargetCounts[];
  private readonly agents: AgentTotals;

  /** `shown`: what may be shown of an error's text; `agentOf`: whose worker it is, from 0. */
  constructor(
    private readonly requested: number,
    private readonly shown: (text: string) => string = (text) => text,
    private readonly targetUrls: readonly string[] = [],
    private readonly agentOf: (worker: number) => number = () => 0,
  ) {
    this.agents = new AgentTotals(agentOf);
    this.targets = targetUrls.map(() => new TargetCounts());
  }

  beginStep(facts: StepFacts): StepTotals {
    this.steps.at(-1)?.pack();
    const totals = new StepTotals(facts);
    this.steps.push(totals);
    return totals;
  }

  add(sample: WorkerSample): void {
    const { worker, connections, generator } = sample;
    this.addSoFar(worker, connections.soFar);
    this.addConnections(connections);
    connections.targets?.forEach((target, at) => this.targets[at]?.add(target));
    for (const step of sample.steps) {
      const totals = this.steps[step.step - 1];
      totals?.add(step, sample.tick);
      if (step.ahead !== undefined) totals?.clocks.came(this.agentOf(worker), step.ahead);
    }
    if (sample.clock !== undefined) {
      this.addClock(this.agentOf(worker), sample.clock);
      this.agents.add(sample);
    }
    if (generator.step > 0) this.steps[generator.step - 1]?.addGenerator(worker, generator);
    addErrors(this.errors, sample.errors);
    for (const { errorClass, text } of sample.errorExamples) this.addExample(errorClass, text);
    this.sampledUs.set(worker, sample.atUs);
    if (sample.unsettled === undefined) this.unsettledOf.delete(worker);
    else this.unsettledOf.set(worker, sample.unsettled);
    let [leastUs, mostUs] = [Infinity, 0];
    for (const atUs of this.sampledUs.values()) {
      if (atUs < leastUs) leastUs = atUs;
      if (atUs > mostUs) mostUs = atUs;
    }
    this.steps.at(-1)?.watch(leastUs, mostUs, this.sumOfUnsettled('deliveries'));
  }

  private addSoFar(worker: number, counts: ConnectionCounts): void {
    const before = this.soFar.get(worker) ?? noConnections;
    const { connectionSums } = this;
    for (const field of connectionFields) connectionSums[field] += counts[field] - before[field];
    this.soFar.set(worker, counts);
  }

  private addClock(agent: number, { errorUs, jumps }: ClockSample): void {
    const more = Math.max(0, jumps - (this.clockJumps.get(agent) ?? 0));
    this.clockJumps.set(agent, jumps);
    const step = this.steps.at(-1);
    if (step?.verdict === undefined) step?.clocks.note(agent, { errorUs, jumps: more });
  }

  addMeasurements(agents: readonly AgentProgress[]): readonly AgentProgress[] {
    return this.agents.with(agents);
  }

  /** Names in the verdict on a step the agent that has kept its schedule worst, where that is a reason. */
  nameWorstAgent(verdict: Verdict, step: number, agents: readonly AgentProgress[] = []): Verdict {
    return nameWorstAgent(verdict, (code) => {
      const worst = this.agents.worst(step, shortcomings[code] ?? 'latenessUs');
      return agents.find(({ index }) => index === worst);
    });
  }

  lose(worker: number): void {
    this.lost.add(worker);
    this.sampledUs.delete(worker);
    this.unsettledOf.delete(worker);
  }

  get unsettled(): number {
    return this.sumOfUnsettled('messages');
  }

  private sumOfUnsettled(field: keyof UnsettledMessages): number {
    let sum = 0;
    for (const unsettled of this.unsettledOf.values()) sum += unsettled[field];
    return sum;
  }

  /** Of an error that no worker has met; returns its text as it may be shown. */
  addError(errorClass: ErrorClass, text: string, count = 1): string {
    addErrors(this.errors, { [errorClass]: count });
    return this.addExample(errorClass, text);
  }

  private addExample(errorClass: string, text: string): string {
    const example = { errorClass, text: this.shown(text) };
    const kept = this.errorExamples.filter((each) => each.errorClass === errorClass);
    const known = kept.some((each) => each.text === example.text);
    if (kept.length < examplesPerClass && !known) this.errorExamples.push(example);
    return example.text;
  }

  private addConnections({
    connectTimes,
    phaseTimes = {},
    droppedOnes = [],
    ...sample
  }: ConnectionSample): void {
    if (connectTimes !== undefined) this.connectTimes.add(connectTimes);
    for (const phase of connectPhases) {
      const counts = phaseTimes[phase];
      if (counts === undefined) continue;
      const times = this.phaseTimes.get(phase) ?? new LatencyHistogram();
      this.phaseTimes.set(phase, times);
      times.add(counts);
    }
    for (const drop of droppedOnes.slice(0, keptDrops - this.drops.length))
      this.drops.push({ ...drop, text: this.shown(drop.text) });
    this.life.add(sample);
  }

  /** Connections that are open now: those ever opened, without those that were closed and are not back. */
  get held(): number {
    let held = 0;
    for (const [worker, { connected, reconnected, drops, closed }] of this.soFar)
      if (!this.lost.has(worker)) held += connected + reconnected - drops - closed;
    return held;
  }

  private sum(field: keyof ConnectionCounts): number {
    return this.connectionSums[field];
  }

  connectionCounts(): JudgedConnections & Pick<ConnectionSummary, 'connected' | 'reconnected'> {
    const notBack = this.sum('notBack');
    return {
      requested: this.requested,
      connected: this.sum('connected'),
      failed: this.sum('failed'),
      dropped: this.sum('dropped'),
      reconnected: this.sum('reconnected'),
      ...(notBack > 0 && { notBack }),
    };
  }

  judgedConnections(requested: number): JudgedConnections {
    const connectAtShareUs = (share: number): number => this.connectTimes.valueAtShare(share);
    return { ...this.connectionCounts(), requested, connectAtShareUs };
  }

  get connectUs(): ConnectTimes {
    return timesOf(this.connectTimes);
  }

  connections(): ConnectionSummary {
    const counts = this.connectionCounts();
    const { connected, reconnected } = counts;
    const life = this.life.summary(this.sum('drops'), this.sum('closed'), reconnected);
    const phases = connectPhases.flatMap((phase) => {
      const times = this.phaseTimes.get(phase);
      return times === undefined ? [] : [[phase, timesOf(times)] as const];
    });
    return {
      ...counts,
      connectUs: this.connectUs,
      connectPhasesUs: Object.fromEntries(phases),
      ...(this.rampSeconds > 0 && {
        openedPerSecond: (connected - this.sum('openedLate')) / this.rampSeconds,
      }),
      pings: { sent: this.sum('pingsSent'), received: this.sum('pingsReceived') },
      drops: this.drops,
      ...(life !== undefined && { life }),
      ...(this.targets.length > 1 && {
        targets: this.targets.map((target, at) => {
          const { connected, failed, dropped, received, connectTimes, latency } = target;
          const times = { connectUs: timesOf(connectTimes), latencyUs: latency.summary() };
          return { url: this.targetUrls[at]!, connected, failed, dropped, received, ...times };
        }),
      }),
    };
  }
}

function timesOf(histogram: LatencyHistogram): ConnectTimes {
  const { p50, p99, max } = histogram.summary();
  return { p50, p99, max };
}

export class LifeTotals {
  private readonly reconnectTimes = new LatencyHistogram();
  private readonly counts = new LifeCounts();

  add({ reconnectTimes, life }: Pick<ConnectionSample, 'reconnectTimes' | 'life'>): void {
    if (reconnectTimes !== undefined) this.reconnectTimes.add(reconnectTimes);
    if (life !== undefined) this.counts.add(life);
  }

  /** Undefined until the workers have reported it, at the end of a run whose connections come and go. */
  summary(drops: number, closed: number, reconnects: number): LifeSummary | undefined {
    const { lifeMs, downMs, unavailableMillionths, lifeUs, downUs } = this.counts;
    if (lifeMs.count === 0) return undefined;
    const { p50, p90, p95, p99 } = unavailableMillionths.summary();
    const share = (millionths: number): number => 1 - millionths / 1_000_000;
    return {
      ...{ drops, closed, reconnects, reconnectUs: quantilesOf(this.reconnectTimes) },
      ...{ lifeSpanMs: quantilesOf(lifeMs), downMs: quantilesOf(downMs) },
      sla: {
        mean: lifeUs > 0 ? 1 - downUs / lifeUs : 1,
        ...{ p50: share(p50), p90: share(p90), p95: share(p95), p99: share(p99) },
      },
    };
  }
}

function quantilesOf(histogram: LatencyHistogram): Quantiles {
  const { p50, p90, p95, p99 } = histogram.summary();
  return { p50, p90, p95, p99 };
}

export class AgentTotals {
  private readonly agents = new Map<number, OneAgent>();

  constructor(private readonly agentOf: (worker: number) => number) {}

  add({ worker, steps, generator }: Pick<WorkerSample, 'worker' | 'steps' | 'generator'>): void {
    const index = this.agentOf(worker);
    const agent = this.agents.get(index) ?? new OneAgent();
    this.agents.set(index, agent);
    for (const step of steps) agent.add(step);
    if (generator.step > 0) agent.addGenerator(worker, generator);
  }

  with(agents: readonly AgentProgress[]): AgentProgress[] {
    return agents.map((agent) => {
      const lastStep = this.lastStepOf(agent.index - 1);
      return { ...agent, ...(lastStep && { lastStep }) };
    });
  }

  /** The agent, from 1, whose part of that step is the worst by this measure; undefined where none has any. */
  worst(step: number, by: Shortcoming): number | undefined {
    let worst: { readonly index: number; readonly value: number } | undefined;
    for (const [agent, totals] of this.agents) {
      const found = totals.summary();
      if (found?.index !== step) continue;
      const { [by]: value } = { ...found, ...totals.shortcomings };
      if (value > (worst?.value ?? 0)) worst = { index: agent + 1, value };
    }
    return worst?.index;
  }

  lastStepOf(agent: number): AgentStep | undefined {
    return this.agents.get(agent)?.summary();
  }
}

type Shortcoming = 'cpuShare' | keyof OneAgent['shortcomings'];

class OneAgent {
  private step = 0;
  /** Messages that were due and did not leave, the longest time in which a worker did not run, and how late it was. */
  shortcomings = { unsent: 0, suspendedUs: 0, latenessUs: 0 };
  private sent = 0;
  private received = 0;
  private readonly loads = new Map<
    number,
    Pick<GeneratorSample, 'elapsedUs' | 'busyUs' | 'gcUs'>
  >();
  private readonly histograms = {
    latency: new LatencyHistogram(),
    slip: new LatencyHistogram(),
    loopDelay: new LatencyHistogram(),
  };

  add(sample: StepSample): void {
    const { step, offered, sent, received, latency, slip, suspendedUs = 0 } = sample;
    const { slipMaxUs = 0, readGapMaxUs = 0 } = sample;
    // What comes late of a step before is in no later one.
    if (!this.isOf(step)) return;
    const { shortcomings } = this;
    shortcomings.unsent += offered - sent;
    shortcomings.suspendedUs = Math.max(shortcomings.suspendedUs, suspendedUs);
    const byUs = latenessUs({ slipMaxUs, readGapMaxUs });
    shortcomings.latenessUs = Math.max(shortcomings.latenessUs, byUs);
    this.sent += sent;
    this.received += received;
    if (latency !== undefined) this.histograms.latency.add(latency);
    if (slip !== undefined) this.histograms.slip.add(slip);
  }

  addGenerator(
    worker: number,
    { step, elapsedUs, busyUs, gcUs, loopDelay }: GeneratorSample,
  ): void {
    if (!this.isOf(step)) return;
    const before = this.loads.get(worker) ?? { elapsedUs: 0, busyUs: 0, gcUs: 0 };
    this.loads.set(worker, {
      elapsedUs: before.elapsedUs + elapsedUs,
      busyUs: before.busyUs + busyUs,
      gcUs: before.gcUs + gcUs,
    });
    if (loopDelay !== undefined) this.histograms.loopDelay.add(loopDelay);
  }

  private isOf(step: number): boolean {
    if (step > this.step) {
      [this.step, this.sent, this.received] = [step, 0, 0];
      this.shortcomings = { unsent: 0, suspendedUs: 0, latenessUs: 0 };
      this.loads.clear();
      for (const histogram of Object.values(this.histograms)) histogram.take(true);
    }
    return step === this.step;
  }

  summary(): AgentStep | undefined {
    const { step, sent, received, loads } = this;
    const { latency, slip, loopDelay } = this.histograms;
    if (step === 0) return undefined;
    const busiest = (part: 'busyUs' | 'gcUs'): number =>
      [...loads.values()].reduce(
        (most, load) =>
          load.elapsedUs > 0 ? Math.min(1, Math.max(most, load[part] / load.elapsedUs)) : most,
        0,
      );
    return {
      ...{ index: step, sent, received },
      ...(latency.count > 0 && { p99Us: latency.valueAtShare(0.99) }),
      ...{ cpuShare: busiest('busyUs'), gcShare: busiest('gcUs') },
      ...{ loopDelayP99Us: loopDelay.valueAtShare(0.99), slipP99Us: slip.valueAtShare(0.99) },
    };
  }
}
