import { ExpectedError } from '../../base/expectedError';
import { decodeHistogram } from '../../measure/histogram';
import { verdictSentence } from '../../measure/judge/verdictSentence';
import type { RunSummary } from '../../measure/show/summary';
import type { PanelResult, PanelSpectrum } from '../../protocol/panel';
import type { Result } from '../../results/result';

/** What only the file needs; the scenario is known to the panel from its run. */
const left: ReadonlySet<string> = new Set<keyof Result>(['schema', 'tool', 'scenario']);

/** What the panel shows of a result: all of its numbers. */
export function toPanelResult(result: Result): PanelResult {
  const shown = Object.entries(result).filter(([name]) => !left.has(name));
  const numbers = Object.fromEntries(shown) as unknown as Omit<PanelResult, 'sentence'>;
  return { ...numbers, sentence: verdictSentence(result) };
}

/** Points between two nines; as many as a narrow chart can show. */
const pointsPerNine = 10;
/** Steps beyond this many are left to their percentiles: decoding takes about a millisecond each. */
const mostSteps = 100;

/**
 * Percentile curves of the steps that received something. A step whose histogram cannot be read is left
 * out; its percentiles are in the result.
 */
export function spectraOf({ steps }: Pick<RunSummary, 'steps'>): PanelSpectrum[] {
  return steps
    .filter(({ latencyUs }) => latencyUs.count > 0)
    .slice(-mostSteps)
    .flatMap(({ index, histogram }) => {
      const points = pointsOf(histogram);
      return points.length > 0 ? [{ step: index, points }] : [];
    });
}

/** The curve up to the share that the largest value alone stands for. */
function pointsOf(text: string): PanelSpectrum['points'] {
  let histogram: ReturnType<typeof decodeHistogram>;
  try {
    histogram = decodeHistogram(text);
  } catch (error) {
    if (error instanceof ExpectedError) return [];
    throw error;
  }
  if (histogram.count === 0) return [];
  const last = 1 - 1 / Math.max(2, histogram.count);
  const points: { share: number; latencyUs: number }[] = [];
  for (let at = 0; ; at++) {
    const share = 1 - 10 ** (-at / pointsPerNine);
    const latencyUs = Math.max(1, histogram.valueAtShare(Math.min(share, 1)));
    if (share >= last) break;
    points.push({ share, latencyUs });
  }
  points.push({ share: last, latencyUs: Math.max(1, histogram.valueAtShare(1)) });
  return points;
}
