import { formatBytes, formatCount } from '../base/units';
import type { RecordedCounts } from './proxy/recorder';
import type { Direction } from './recording';
import type { RunningRecording } from './startRecording';

export interface RecordProgress {
  readonly counts: RecordedCounts;
  readonly before: RecordedCounts | undefined;
  /** `seconds` between the two, `atS` since the start. */
  readonly seconds: number;
  readonly atS: number;
  readonly dropped: number;
}

export interface RecordWatcher {
  onProgress(progress: RecordProgress): void;
  /** Once each time that the last client has left. */
  onAllLeft(): void;
}

const tickMs = 1000;
/** A page that reloads is away for a moment. */
const goneMs = 5000;

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
    goneSinceMs = Infinity;
    watcher.onAllLeft();
  };
  tick();
  const timer = setInterval(tick, tickMs);
  return () => clearInterval(timer);
}

export interface TrafficRow {
  readonly name: string;
  readonly seen: string;
  readonly perS: string;
  readonly size: string;
}

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

/** `120, 25 KB, 3.1/s`. */
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
