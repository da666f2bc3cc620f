import type { Snapshot } from './snapshot';

/** Two hours at one a second: enough for every line a screen can show. */
export const mostSnapshots = 7200;

/**
 * At most about `most` snapshots of a long run, in their order. Of neighbours of one phase and step the
 * one with the slowest delivery stays, so that no spike is lost; so do the first and the last of each.
 */
export function thinSnapshots(
  snapshots: readonly Snapshot[],
  most: number = mostSnapshots,
): readonly Snapshot[] {
  if (snapshots.length <= most) return snapshots;
  const width = Math.ceil(snapshots.length / most);
  const kept: Snapshot[] = [];
  let group: Snapshot[] = [];
  const close = (): void => {
    if (group.length > 0) kept.push(group.reduce(slower));
    group = [];
  };
  for (const [at, snapshot] of snapshots.entries()) {
    const starts = !sameStage(snapshots[at - 1], snapshot);
    const ends = !sameStage(snapshot, snapshots[at + 1]);
    if (starts || ends) {
      close();
      kept.push(snapshot);
      continue;
    }
    group.push(snapshot);
    if (group.length === width) close();
  }
  return kept;
}

/**
 * The snapshots of a run as they come, oldest first: {@link thinSnapshots} of them whenever there are twice as many as
 * {@link mostSnapshots}, so that of each two one stays.
 */
export class HeldSnapshots {
  private held: Snapshot[] = [];
  private most = 2 * mostSnapshots;

  get all(): readonly Snapshot[] {
    return this.held;
  }

  add(snapshot: Snapshot): void {
    this.held.push(snapshot);
    if (this.held.length < this.most) return;
    this.held = [...thinSnapshots(this.held)];
    // The first and last of each step stay: with many steps the next look is later.
    this.most = 2 * Math.max(mostSnapshots, this.held.length);
  }
}

const slower = (one: Snapshot, other: Snapshot): Snapshot =>
  (other.interval?.latencyUs.max ?? -1) > (one.interval?.latencyUs.max ?? -1) ? other : one;

function sameStage(one: Snapshot | undefined, other: Snapshot | undefined): boolean {
  return one?.phase === other?.phase && one?.step?.index === other?.step?.index;
}
