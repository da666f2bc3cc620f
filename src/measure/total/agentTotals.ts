import { LatencyHistogram } from '../histogram';
import type { GeneratorSample, StepSample, WorkerSample } from '../sample';
import type { AgentProgress, AgentStep } from '../summary';

/** What each agent has measured in the last step that it was part of, and how well it kept its schedule there. */
export class AgentTotals {
  private readonly agents = new Map<number, OneAgent>();

  /** @param agentOf whose worker it is, from 0 */
  constructor(private readonly agentOf: (worker: number) => number) {}

  add({ worker, steps, generator }: Pick<WorkerSample, 'worker' | 'steps' | 'generator'>): void {
    const index = this.agentOf(worker);
    const agent = this.agents.get(index) ?? new OneAgent();
    this.agents.set(index, agent);
    for (const step of steps) agent.add(step);
    if (generator.step > 0) agent.addGenerator(worker, generator);
  }

  /** Agents with what they have measured. */
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

  /** Absent where it has measured nothing. */
  lastStepOf(agent: number): AgentStep | undefined {
    return this.agents.get(agent)?.summary();
  }
}

type Shortcoming = 'cpuShare' | 'slipP99Us' | 'suspendedUs' | 'unsent';

class OneAgent {
  private step = 0;
  /** Messages that were due and did not leave, and the longest time in which a worker did not run. */
  shortcomings = { unsent: 0, suspendedUs: 0 };
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

  add({ step, offered, sent, received, latency, slip, suspendedUs = 0 }: StepSample): void {
    // What comes late of a step before is in no later one.
    if (!this.isOf(step)) return;
    const { shortcomings } = this;
    shortcomings.unsent += offered - sent;
    shortcomings.suspendedUs = Math.max(shortcomings.suspendedUs, suspendedUs);
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

  /** Begins the step where it is a later one. */
  private isOf(step: number): boolean {
    if (step > this.step) {
      [this.step, this.sent, this.received] = [step, 0, 0];
      this.shortcomings = { unsent: 0, suspendedUs: 0 };
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
