import { addErrors, type ErrorCounts } from '../base/errorClass';
import type { Slo } from '../base/slo';
import { LatencyHistogram } from './histogram';
import type { GeneratorSample, StepSample } from './sample';
import { StepCounts } from './stepCounts';
import type { GeneratorHealth, StepSummary, Verdict } from './summary';
import { generatorProblems, judgeStep } from './verdict';

/** What a plan says about a step, as far as its numbers need it. */
export interface StepFacts {
  readonly index: number;
  readonly senders: number;
  readonly messageBytes: number;
}

/** One worker's load over the measured time of a step. */
interface WorkerLoad {
  elapsedUs: number;
  busyUs: number;
  gcUs: number;
}

/** Sums of what all workers counted for one step; percentiles are taken from the sums only. */
export class StepTotals extends StepCounts {
  private readonly errors: ErrorCounts = {};
  readonly latency = new LatencyHistogram();
  private readonly sendLatency = new LatencyHistogram();
  private readonly slip = new LatencyHistogram();
  private readonly loopDelay = new LatencyHistogram();
  private readonly loads = new Map<number, WorkerLoad>();
  /** CPU time of the process over the measured time, set when that is over. */
  cpuUs = 0;
  /** Measured time, set while and when it passes. */
  seconds = 0;
  /** Set once, after the drain: late deliveries no longer change it. */
  verdict: Verdict | undefined;

  constructor(readonly facts: StepFacts) {
    super();
  }

  add(sample: StepSample): void {
    this.addCounts(sample);
    addErrors(this.errors, sample.errors);
    if (sample.latency !== undefined) this.latency.add(sample.latency);
    if (sample.sendLatency !== undefined) this.sendLatency.add(sample.sendLatency);
    if (sample.slip !== undefined) this.slip.add(sample.slip);
  }

  /**
   * Deliveries as expected, and what came beyond: a server that invents messages must not hide a loss
   * nor turn it negative.
   */
  private delivered(): { received: number; extra: number } {
    const surplus = Math.max(0, this.received - this.expected);
    return { received: this.received - surplus, extra: this.extra + surplus };
  }

  addGenerator(worker: number, sample: GeneratorSample): void {
    const load = this.loads.get(worker) ?? { elapsedUs: 0, busyUs: 0, gcUs: 0 };
    load.elapsedUs += sample.elapsedUs;
    load.busyUs += sample.busyUs;
    load.gcUs += sample.gcUs;
    this.loads.set(worker, load);
    if (sample.loopDelay !== undefined) this.loopDelay.add(sample.loopDelay);
  }

  /** Health of the generator so far; `slo` says what counts as good enough. */
  generator(slo: Slo): GeneratorHealth {
    const shares = (part: (load: WorkerLoad) => number): number =>
      Math.max(
        0,
        ...[...this.loads.values()].map((load) =>
          load.elapsedUs > 0 ? part(load) / load.elapsedUs : 0,
        ),
      );
    const messages = this.sent + this.received;
    const measured = {
      cpuUsPerMessage: messages > 0 ? this.cpuUs / messages : 0,
      cpuShare: Math.min(
        1,
        shares((load) => load.busyUs),
      ),
      loopDelayP99Us: this.loopDelay.valueAtShare(0.99),
      slipP99Us: this.slip.valueAtShare(0.99),
      gcShare: Math.min(
        1,
        shares((load) => load.gcUs),
      ),
    };
    return {
      ...measured,
      valid:
        generatorProblems({ offered: this.offered, sent: this.sent, generator: measured }, slo)
          .length === 0,
    };
  }

  /** Judges the step as it stands. */
  judge(slo: Slo): Verdict {
    return judgeStep(
      {
        offered: this.offered,
        sent: this.sent,
        expected: this.expected,
        received: this.delivered().received,
        latencyAtShareUs: (share) => this.latency.valueAtShare(share),
        generator: this.generator(slo),
      },
      slo,
    );
  }

  summary(slo: Slo, cutShort: Verdict): StepSummary {
    const { facts, seconds } = this;
    const { received, extra } = this.delivered();
    const perSecond = (count: number): number =>
      seconds > 0 ? Math.round((count / seconds) * 1000) / 1000 : 0;
    return {
      index: facts.index,
      senders: facts.senders,
      seconds,
      offered: this.offered,
      sent: this.sent,
      expected: this.expected,
      received,
      lost: this.expected - received,
      duplicated: this.duplicated,
      outOfOrder: this.outOfOrder,
      late: this.late,
      extra,
      sentPerSecond: perSecond(this.sent),
      receivedPerSecond: perSecond(received),
      payloadBytesIn: this.sent * facts.messageBytes,
      payloadBytesOut: received * facts.messageBytes,
      wireBytesIn: this.wireBytesIn,
      wireBytesOut: this.wireBytesOut,
      latencyUs: this.latency.summary(),
      sendLatencyUs: this.sendLatency.summary(),
      histogram: this.latency.encode(),
      errors: this.errors,
      generator: this.generator(slo),
      verdict: this.verdict ?? cutShort,
    };
  }
}
