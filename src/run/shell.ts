import type { Translate } from '../base/text';
import type { Result } from '../results/result';
import type { Override } from '../scenario/read/overrides';
import type { Scenario } from '../scenario/scenario';
import type { TargetContext } from '../targets/target';
import type { TargetQuestions } from './askTarget';
import type { Contact, RunQuestion } from './reach';

export interface RunRequest {
  /** File name of the scenario, for people and for the name of the result folder. */
  readonly title: string;
  readonly text: string;
  /** Keys that replace those of the text for this run. */
  readonly overrides: readonly Override[];
  /** The first that can be written is taken. */
  readonly directories: readonly string[];
  /** How to name another one, in a sentence, for when none of them can be written. */
  readonly otherFolder?: string;
  /** Where a measured result goes that fits into none of them any more. */
  readonly spareDirectory?: string;
  /** A step that misses an objective does not end the run. */
  readonly keepGoing?: boolean;
  /** An earlier run to compare with; the tolerance is 0…, absent: the usual one. */
  readonly baseline?: { readonly result: Result; readonly tolerance?: number };
}

/**
 * What is said of a run beside its snapshots and its result. `note`: to be known of the target before it
 * starts. `server`: what goes wrong with a server or a service while it runs; snapshots have it too.
 * `stack`: lines of a worker that died. `unstored`: why the result is in no file.
 */
export type Saying = 'note' | 'warning' | 'server' | 'stack' | 'unstored';

/** What a shell gives to a run: answers to its questions, and a place for what it says. */
export interface Shell {
  readonly context: TargetContext;
  /** Settles with whether somebody agrees; absent where nobody has to be asked. */
  readonly confirm?: (question: RunQuestion, scenario: Scenario) => Promise<boolean>;
  /** Whom the command line contacts beside the scenario. */
  readonly also?: readonly Contact[];
  /** Somebody has agreed before to all but redirects. */
  readonly isAgreed?: boolean;
  /** Shows that a target is silent, until it is not waited for any more. */
  readonly waiting?: NonNullable<TargetQuestions['waiting']>;
  /** Without secrets. */
  say(what: Saying, text: string): void;
  readonly t: Translate;
  /** The result is named by it. */
  startTime(): Date;
  /** Rejects when the run is not wanted any more before it has started. */
  readonly calledOff?: Promise<never>;
}

/** A clock set back by more was wrong before: what it says now is believed. */
const mostMs = 24 * 3_600_000;

/** A clock that is set back does not put the later run before the other: results are named by these times. */
export function startTimes(now: () => Date): () => Date {
  let lastMs = -Infinity;
  return () => {
    const nowMs = now().getTime();
    const isBehind = nowMs <= lastMs && lastMs - nowMs < mostMs;
    // Names of result folders count in seconds.
    lastMs = isBehind ? lastMs + 1000 : nowMs;
    return new Date(lastMs);
  };
}
