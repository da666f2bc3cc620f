import type { StagesSpec } from '../scenario/scenario';

interface Corner {
  readonly atUs: number;
  readonly value: number;
}

/** How many of a step's senders send at a moment, by its stages. Times are microseconds from the step's start. */
export class Activity {
  private readonly corners: readonly Corner[];

  /** `startUs`: when the first stage begins, after the warm-up; `share`: of one entry of a mix, in all senders. */
  constructor({ from, stages }: StagesSpec, startUs = 0, share = 1) {
    let atUs = startUs;
    const corners: Corner[] = [{ atUs, value: from * share }];
    const add = (value: number): void => {
      // Of several at one time the first and the last count: nobody takes part for no time.
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

  /** Fractions are those of a ramp; before the first stage as at its begin, after the last one as at its end. */
  at(us: number): number {
    const { corners } = this;
    const next = this.nextCorner(us);
    const before = corners[Math.max(0, next - 1)]!;
    const after = corners[next];
    if (next === 0 || after === undefined) return before.value;
    const passed = (us - before.atUs) / (after.atUs - before.atUs);
    return before.value + passed * (after.value - before.value);
  }

  /** Number of the first one that is later. */
  private nextCorner(us: number): number {
    let [from, to] = [0, this.corners.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.corners[middle]!.atUs > us) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  /** Senders take part in the order of their ranks; a ramp is rounded to whole senders. */
  isActive(rank: number, us: number): boolean {
    return this.at(us) > rank + 0.5;
  }

  /** From when on the sender takes part next, at or after that time; Infinity when it does no more. */
  activeFromUs(rank: number, us: number): number {
    const { corners } = this;
    const least = rank + 0.5;
    if (this.at(us) > least) return us;
    // Two may lie at that time.
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
