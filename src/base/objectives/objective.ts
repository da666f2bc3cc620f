/** The interface of all objectives under `slo`: what they judge, how, and in which words. */
import type { ErrorCounts } from '../errorClass';
import type { Words } from '../sentence';

export interface JudgedDeliveries {
  /** Messages due at connected senders; `skipped` are those due at others. */
  readonly offered?: number;
  readonly skipped?: number;
  readonly sent?: number;
  readonly seconds?: number;
  /** Of the measured time and the drain. */
  readonly errors?: ErrorCounts;
  /** The step has not ended: what is missing is overdue, not lost. */
  readonly isGoingOn?: true;
  readonly expected: number;
  readonly received: number;
  /** The part of `received` that came after the measured time. */
  readonly receivedLater?: number;
  readonly duplicated: number;
  readonly sessions?: EndedSessions;
  readonly sessionsOf?: readonly (EndedSessions & { readonly name: string })[];
  /** Microseconds at or below which this share (0…1] of the *received* deliveries lies. */
  latencyAtShareUs(share: number): number;
  /** Present where the time until messages have reached all their receivers is measured. */
  readonly timeToAll?: JudgedReach;
  /** Present where some were received by another agent than the sender's. */
  readonly across?: AcrossClocks;
  readonly lateness?: Lateness;
}

/** What the load generator itself may have added to latencies: of a step, by the worst worker, microseconds. */
export interface Lateness {
  /** The largest slip, warm-up included, since later messages queue behind it. */
  readonly slipMaxUs: number;
  /** The longest time in which a worker did not read while it was measured or drained. */
  readonly readGapMaxUs: number;
  /** Deliveries around the end of the drain, while a worker did not read. Absent: none. */
  readonly unread?: number;
}

/** Latencies between agents, which were measured with two clocks. */
export interface AcrossClocks {
  /** By how much each of them may be off, microseconds. */
  readonly errorUs: number;
  readonly wrong?: Words;
  /** Deliveries inside one agent, and so on one clock. */
  readonly inside: {
    readonly count: number;
    /** Microseconds at or below which this share (0…1] of them lies. */
    latencyAtShareUs(share: number): number;
  };
}

interface EndedSessions {
  readonly completed: number;
  readonly brokenOff: number;
}

/** Messages with receivers, or connections; `reached` are those that reached all, or opened. */
export interface JudgedReach {
  readonly messages: number;
  readonly reached: number;
  readonly atShareUs: (share: number) => number;
}

/** Each connection is in one of them at most. */
export interface JudgedConnections {
  readonly requested: number;
  readonly failed: number;
  readonly dropped: number;
  readonly notBack?: number;
  readonly connected?: number;
  /** Microseconds at or below which this share (0…1] of the *opened* ones took to open; absent in results. */
  readonly connectAtShareUs?: (share: number) => number;
}

export type ObjectiveUnit = 'duration' | 'share' | 'count' | 'rate';

export interface Ruling {
  /** The deliveries inside single agents, or nothing. */
  readonly by: 'inside' | 'nothing';
  readonly value: number;
  readonly met: boolean;
  readonly words: Words;
}

export interface Judging<Of> {
  readonly unit: ObjectiveUnit;
  /** The limit where none is written; absent: not judged then. */
  readonly default?: number;
  /** In place of a default: the objective whose limit applies where none is written. */
  readonly follows?: 'dropped';
  readonly summary: string;
  /** Bare numbers in this range are likely meant in another unit. */
  readonly unitMistake?: { readonly from: number; readonly below: number; readonly unit: string };
  readonly limit: 'most' | 'least';
  /** Null where the rank was lost, which is beyond any limit; undefined where there is nothing to judge. */
  readonly value: (of: Of) => number | null | undefined;
  readonly ruling?: (of: Of, value: number, limit: number) => Ruling | undefined;
  readonly missed: (of: Of, value: number | null, limit: number) => Words;
}

export interface StepObjective extends Judging<JudgedDeliveries> {
  readonly of: 'step';
  /** Judged again at the end of the run, since it may still be missed. */
  readonly untilEnd?: true;
  readonly withoutDeliveries?: true;
}

export interface ConnectionObjective extends Judging<JudgedConnections> {
  readonly of: 'connections';
  readonly atSteps?: true;
}

export type Objective = StepObjective | ConnectionObjective;

export interface ObjectiveFamily<Name extends string = string> {
  readonly pattern: string;
  readonly offered: readonly Name[];
  readonly named: (name: string) => Objective | undefined;
}
