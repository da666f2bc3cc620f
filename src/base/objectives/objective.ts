/** Objectives of a run: each file reads one key under `slo`, judges by it and words it. */
import type { ErrorCounts } from '../errorClass';
import type { Words } from '../sentence';
import type { AcrossClocks } from './acrossClocks';
import type { Lateness } from './lateness';

/** Deliveries of a step, as far as objectives judge them. */
export interface JudgedDeliveries {
  /** Messages that were due at senders that were connected, and at those that were not. */
  readonly offered?: number;
  readonly skipped?: number;
  readonly sent?: number;
  /** Measured time of the step. */
  readonly seconds?: number;
  /** Of the measured time and the drain. */
  readonly errors?: ErrorCounts;
  /** What is missing is overdue, not lost. */
  readonly isGoingOn?: true;
  readonly expected: number;
  readonly received: number;
  /** The part of `received` that came after the measured time. */
  readonly receivedLater?: number;
  readonly duplicated: number;
  /** Those that came to an end, where there are sessions. */
  readonly sessions?: EndedSessions;
  /** The same of each entry of a mix. */
  readonly sessionsOf?: readonly (EndedSessions & { readonly name: string })[];
  /** Latency in microseconds below or at which this share (0…1] of the *received* deliveries lies. */
  latencyAtShareUs(share: number): number;
  /** Where the time until messages have reached all their receivers is measured. */
  readonly timeToAll?: JudgedReach;
  /** Where some were received by another agent than that which sent them. */
  readonly across?: AcrossClocks;
  /** Of the generator; absent: nothing of it is known. */
  readonly lateness?: Lateness;
}

interface EndedSessions {
  readonly completed: number;
  readonly brokenOff: number;
}

/** Messages that had receivers, or connections that were tried, and how long those took that reached all, or opened. */
export interface JudgedReach {
  readonly messages: number;
  readonly reached: number;
  /** Microseconds that at most this share (0…1] of the *reached* ones took. */
  readonly atShareUs: (share: number) => number;
}

/** Each connection is in one of them at most. */
export interface JudgedConnections {
  readonly requested: number;
  readonly failed: number;
  readonly dropped: number;
  readonly notBack?: number;
  /** Ever opened. */
  readonly connected?: number;
  /** Microseconds that at most this share (0…1] of the *opened* ones took to open; absent in results. */
  readonly connectAtShareUs?: (share: number) => number;
}

/** How limits and values are counted: microseconds, 0…1, a whole number, or a number per second. */
export type ObjectiveUnit = 'duration' | 'share' | 'count' | 'rate';

/** What is said of a limit where the value alone does not say it. */
export interface Ruling {
  /** The deliveries inside single agents decide, or nothing does. */
  readonly by: 'inside' | 'nothing';
  readonly value: number;
  readonly met: boolean;
  /** Where it is not met, or where that is open. */
  readonly words: Words;
}

/** How it is judged, and its words. */
export interface Judging<Of> {
  readonly unit: ObjectiveUnit;
  /** The limit where none is written; absent: not judged then. */
  readonly default?: number;
  /** In place of a default: the objective with one whose limit holds here, too, where none is written. */
  readonly follows?: 'dropped';
  /** One sentence for hover, schema, documents and `keys`. */
  readonly summary: string;
  /** Bare numbers that are likely meant in another unit. */
  readonly unitMistake?: { readonly from: number; readonly below: number; readonly unit: string };
  /** Whether values may be up to the limit, or must reach it. */
  readonly limit: 'most' | 'least';
  /** Null where what was asked for was lost, which is beyond any limit; undefined where there is nothing to judge. */
  readonly value: (of: Of) => number | null | undefined;
  /** What decides in place of that value; undefined where it does by itself. */
  readonly ruling?: (of: Of, value: number, limit: number) => Ruling | undefined;
  /** Why a verdict failed by it. */
  readonly missed: (of: Of, value: number | null, limit: number) => Words;
}

/** Judged when a step has drained. */
export interface StepObjective extends Judging<JudgedDeliveries> {
  readonly of: 'step';
  /** It may still be missed until the run is over, and is judged again then. */
  readonly untilEnd?: true;
  /** Judged where no delivery is expected too. */
  readonly withoutDeliveries?: true;
}

/** Judged at the end of each step, and of the run. */
export interface ConnectionObjective extends Judging<JudgedConnections> {
  readonly of: 'connections';
  /** Judged by steps alone: the numbers of the run do not show it. */
  readonly atSteps?: true;
}

export type Objective = StepObjective | ConnectionObjective;

/** Objectives that differ by a part of their names only. */
export interface ObjectiveFamily<Name extends string = string> {
  /** Of a whole name, for the schema. */
  readonly pattern: string;
  /** Names that editors offer. */
  readonly offered: readonly Name[];
  /** Undefined where the name is none of the family. */
  readonly named: (name: string) => Objective | undefined;
}
