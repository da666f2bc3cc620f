import type { ObjectiveUnit } from '../../base/objectives/objective';
import { findObjective } from '../../base/slo';
import {
  latencyWords,
  latencyWordsBesideLimit,
  shareLimitWords,
  shareWordsBesideLimit,
  rateWordsBesideLimit,
  formatCount,
  formatRate,
  formatShare,
} from '../../base/units';
import { joinWords, sentence, type Words } from '../../base/sentence';
import { isDisturbance, wordsWithoutStep, wordsWithStep } from '../judge/reason';
import { generatorReasonCodes, withObjectiveName } from '../judge/verdict';
import type { VerdictReason } from '../summary';
import {
  isJudged,
  representativeStep,
  triesByValue,
  type BrokenObjective,
  type SearchKind,
  type SearchStep,
  type SearchSummary,
} from '../../base/searchSummary';

const kindTexts: Readonly<Record<SearchKind, readonly [string, string]>> = {
  senders: ['{0} sender', '{0} senders'],
  rate: ['{0} msg/s', '{0} msg/s'],
  connections: ['{0} connection', '{0} connections'],
  messageSize: ['{0} byte', '{0} bytes'],
};

/** `681 senders`, `681 msg/s`. */
export const searchedValueWords = ({ of }: Pick<SearchSummary, 'of'>, value: number): Words =>
  sentence(kindTexts[of][value === 1 ? 0 : 1], formatCount(value));

const measuredWords: Readonly<Record<ObjectiveUnit, (value: number, limit: number) => string>> = {
  duration: latencyWordsBesideLimit,
  share: shareWordsBesideLimit,
  count: (value) => formatCount(value),
  rate: (value, limit) => `${rateWordsBesideLimit(value, limit)}/s`,
};

const limitTexts: Readonly<Record<ObjectiveUnit, (limit: number) => string>> = {
  duration: latencyWords,
  share: shareLimitWords,
  count: (limit) => formatCount(limit),
  rate: formatRate,
};

export function missedObjectiveNumbers({ metric, limit, value }: BrokenObjective) {
  const objective = findObjective(metric);
  if (objective === undefined) return undefined;
  const { unit, limit: side } = objective;
  const measured = value === null ? undefined : measuredWords[unit](value, limit);
  return { measured, limit: limitTexts[unit](limit), side };
}

export function missedObjectiveWords(broken: BrokenObjective): Words {
  const { metric, name, limit, value } = broken;
  if (metric === 'backlog')
    return sentence('deliveries fell behind by {0} of the time', formatShare(value ?? limit));
  const numbers = missedObjectiveNumbers(broken);
  if (numbers === undefined) return sentence('the objective {0} was missed', metric);
  const words =
    numbers.measured === undefined
      ? sentence('{0} lost, limit {1}', metric, numbers.limit)
      : sentence('{0} {1}, limit {2}', metric, numbers.measured, numbers.limit);
  return withObjectiveName(name, words);
}

export const intervalWidth = ({
  low,
  high,
}: Pick<SearchSummary, 'low' | 'high'>): number | undefined =>
  low === null || high === null ? undefined : (high - low) / low;

export interface Headline {
  readonly sign: '✓' | '✗' | '⚠' | '■';
  readonly lead: Words;
  /** Around both; absent: `; ` stands between them. */
  readonly frame?: '{0}: {1}' | '{0} {1}' | '{0}. {1}';
  readonly rest?: Words;
}

/** `✓ passed at 681 senders, failed at 687: p99 1.1 s, limit 1 s (11 steps, 6:40, generator healthy)`. */
export function searchHeadline(search: SearchSummary, first: VerdictReason | undefined): Headline {
  const { low, high, ended } = search;
  const words = (value: number | null): Words => searchedValueWords(search, value ?? 0);
  const why = first && wordsWithStep(first);
  const interval = intervalWords(search);
  const frame = low !== null && high === null ? { frame: '{0}: {1}' as const } : {};
  const broken = search.broken === null ? undefined : missedObjectiveWords(search.broken);
  const withFacts = (said: Words): Words => sentence('{0} {1}', said, factsOf(search));
  const judged = (sign: Headline['sign'], lead: Words): Headline =>
    broken === undefined
      ? { sign, lead, frame: '{0} {1}', rest: factsOf(search) }
      : { sign, lead, frame: '{0}: {1}', rest: withFacts(broken) };
  switch (ended) {
    case 'found':
      return judged('✓', interval);
    case 'allHeld': {
      const facts = { sign: '✓', frame: '{0} {1}' } as const;
      if (search.ceiling === undefined) {
        const lead = sentence('passed at {0}, the highest value of the search', words(low));
        return { ...facts, lead, rest: factsOf(search) };
      }
      return {
        ...facts,
        lead: sentence('passed at {0}, the most that the pauses of its sessions allow', words(low)),
        rest: joinWords([factsOf(search), sentence('search for senders to find more')]),
      };
    }
    case 'budget': {
      const lead = sentence('time ran out');
      const known = low === null && high === null && why !== undefined;
      const said = known ? joinWords([why, interval]) : interval;
      const by = broken === undefined ? said : sentence('{0}: {1}', said, broken);
      const rest = withFacts(by);
      return {
        sign: low === null ? '✗' : '✓',
        lead,
        rest,
        ...(known ? { frame: '{0}: {1}' } : frame),
      };
    }
    case 'noneHeld':
      return judged('✗', sentence('failed at {0}, the lowest value of the search', words(high)));
    case 'generatorLimit':
      return notOffered(search, first);
    case 'targetLost':
    case 'stopped': {
      if (ended === 'targetLost' && search.steps.length === 0 && why !== undefined)
        return { sign: '■', lead: interval, rest: why };
      const lead =
        ended === 'targetLost'
          ? sentence('the target was lost')
          : sentence('the search was stopped');
      return { sign: '■', lead, rest: joinWords([interval, ...(why ? [why] : [])]), ...frame };
    }
  }
}

function intervalWords({ of, low, high }: SearchSummary): Words {
  const words = (value: number): Words => searchedValueWords({ of }, value);
  if (low === null)
    return high === null
      ? sentence('no step passed or failed')
      : sentence('failed at {0}', words(high));
  return high === null
    ? joinWords([sentence('at least {0}', words(low)), sentence('the limit was not reached')])
    : sentence('passed at {0}, failed at {1}', words(low), formatCount(high));
}

function notOffered(search: SearchSummary, first: VerdictReason | undefined): Headline {
  const { low, high, steps, precision } = search;
  const words = (value: number): Words => searchedValueWords(search, value);
  const isMoreOffered = steps.some((step) => step.value > (low ?? 0) && isJudged(step));
  const isLimit = (first === undefined || generatorReasonCodes.has(first.code)) && !isMoreOffered;
  const why = first && disturbedWords(first, steps);
  if (low === null) {
    const lead =
      high !== null
        ? sentence('failed at {0}', words(high))
        : isLimit
          ? sentence('this machine cannot offer the lowest value of the search')
          : sentence('no step passed or failed');
    return { sign: '⚠', lead, ...(why && { frame: '{0}: {1}', rest: why }) };
  }
  const [lead, more] =
    high !== null
      ? [
          sentence('between {0} and {1}', formatCount(low), words(high)),
          sentence('not narrowed to {0}', shareWordsBesideLimit(precision, precision)),
        ]
      : [
          sentence('at least {0}', words(low)),
          isLimit
            ? sentence('this machine cannot offer more')
            : sentence('the limit was not reached'),
        ];
  return { sign: '⚠', lead, rest: why ? sentence('{0}: {1}', more, why) : more };
}

function disturbedWords(first: VerdictReason, steps: SearchSummary['steps']): Words {
  if (!isDisturbance(first.code)) return wordsWithStep(first);
  const last = formatCount(steps.at(-1)?.index ?? 1);
  return joinWords([
    sentence('step {0} was disturbed on this machine', last),
    wordsWithoutStep(first),
  ]);
}

function factsOf({ steps, elapsedMs }: SearchSummary): Words {
  const seconds = Math.round(elapsedMs / 1000);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const isDisturbed = steps.some(({ status }) => status === 'invalid');
  return sentence(
    '({0}, {1}, {2})',
    sentence(steps.length === 1 ? '{0} step' : '{0} steps', formatCount(steps.length)),
    time,
    isDisturbed ? sentence('generator disturbed in some steps') : sentence('generator healthy'),
  );
}

export interface TriedValue {
  readonly value: number;
  readonly steps: SearchSummary['steps'];
  readonly shown: SearchStep;
  readonly judged: number;
  readonly held: number;
  readonly invalid: number;
  readonly standing: 'held' | 'missed' | 'contested' | 'invalid' | 'open';
}

export function triedValues({ steps, low, high }: SearchSummary): TriedValue[] {
  return triesByValue(steps).map((own) => {
    const shown = representativeStep(own);
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
