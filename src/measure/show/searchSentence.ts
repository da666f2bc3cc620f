import {
  fill,
  latencyWords,
  latencyWordsBeside,
  limitWords,
  shareWords,
} from '../../base/objectives/limitWords';
import type { ObjectiveUnit } from '../../base/objectives/objective';
import { rateWords } from '../../base/objectives/rate';
import { objectiveOf } from '../../base/slo';
import { formatCount, formatRate, formatShare } from '../../base/units';
import { generatorCodes, namedText } from '../judge/verdict';
import { isDisturbance, type VerdictReason } from '../summary';
import {
  isJudged,
  shownStep,
  triesByValue,
  type BrokenObjective,
  type SearchKind,
  type SearchStep,
  type SearchSummary,
} from '../../search/searchSummary';

/** For one, and for more. */
const kindWords: Readonly<Record<SearchKind, readonly [string, string]>> = {
  senders: ['sender', 'senders'],
  rate: ['msg/s', 'msg/s'],
  connections: ['connection', 'connections'],
  messageSize: ['byte', 'bytes'],
};

/** `681 senders`, `681 msg/s`. */
export const valueWords = ({ of }: Pick<SearchSummary, 'of'>, value: number): string =>
  `${formatCount(value)} ${kindWords[of][value === 1 ? 0 : 1]}`;

/** Of what was measured, so that it differs from the limit it missed. */
const measuredWords: Readonly<Record<ObjectiveUnit, (value: number, limit: number) => string>> = {
  duration: latencyWordsBeside,
  share: shareWords,
  count: (value) => formatCount(value),
  rate: (value, limit) => `${rateWords(value, limit)}/s`,
};

const limitTexts: Readonly<Record<ObjectiveUnit, (limit: number) => string>> = {
  duration: latencyWords,
  share: limitWords,
  count: (limit) => formatCount(limit),
  rate: formatRate,
};

/** Value and limit in words, by the unit of the objective; undefined where there is no such objective. */
export function brokenNumbers({ metric, limit, value }: BrokenObjective) {
  const objective = objectiveOf(metric);
  if (objective === undefined) return undefined;
  const { unit, limit: side } = objective;
  const measured = value === null ? undefined : measuredWords[unit](value, limit);
  return { measured, limit: limitTexts[unit](limit), side };
}

/** `p99 1.1 s, limit 1 s`, `objective “quick”: p99 1.1 s, limit 1 s`: what a step missed. */
export function brokenWords(broken: BrokenObjective): string {
  const { metric, name, limit, value } = broken;
  if (metric === 'backlog')
    return `deliveries fell behind by ${formatShare(value ?? limit)} of the time`;
  const numbers = brokenNumbers(broken);
  if (numbers === undefined) return `the objective ${metric} was missed`;
  const words = `${metric} ${numbers.measured ?? 'lost'}, limit ${numbers.limit}`;
  return name === undefined ? words : fill(namedText, name, words);
}

/** Width of the interval as a share of its lower end; undefined where it has only one. */
export const widthOf = ({ low, high }: Pick<SearchSummary, 'low' | 'high'>): number | undefined =>
  low === null || high === null ? undefined : (high - low) / low;

/** What a person reads first: `✓ 681 senders held, 687 did not: p99 1.1 s, limit 1 s (11 steps, 6:40, generator healthy)`. */
export function searchSentence(search: SearchSummary, first: VerdictReason | undefined): string {
  const why = first?.message;
  const { low, high, ended } = search;
  const words = (value: number | null): string => valueWords(search, value ?? 0);
  const atLeast = low !== null && high === null;
  const interval =
    low === null
      ? high === null
        ? 'no step passed or failed'
        : `${words(high)} did not hold`
      : high === null
        ? `at least ${words(low)}; the limit was not reached`
        : `${words(low)} held, ${formatCount(high)} did not`;
  const known = `${atLeast ? ':' : ';'} ${interval}`;
  const facts = `(${factsOf(search)})`;
  const broken = search.broken === null ? '' : `: ${brokenWords(search.broken)}`;
  switch (ended) {
    case 'found':
      return `✓ ${interval}${broken} ${facts}`;
    case 'allHeld':
      return search.ceiling === undefined
        ? `✓ ${words(low)} held, the highest value of the search ${facts}`
        : `✓ ${words(low)} held, the most that the pauses of its sessions allow ${facts}; search for senders to find more`;
    case 'budget':
      return low === null
        ? `✗ time ran out${high === null && why !== undefined ? `: ${why}; ${interval}` : known}${broken} ${facts}`
        : `✓ time ran out${known}${broken} ${facts}`;
    case 'noneHeld':
      return `✗ ${words(high)} did not hold, the lowest value of the search${broken} ${facts}`;
    case 'generatorLimit':
      return `⚠ ${notOffered(search, first)}`;
    case 'targetLost':
    case 'stopped': {
      const reason = why === undefined ? '' : `; ${why}`;
      if (ended === 'targetLost' && search.steps.length === 0 && reason !== '')
        return `■ ${interval}${reason}`;
      const lead = ended === 'targetLost' ? 'the target was lost' : 'the search was stopped';
      return `■ ${lead}${known}${reason}`;
    }
  }
}

/** What is known where a step could not be offered, or was disturbed each time it was tried. */
function notOffered(search: SearchSummary, first: VerdictReason | undefined): string {
  const { low, high, steps, precision } = search;
  const words = (value: number): string => valueWords(search, value);
  const isMoreOffered = steps.some((step) => step.value > (low ?? 0) && isJudged(step));
  const isLimit = (first === undefined || generatorCodes.has(first.code)) && !isMoreOffered;
  const known =
    low !== null && high !== null
      ? `between ${formatCount(low)} and ${words(high)}; not narrowed to ${shareWords(precision, precision)}`
      : low !== null
        ? `at least ${words(low)}; ${isLimit ? 'this machine cannot offer more' : 'the limit was not reached'}`
        : high !== null
          ? `${words(high)} did not hold`
          : isLimit
            ? 'this machine cannot offer the lowest value of the search'
            : 'no step passed or failed';
  if (first === undefined) return known;
  if (!isDisturbance(first.code)) return `${known}: ${first.message}`;
  const last = formatCount(steps.at(-1)?.index ?? 1);
  return `${known}: step ${last} was disturbed on this machine; ${first.message.replace(/^step \d+: /, '')}`;
}

/** `11 steps, 6:40, generator healthy`. */
function factsOf({ steps, elapsedMs }: SearchSummary): string {
  const seconds = Math.round(elapsedMs / 1000);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const health = steps.some(({ status }) => status === 'invalid')
    ? 'generator disturbed in some steps'
    : 'generator healthy';
  return `${formatCount(steps.length)} ${steps.length === 1 ? 'step' : 'steps'}, ${time}, ${health}`;
}

/** All steps with one value. */
export interface TriedValue {
  readonly value: number;
  /** Rising by time, never empty. */
  readonly steps: SearchSummary['steps'];
  /** The one whose numbers are shown. */
  readonly shown: SearchStep;
  /** Of its steps: how many were judged, how many of these held, and how many were not offered in time. */
  readonly judged: number;
  readonly held: number;
  readonly invalid: number;
  readonly standing: 'held' | 'missed' | 'contested' | 'invalid' | 'open';
}

/** The values that were tried, rising. */
export function triedValues({ steps, low, high }: SearchSummary): TriedValue[] {
  return triesByValue(steps).map((own) => {
    const shown = shownStep(own);
    const { value } = shown;
    const count = (status: string): number => own.filter((step) => step.status === status).length;
    const [held, missed, invalid] = [count('pass'), count('fail'), count('invalid')];
    const standing =
      held + missed === 0
        ? invalid > 0
          ? 'invalid'
          : 'open'
        : low !== null && high !== null && value > low && value < high
          ? 'contested'
          : held > missed || value === low
            ? 'held'
            : 'missed';
    const counts = { held, judged: held + missed, invalid };
    return { value, steps: own, shown, standing, ...counts };
  });
}
