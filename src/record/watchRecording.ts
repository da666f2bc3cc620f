import { formatBytes, formatCount } from '../base/units';
import type { RecordedCounts } from './proxy/recorder';
import type { Direction } from './recording';
import type { RunningRecording } from './startRecording';

/** Counts at two times: what has passed between them gives the rates. */
export interface RecordProgress {
  readonly counts: RecordedCounts;
  readonly before: RecordedCounts | undefined;
  /** Between them, and since the beginning. */
  readonly seconds: number;
  readonly atS: number;
  readonly dropped: number;
}

export interface RecordWatcher {
  /** At the beginning, and each second. */
  onProgress(progress: RecordProgress): void;
  /** All clients have left: once for each time that nobody is there. */
  onAllLeft(): void;
}

const tickMs = 1000;
/** A page that is loaded anew is away for a moment. */
const goneMs = 5000;

/** Shows each second what has passed, and notices that the clients are gone. @returns what ends it */
export function watchRecording(
  recording: Pick<RunningRecording, 'counts' | 'dropped'>,
  watcher: RecordWatcher,
): () => void {
  const startedMs = performance.now();
  let before: RecordedCounts | undefined;
  let beforeMs = startedMs;
  let goneSinceMs: number | undefined;
  const tick = (): void => {
    const nowMs = performance.now();
    const counts = recording.counts();
    const seconds = (nowMs - beforeMs) / 1000;
    const atS = (nowMs - startedMs) / 1000;
    watcher.onProgress({ counts, before, seconds, atS, dropped: recording.dropped });
    before = counts;
    beforeMs = nowMs;
    if (counts.everSeen === 0 || counts.clients > 0) {
      goneSinceMs = undefined;
      return;
    }
    goneSinceMs ??= nowMs;
    if (nowMs - goneSinceMs < goneMs) return;
    // Until a client is there again it is not noticed any more.
    goneSinceMs = Infinity;
    watcher.onAllLeft();
  };
  tick();
  const timer = setInterval(tick, tickMs);
  return () => clearInterval(timer);
}

/** A name with how often it was seen, how often a second of late, and the mean size of its messages. */
export interface TrafficRow {
  readonly name: string;
  readonly seen: string;
  readonly perS: string;
  readonly size: string;
}

/** Those names that are the most frequent, and how many others there are. */
export function trafficRows(
  { counts, before, seconds }: RecordProgress,
  kind: 'calls' | 'callbacks',
  most: number,
): { readonly rows: readonly TrafficRow[]; readonly more: number } {
  const all = counts[kind];
  const rows = all.slice(0, most).map(({ name, count, bytes }) => ({
    name,
    seen: formatCount(count),
    perS: perSText(
      count - (before?.[kind].find((each) => each.name === name)?.count ?? 0),
      seconds,
    ),
    size: formatBytes(Math.round(bytes / count)),
  }));
  return { rows, more: all.length - rows.length };
}

/** All messages of a direction: `120, 25 KB, 3.1/s`. */
export function trafficText(
  { counts: { messages, bytes }, before, seconds }: RecordProgress,
  direction: Direction,
): string {
  const count = messages[direction];
  const perS = perSText(count - (before?.messages[direction] ?? 0), seconds);
  return `${formatCount(count)}, ${formatBytes(bytes[direction])}, ${perS}/s`;
}

const perSText = (count: number, seconds: number): string =>
  seconds > 0 ? formatCount(count / seconds, 1) : '–';
