import { say, sentence, type Words } from '../../base/sentence';
import type { VerdictReason } from '../summary';

/** What has happened, and what to do. */
export const advised = '{0}. {1}' as const;

export function reasonOf(code: string, words: Words, rule?: VerdictReason['rule']): VerdictReason {
  return { code, ...(rule && { rule }), words, message: say(words) };
}

export const ownWords = ({ words, message }: VerdictReason): Words => words ?? message;

/** `step 3: …`, where it stands among those of a run. */
export function reasonWords(reason: VerdictReason): Words {
  const { step } = reason;
  const words = ownWords(reason);
  return step === undefined ? words : sentence('step {0}: {1}', String(step), words);
}

export function ofStep(reason: VerdictReason, step: number): VerdictReason {
  const placed = { ...reason, step, words: ownWords(reason) };
  return { ...placed, message: say(reasonWords(placed)) };
}

export const within = (reason: VerdictReason, around: (words: Words) => Words): VerdictReason => ({
  ...reason,
  ...reasonOf(reason.code, around(ownWords(reason))),
});

type Ruled = NonNullable<VerdictReason['rule']>;

export const isOf = (a: Ruled, b: Ruled): boolean =>
  a.metric === b.metric && a.name === b.name && a.limit === b.limit && a.step === b.step;
