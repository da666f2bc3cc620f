import type { StagesSpec } from '../scenario/scenario';

interface Corner {
  readonly atUs: number;
  readonly value: number;
}

/** Number of active senders over time, by the stages of a step. Times are microseconds from its start. */
export class Activity {
  private readonly corners: readonly Corner[];

  /** `startUs`: end of the warm-up; `share`: the entry's share of all senders. */
  constructor({ from, stages }: StagesSpec, startUs = 0, share = 1) {
    let atUs = startUs;
    const corners: Corner[] = [{ atUs, value: from * share }];
    const add = (value: number): void => {
      // Of several corners at one time only the first and last matter.
      if (corners.at(-2)?.atUs === atUs && corners.at(-1)!.atUs === atUs) corners.pop();
      corners.push({ atUs, value });
    };
    for (const { to, overMs, holdMs } of stages) {
      atUs += overMs * 1000;
      add(to * share);
      atUs += holdMs * 1000;
      add(to * share);
    }
    this.corners = corners;
  }

  /** Interpolated; constant before the first and after the last stage. */
  at(us: number): number {
    const { corners } = this;
    const next = this.nextCorner(us);
    const before = corners[Math.max(0, next - 1)]!;
    const after = corners[next];
    if (next === 0 || after === undefined) return before.value;
    const passed = (us - before.atUs) / (after.atUs - before.atUs);
    return before.value + passed * (after.value - before.value);
  }

  /** Index of the first corner after that time. */
  private nextCorner(us: number): number {
    let [from, to] = [0, this.corners.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.corners[middle]!.atUs > us) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  /** Senders are active in the order of their ranks. */
  isActive(rank: number, us: number): boolean {
    return this.at(us) > rank + 0.5;
  }

  /** First time from `us` on at which the sender is active; Infinity if never. */
  activeFromUs(rank: number, us: number): number {
    const { corners } = this;
    const least = rank + 0.5;
    if (this.at(us) > least) return us;
    // Two corners may have that time.
    for (let at = Math.max(1, this.nextCorner(us) - 2); at < corners.length; at++) {
      const [from, to] = [corners[at - 1]!, corners[at]!];
      if (to.atUs < us || to.value <= least) continue;
      if (from.value > least) return Math.max(us, from.atUs);
      const passed = (least - from.value) / (to.value - from.value);
      return Math.max(us, from.atUs + passed * (to.atUs - from.atUs));
    }
    return Infinity;
  }
}
