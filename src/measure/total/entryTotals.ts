import { LatencyHistogram } from '../histogram';
import { judgedLatency } from '../judge/judgedLatency';
import type { EntrySample } from '../sample';
import { StepCounts } from './stepCounts';
import type { EntryProgress } from '../show/snapshot';
import type { EntrySummary, MessageSummary } from '../show/summary';
import type { JudgedLatency } from '../latencySummary';

/** One of the use cases that run side by side in a step. */
export interface EntryFacts {
  readonly name: string;
  readonly senders: number;
}

/** Sums of what all workers counted for a step, or for one entry in it; percentiles are of the sums only. */
export class MessageTotals extends StepCounts {
  readonly latency = new LatencyHistogram();
  private readonly sendLatency = new LatencyHistogram();
  /** Percentiles over what was expected when the drain ended, where something was missing. */
  judgedUs: JudgedLatency | undefined;

  protected addMessages(sample: EntrySample): void {
    this.addCounts(sample);
    if (sample.latency !== undefined) this.latency.add(sample.latency);
    if (sample.sendLatency !== undefined) this.sendLatency.add(sample.sendLatency);
  }

  /**
   * Deliveries as expected, and what came beyond: a server that invents messages must not hide a loss
   * nor turn it negative.
   */
  delivered(): { received: number; extra: number } {
    const surplus = Math.max(0, this.received - this.expected);
    return { received: this.received - surplus, extra: this.extra + surplus };
  }

  /** The drain is over: what is missing now is lost, and counts as slower than any other. */
  settle(): void {
    const { expected, latency } = this;
    const { received } = this.delivered();
    const latencyAtShareUs = (share: number): number => latency.valueAtShare(share);
    if (received < expected)
      this.judgedUs = judgedLatency({ expected, received, latencyAtShareUs });
  }

  protected messages(senders: number, seconds: number): MessageSummary {
    const { received, extra } = this.delivered();
    const perSecond = (count: number): number =>
      seconds > 0 ? Math.round((count / seconds) * 1000) / 1000 : 0;
    return {
      senders,
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
      payloadBytesIn: this.payloadBytesIn,
      payloadBytesOut: this.payloadBytesOut,
      wireBytesIn: known(this.wireBytesIn),
      wireBytesOut: known(this.wireBytesOut),
      latencyUs: this.latency.summary(),
      ...(this.judgedUs && { judgedUs: this.judgedUs }),
      sendLatencyUs: this.sendLatency.summary(),
      histogram: this.latency.encode(),
    };
  }
}

/** A sum that has something unknown in it is unknown. */
const known = (sum: number): number | null => (Number.isNaN(sum) ? null : sum);

/** Sums of one entry of a mix in one step. */
export class EntryTotals extends MessageTotals {
  constructor(private readonly facts: EntryFacts) {
    super();
  }

  add(sample: EntrySample): void {
    this.addMessages(sample);
  }

  /** The entry in a step that is going on, `elapsedS` measured seconds long. */
  progress(elapsedS: number): EntryProgress {
    const { offered, sent, expected, received } = this;
    const perSecond = (count: number): number => (elapsedS > 0 ? count / elapsedS : 0);
    return {
      ...this.facts,
      offered,
      sent,
      expected,
      received,
      outstanding: Math.max(0, expected - received),
      sentPerSecond: perSecond(sent),
      receivedPerSecond: perSecond(received),
      latencyUs: this.latency.summary(),
      ...(this.judgedUs && { judgedUs: this.judgedUs }),
    };
  }

  summary(seconds: number): EntrySummary {
    const { name, senders } = this.facts;
    return { name, ...this.messages(senders, seconds) };
  }
}
