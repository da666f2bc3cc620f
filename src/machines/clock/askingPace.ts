/** When an agent asks for the time: seldom while it knows it well, as often as it may while it does not. */
import { mostDrift } from './clockInterval';

/** Questions of one burst at most: the first may find cold paths, and one of several finds quick ones. */
const mostPerBurst = 4;
/** Each costs the coordinator 30 us or so: all agents together ask no more often, but for one question a second of each. */
const mostPerSecond = 100;
const leastPauseMs = 100;
/** By then the clocks may have moved half a millisecond apart. */
const mostPauseMs = 1000;
/** Known well enough, microseconds; on long ways it is what they allow, and a tenth of that more. */
const wellUs = 250;
const overBest = 1.1;
/** What it may become beyond that before it is asked for again: half a second of time. */
const growthUs = 250;
/** The best of a way is known by what came of it in so many bursts, or in the same number before. */
const burstsOfBest = 60;

/** Errors are microseconds: half of what an interval leaves open. */
export class AskingPace {
  private bestUs = Infinity;
  private bestBeforeUs = Infinity;
  private bursts = 0;
  private readonly perBurst: number;
  private readonly leastMs: number;

  /** @param agents that ask the same coordinator */
  constructor(agents: number) {
    const ownShare = Math.floor((mostPerSecond * mostPauseMs) / 1000 / agents);
    this.perBurst = Math.min(mostPerBurst, Math.max(1, ownShare));
    const shareMs = (agents * this.perBurst * 1000) / mostPerSecond;
    this.leastMs = Math.min(mostPauseMs, Math.max(leastPauseMs, shareMs));
  }

  /** Whether another question of the same burst is worth it, after so many of which the last has left this error. */
  goesOn(asked: number, errorUs: number): boolean {
    this.bestUs = Math.min(this.bestUs, errorUs);
    return asked < this.perBurst && errorUs > this.well;
  }

  /** Until the next burst, from an error that grows with the time. */
  pauseMs(errorUs: number): number {
    if ((this.bursts += 1) % burstsOfBest === 0) {
      this.bestBeforeUs = this.bestUs;
      this.bestUs = Infinity;
    }
    const leftMs = (this.well + growthUs - errorUs) / (mostDrift * 1000);
    return Math.min(mostPauseMs, Math.max(this.leastMs, leftMs));
  }

  private get well(): number {
    const bestUs = Math.min(this.bestUs, this.bestBeforeUs);
    return bestUs === Infinity ? wellUs : Math.max(wellUs, bestUs * overBest);
  }
}
