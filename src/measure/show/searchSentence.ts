import { latencyMetrics } from '../../base/objectives/percentile';
import { latencyWords, limitWords } from '../../base/objectives/limitWords';
import { formatCount, formatShare } from '../../base/units';
import {
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

/** `p99 rose above 1 s`: what a step missed. */
export function brokenWords({ metric, limit, value }: BrokenObjective): string {
  if (metric === 'backlog')
    return `deliveries fell behind by ${formatShare(value ?? limit)} of the time`;
  if ((latencyMetrics as readonly string[]).includes(metric))
    return `${metric} rose above ${latencyWords(limit)}`;
  if (metric === 'delivered') return `less than ${limitWords(limit)} was delivered`;
  if (metric === 'dropped')
    return `more than ${limitWords(limit)} of the connections failed or were dropped`;
  return `the objective ${metric} was missed`;
}

/** Width of the interval as a share of its lower end; undefined where it has only one. */
export const widthOf = ({ low, high }: Pick<SearchSummary, 'low' | 'high'>): number | undefined =>
  low === null || high === null ? undefined : (high - low) / low;

/** What a person reads first: `✓ 681 senders held, 687 did not: p99 rose above 1 s (11 steps, 6:40, generator healthy)`. */
export function searchSentence(search: SearchSummary, why: string | undefined): string {
  const { low, high, ended } = search;
  const words = (value: number | null): string => valueWords(search, value ?? 0);
  const interval =
    low === null
      ? high === null
        ? 'nothing was measured to its end'
        : `${words(high)} did not hold`
      : high === null
        ? `${words(low)} held, and nothing above was found not to hold`
        : `${words(low)} held, ${formatCount(high)} did not`;
  const facts = `(${factsOf(search)})`;
  const broken = search.broken === null ? '' : `: ${brokenWords(search.broken)}`;
  switch (ended) {
    case 'found':
      return `✓ ${interval}${broken} ${facts}`;
    case 'allHeld':
      return `✓ ${words(low)} held, the highest value of the search ${facts}`;
    case 'budget':
      return low === null
        ? `✗ the time was over; ${interval}${broken} ${facts}`
        : `✓ the time was over; ${interval}${broken} ${facts}`;
    case 'noneHeld':
      return `✗ ${words(high)} did not hold, the lowest value of the search${broken} ${facts}`;
    case 'generatorLimit':
      return `⚠ ${
        low === null
          ? 'this machine cannot offer the lowest value of the search'
          : `at least ${words(low)}; this machine cannot offer more`
      }${why === undefined ? '' : `: ${why}`}`;
    case 'targetLost':
      return `■ the target was lost; ${interval}`;
    case 'stopped':
      return `■ the search was stopped; ${interval}`;
  }
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
  readonly standing: 'held' | 'missed' | 'contested' | 'invalid';
}

/** The values that were tried, rising. */
export function triedValues({ steps, low, high }: SearchSummary): TriedValue[] {
  return triesByValue(steps).map((own) => {
    const shown = shownStep(own);
    const { value } = shown;
    const count = (status: string): number => own.filter((step) => step.status === status).length;
    const [held, missed] = [count('pass'), count('fail')];
    const standing =
      held + missed === 0
        ? 'invalid'
        : low !== null && high !== null && value > low && value < high
          ? 'contested'
          : held > missed || value === low
            ? 'held'
            : 'missed';
    return { value, steps: own, shown, standing };
  });
}
