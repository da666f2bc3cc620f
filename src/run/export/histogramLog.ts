import { ExpectedError } from '../../base/expectedError';
import { decodeHistogram } from '../../measure/histogram';
import { stepBands } from '../../measure/show/timeSeries';
import type { Snapshot } from '../../measure/snapshot';
import type { MessageSummary } from '../../measure/summary';
import type { Result } from '../../results/result';
import { plainLine } from './plainText';

/**
 * The steps as an HdrHistogram log, for its readers and plotters: one interval for each step, with the
 * latencies of all that was received, in microseconds from the intended time. Use cases of a mix are tagged
 * with their names. Source: HdrHistogram, `HistogramLogWriter`, log format 1.3.
 *
 * @param snapshots say when steps began; without them they are taken to follow each other at the end
 */
export function histogramLog(result: Result, snapshots: readonly Snapshot[]): string {
  const { startedAt, endedAt, steps } = result;
  const startS = Date.parse(startedAt) / 1000;
  const begun = new Map(stepBands(snapshots).map(({ index, fromS }) => [index, fromS]));
  let followsS = Math.max(0, Date.parse(endedAt) / 1000 - startS - totalSeconds(result));
  const lines = [
    '#[Histogram log format version 1.3]',
    `#[StartTime: ${startS.toFixed(3)} (seconds since epoch), ${new Date(startS * 1000).toISOString()}]`,
    '#[Values are microseconds; the maximum of an interval is in milliseconds]',
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
  ];
  for (const { index, seconds, entries = [], ...step } of steps) {
    const fromS = begun.get(index) ?? followsS;
    followsS = fromS + seconds;
    const line = (measured: Measured, tag = ''): string => {
      const encoded = readable(measured);
      if (encoded === undefined) return `# Step ${index}: its histogram cannot be read.`;
      const maxMs = measured.latencyUs.max / 1000;
      const numbers = [fromS, seconds, maxMs].map((value) => value.toFixed(3));
      return `${tag}${numbers.join(',')},${encoded}`;
    };
    lines.push(line(step), ...entries.map((entry) => line(entry, `Tag=${tagOf(entry.name)},`)));
  }
  return `${lines.join('\n')}\n`;
}

type Measured = Pick<MessageSummary, 'histogram' | 'latencyUs'>;

const totalSeconds = ({ steps }: Pick<Result, 'steps'>): number =>
  steps.reduce((sum, { seconds }) => sum + seconds, 0);

/** One that was damaged, or put there by somebody, is not handed on. */
function readable({ histogram }: Measured): string | undefined {
  try {
    decodeHistogram(histogram);
    return histogram.trim();
  } catch (error) {
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}

/** Neither blanks nor commas, which part fields. */
const tagOf = (name: string): string =>
  plainLine(name, 60).replace(/[^\p{L}\p{N}._-]+/gu, '_') || 'entry';
