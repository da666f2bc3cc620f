import { say, sentence, type Words } from '../../base/sentence';
import type { RunSummary, VerdictReason } from '../summary';

/** What has happened, and what to do. */
export const adviceFrame = '{0}. {1}' as const;

export function createReason(
  code: string,
  words: Words,
  rule?: VerdictReason['rule'],
): VerdictReason {
  return { code, ...(rule && { rule }), words, message: say(words) };
}

export const wordsWithoutStep = ({ words, message }: VerdictReason): Words => words ?? message;

/** `step 3: …`, where it stands among those of a run. */
export function wordsWithStep(reason: VerdictReason): Words {
  const { step } = reason;
  const words = wordsWithoutStep(reason);
  return step === undefined ? words : sentence('step {0}: {1}', String(step), words);
}

export function placeInStep(reason: VerdictReason, step: number): VerdictReason {
  const placed = { ...reason, step, words: wordsWithoutStep(reason) };
  return { ...placed, message: say(wordsWithStep(placed)) };
}

export const rewordReason = (
  reason: VerdictReason,
  around: (words: Words) => Words,
): VerdictReason => ({
  ...reason,
  ...createReason(reason.code, around(wordsWithoutStep(reason))),
});

type Ruled = NonNullable<VerdictReason['rule']>;

export const isSameObjective = (a: Ruled, b: Ruled): boolean =>
  a.metric === b.metric && a.name === b.name && a.limit === b.limit && a.step === b.step;

const disturbances: ReadonlySet<string> = new Set(['starved', 'suspended', 'slip', 'unread']);

/** Whether a step is invalid by what is neither the target nor too much for the generator; `cause` is the code of its first reason. */
export const isDisturbance = (cause: string | undefined): boolean =>
  cause !== undefined && disturbances.has(cause);

/** Whether the target let nobody in: nothing else is to be said of the run. */
export const couldNotConnect = ({
  ending,
  steps,
  connections,
}: Pick<RunSummary, 'ending' | 'steps' | 'connections'>): boolean =>
  ending === 'targetLost' && steps.length === 0 && connections.connected === 0;
