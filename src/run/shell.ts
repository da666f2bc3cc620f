import type { Translate } from '../base/text';
import type { Result } from '../results/result';
import type { Override } from '../scenario/read/overrides';
import type { Scenario } from '../scenario/scenario';
import type { TargetContext } from '../targets/target';
import type { TargetQuestions } from './askTarget';
import type { Contact, RunQuestion } from './reach';

export interface RunRequest {
  readonly title: string;
  readonly text: string;
  readonly overrides: readonly Override[];
  readonly directories: readonly string[];
  readonly otherFolder?: string;
  /** For a result that none of them can take any more. */
  readonly spareDirectory?: string;
  readonly keepGoing?: boolean;
  readonly baseline?: { readonly result: Result; readonly tolerance?: number };
}

/**
 * `note`: about the target before it starts. `server`: a server's problem during the run. `stack`: of a worker that died.
 * `unstored`: why the result is in no file.
 */
export type Saying = 'note' | 'warning' | 'server' | 'stack' | 'unstored';

export interface Shell {
  readonly context: TargetContext;
  /** Absent: nobody has to be asked. */
  readonly confirm?: (question: RunQuestion, scenario: Scenario) => Promise<boolean>;
  readonly also?: readonly Contact[];
  /** Agreed before to all but redirects. */
  readonly isAgreed?: boolean;
  readonly waiting?: NonNullable<TargetQuestions['waiting']>;
  say(what: Saying, text: string): void;
  readonly t: Translate;
  startTime(): Date;
  /** Rejects when the run is called off before it starts. */
  readonly calledOff?: Promise<never>;
}

/** A clock set back by more was wrong before. */
const mostMs = 24 * 3_600_000;

/** Rising times even when the clock is set back: they name results. */
export function startTimes(now: () => Date): () => Date {
  let lastMs = -Infinity;
  return () => {
    const nowMs = now().getTime();
    const isBehind = nowMs <= lastMs && lastMs - nowMs < mostMs;
    lastMs = isBehind ? lastMs + 1000 : nowMs;
    return new Date(lastMs);
  };
}
