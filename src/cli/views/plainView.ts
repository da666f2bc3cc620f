import { formatCount, formatShare } from '../../base/units';
import type { EntryProgress, Snapshot } from '../../measure/show/snapshot';
import { shownLatency } from '../../measure/judge/judgedLatency';
import { latencyWords } from '../../measure/judge/sloWords';
import type { GeneratorHealth } from '../../measure/show/summary';
import { printable } from './line';
import { clock, plural } from '../../session/runWords';
import { connectingText, stallText, statusText } from './runTexts';
import { noProgress, rowsOf, withSnapshot, type RunProgress } from './runProgress';
import { titleLines, type RunTitle, type RunView } from './runView';
import type { StepRow } from './stepTable';
import type { Output } from '../surroundings';

/** Least time between two lines that only say how far the run is. */
const progressEveryMs = 10_000;

/**
 * The run as lines, for pipes and logs: one for each change of phase and each finished step, and now
 * and then how far it is.
 */
export function createPlainView(output: Output, title: RunTitle): RunView {
  let progress: RunProgress = noProgress;
  let phase: string | undefined;
  let told = 0;
  let saidAtMs = 0;
  let stalledAtMs = -Infinity;
  const say = (text: string): void => output.write(`${printable(text)}\n`);
  for (const line of titleLines(title)) say(line);
  const tellFinished = (snapshot?: Snapshot): void => {
    for (const row of rowsOf(progress).slice(told)) {
      if (row.current) break;
      const { elapsedS = 0, entries = [] } = progress.steps[told] ?? {};
      told += 1;
      // A run may be stopped in a warm-up.
      if (elapsedS === 0) continue;
      say(`${stamp(snapshot)}${stepWords(row)}`);
      for (const entry of entries) say(`${stamp(snapshot)}${entryWords(row.index, entry)}`);
    }
  };
  return {
    update(snapshot) {
      progress = withSnapshot(progress, snapshot);
      tellFinished(snapshot);
      const now = `${snapshot.phase} ${snapshot.step?.index ?? ''}`;
      const changed = now !== phase;
      const stalls = stallText(snapshot) !== undefined && !changed;
      // A stall is told when it begins; one that comes and goes fills no log.
      const begins = stalls && snapshot.atMs - stalledAtMs >= progressEveryMs;
      if (!changed && !begins && snapshot.atMs - saidAtMs < progressEveryMs) return;
      phase = now;
      saidAtMs = snapshot.atMs;
      if (stalls) stalledAtMs = snapshot.atMs;
      if (snapshot.phase === 'done') return;
      say(`${stamp(snapshot)}${lineOf(snapshot, progress, changed)}`);
    },
    message: say,
    close: () => undefined,
  };
}

const stamp = (snapshot: Snapshot | undefined): string =>
  snapshot ? `[${clock(snapshot.atMs / 1000)}] ` : '';

function lineOf(snapshot: Snapshot, progress: RunProgress, changed: boolean): string {
  if (snapshot.phase === 'connecting') return connectingText(snapshot).replace(/ {2,}/g, ' ');
  const row = rowsOf(progress).at(-1);
  const status = statusText(snapshot, progress);
  if (changed || !row?.current || row.latencyUs === undefined) return status;
  return `${status}; ${ratesWords(row)}`;
}

/** `step 1 done: 700 senders, 700.0 sent/s, 7,000 received/s, p50 1.1 ms, …, 0 lost, generator ok`. */
function stepWords(row: StepRow): string {
  const { index, senders, lost = 0, errors = 0, warmupErrors = 0, generator } = row;
  return [
    `step ${index} done: ${formatCount(senders)} ${plural('sender', senders)}`,
    ratesWords(row),
    `${formatCount(lost)} lost`,
    `${formatCount(errors)} ${plural('error', errors)}${warmupErrors > 0 ? ` and ${formatCount(warmupErrors)} in the warm-up` : ''}`,
    ...(generator
      ? [`generator ${generatorWords(generator)} (${formatShare(generator.cpuShare)} of a core)`]
      : []),
  ].join(', ');
}

/** `step 1, echo: 350 senders, 350.0 sent/s, …, 0 lost`. */
function entryWords(index: number, entry: EntryProgress): string {
  const { name, senders, outstanding } = entry;
  return [
    `step ${index}, ${name}: ${formatCount(senders)} ${plural('sender', senders)}`,
    ratesWords(entry),
    `${formatCount(outstanding)} lost`,
  ].join(', ');
}

function ratesWords({
  sentPerSecond = 0,
  receivedPerSecond = 0,
  ...latencies
}: Pick<StepRow, 'sentPerSecond' | 'receivedPerSecond' | 'latencyUs' | 'judgedUs'>): string {
  const rates = `${formatCount(sentPerSecond, 1)} sent/s, ${formatCount(receivedPerSecond)} received/s`;
  const shown = shownLatency(latencies);
  if (shown === undefined) return rates;
  const words = (us: number | null | undefined): string =>
    us === undefined ? '– (too few deliveries)' : us === null ? 'lost' : latencyWords(us);
  const { p50, p99, p999, max } = shown;
  return `${rates}, p50 ${words(p50)}, p99 ${words(p99)}, p99.9 ${words(p999)}, max ${words(max)}`;
}

function generatorWords({ valid, cause }: Pick<GeneratorHealth, 'valid' | 'cause'>): string {
  if (valid) return 'ok';
  return cause === 'starved' ? 'did not get the processor' : 'was the bottleneck';
}
