import type { Snapshot } from '../../measure/snapshot';

/** Seconds since the run began. */
export type TimeRange = readonly [fromS: number, toS: number];

interface TimeFollower {
  /** Another moment is pointed at, or none. */
  pointed(): void;
  /** Another part of the run is shown. */
  zoomed(): void;
}

export type TimeView = ReturnType<typeof createTimeView>;

/** The shortest part of a run that can be looked at, seconds. */
const shortestS = 2;

/** What all charts over time have in common: the moment that is pointed at, and the part of the run they show. */
export function createTimeView() {
  const followers = new Set<TimeFollower>();
  let moment: number | undefined;
  let range: TimeRange | undefined;
  return {
    /** Seconds since the run began; undefined while nothing is pointed at. */
    get moment(): number | undefined {
      return moment;
    },
    /** Undefined shows the whole run. */
    get range(): TimeRange | undefined {
      return range;
    },
    /** @returns what ends it */
    follow(follower: TimeFollower): () => void {
      followers.add(follower);
      return () => {
        followers.delete(follower);
      };
    },
    point(seconds: number | undefined): void {
      if (seconds === moment) return;
      moment = seconds;
      for (const follower of followers) follower.pointed();
    },
    zoom(next: TimeRange | undefined): void {
      if (next === undefined && range === undefined) return;
      range = next && bounded(next);
      for (const follower of followers) follower.zoomed();
    },
  };
}

function bounded([fromS, toS]: TimeRange): TimeRange {
  const [low, high] = [Math.max(0, Math.min(fromS, toS)), Math.max(fromS, toS)];
  if (high - low >= shortestS) return [low, high];
  const middle = Math.max(shortestS / 2, (low + high) / 2);
  return [middle - shortestS / 2, middle + shortestS / 2];
}

/** A part `factor` times as long around a moment; undefined when that is the whole. */
export function zoomedBy(
  factor: number,
  aroundS: number,
  [fromS, toS]: TimeRange,
  endS: number,
): TimeRange | undefined {
  const [low, high] = [fromS, toS].map((end) => aroundS + (end - aroundS) * factor) as [
    number,
    number,
  ];
  return low <= 0 && high >= endS ? undefined : [Math.max(0, low), Math.min(endS, high)];
}

/** The snapshots of a part of the run, with the neighbours that its lines go on to. */
export function snapshotsIn(
  snapshots: readonly Snapshot[],
  range: TimeRange | undefined,
): readonly Snapshot[] {
  if (range === undefined) return snapshots;
  const [fromMs, toMs] = [range[0] * 1000, range[1] * 1000];
  const first = snapshots.findIndex(({ atMs }) => atMs >= fromMs);
  const behind = snapshots.findIndex(({ atMs }) => atMs > toMs);
  if (first < 0) return [];
  return snapshots.slice(Math.max(0, first - 1), behind < 0 ? undefined : behind + 1);
}
