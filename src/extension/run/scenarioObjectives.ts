/** The objectives that stand in a scenario file, and what a run has said of each. */
import type { Translate } from '../../base/text';
import { isUndecided } from '../../measure/judge/verdict';
import { missedObjectiveWords } from '../../measure/show/searchSentence';
import type { SloCheck, Verdict, VerdictStatus } from '../../measure/summary';
import type { Result } from '../../results/result';
import {
  childNamed,
  nodeAt,
  outlineOf,
  unquotedValue,
  type OutlineNode,
} from '../../scenario/text/outline';
import { say, type Words } from '../../base/sentence';
import { isSameObjective, wordsWithoutStep } from '../../measure/judge/reason';

export interface WrittenObjective {
  readonly metric: string;
  /** As people call it. */
  readonly name: string | undefined;
  /** Only the last step is judged by it. */
  readonly last: boolean;
  /** Which it is of those that are alike in all of the above, from 0. */
  readonly nth: number;
  /** As a list shows it: `p99: 500ms`. */
  readonly label: string;
  readonly offset: number;
  readonly length: number;
}

/** Those below `slo`, in a map or a list, in the order of the file; none where the defaults hold. */
export function objectivesIn(text: string): WrittenObjective[] {
  const found: WrittenObjective[] = [];
  for (const node of nodeAt(outlineOf(text), ['slo'])?.children ?? []) {
    const one = objectiveAt(node);
    if (one) found.push({ ...one, nth: found.filter((other) => isAlike(one, other)).length });
  }
  return found;
}

function objectiveAt(node: OutlineNode): Omit<WrittenObjective, 'nth'> | undefined {
  const of = (key: string): string | undefined => unquotedValue(childNamed(node, key));
  const metric = node.item ? of('metric') : node.name;
  if (metric === undefined || metric === '') return undefined;
  const [name, limit] = [of('name'), of('limit') ?? unquotedValue(node)];
  const label = `${name ?? metric}${name === undefined ? '' : ` (${metric})`}: ${limit ?? '?'}`;
  const { offset, length } = node;
  return { metric, name, last: of('step') === 'last', label, offset, length };
}

type Sort = Pick<WrittenObjective, 'metric' | 'name' | 'last'>;

const isAlike = (a: Sort, b: Sort): boolean =>
  a.metric === b.metric && a.name === b.name && a.last === b.last;

type ObjectiveOutcome =
  | { readonly status: 'met' }
  /** `words` have what was measured, and the limit. */
  | { readonly status: 'missed'; readonly words: string }
  | { readonly status: 'notMeasured' };

/**
 * What a run has said of an objective: of several steps that missed it the last. A search looks for what is too
 * much: what its steps missed counts only where it has failed.
 */
export function outcomeOf(
  objective: WrittenObjective,
  { verdict, steps, search }: Pick<Result, 'verdict' | 'steps' | 'search'>,
  t: Translate,
): ObjectiveOutcome {
  let outcome: ObjectiveOutcome = { status: 'notMeasured' };
  const mayMiss = search === undefined || verdict.status === 'fail';
  const judge = (of: Verdict, where: (words: string) => string): void => {
    const check = checkOf(objective, of);
    // What cannot be believed says nothing of the target.
    if (check === undefined || isUndecided(check) || unjudged.includes(of.status)) return;
    if (!check.met && !mayMiss) return;
    if (!check.met) outcome = { status: 'missed', words: where(say(reasonOf(check, of), t)) };
    else if (outcome.status === 'notMeasured') outcome = { status: 'met' };
  };
  judge(verdict, (words) => words);
  for (const step of steps) judge(step.verdict, (words) => t('step {0}: {1}', step.index, words));
  return outcome;
}

const unjudged: readonly VerdictStatus[] = ['invalid', 'incomplete'];

const checkOf = (objective: WrittenObjective, { checks = [] }: Verdict): SloCheck | undefined =>
  checks.filter(({ metric, name, step }) =>
    isAlike(objective, { metric, name, last: step === 'last' }),
  )[objective.nth];

/** The sentence of the verdict, which has value and limit. */
const reasonOf = (check: SloCheck, { reasons }: Verdict): Words => {
  const reason = reasons.find(({ rule }) => rule && isSameObjective(rule, check));
  return reason === undefined ? missedObjectiveWords(check) : wordsWithoutStep(reason);
};
