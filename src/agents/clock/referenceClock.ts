import { inBackground, type Disposable } from '../../base/async';
import { readFile, readlink } from 'node:fs/promises';
import { slewTimeUs } from '../../engine/machineClock';
import type { Bus } from '../bus/bus';

/**
 * Where the reference clock stands against ours. No way of measuring says where exactly: each exchange of a question
 * and its answer gives an interval that holds the true offset whatever the two ways took, and several of them meet.
 */

/** Times in microseconds: question sent and answer received by our clock, received and answered by the other. */
interface ClockExchange {
  readonly sentUs: number;
  readonly heardUs: number;
  readonly answeredUs: number;
  readonly receivedUs: number;
}

export interface ClockOffset {
  /** Reference clock minus ours. */
  readonly offsetUs: number;
  /** The true offset is at most so far away. */
  readonly boundUs: number;
}

/**
 * What two clocks may move apart in a microsecond: the limit to which time daemons slew a clock. Source: `adjtimex(2)`,
 * "MAXFREQ", 500 ppm. A daemon may step it, too: then intervals do not meet any more.
 */
const mostDrift = 500e-6;

/** Puts exchanges together. */
export class ClockInterval {
  private lowUs = -Infinity;
  private highUs = Infinity;
  private atUs = 0;
  /** How often a clock was moved so far that what was known of it was wrong. */
  jumps = 0;

  /** An exchange whose times cannot be is left out. */
  add({ sentUs, heardUs, answeredUs, receivedUs }: ClockExchange): void {
    // It holds where the other one stood when it heard and answered; until we received that, it has drifted.
    const moreUs = (receivedUs - sentUs) * mostDrift;
    const [low, high] = [answeredUs - receivedUs - moreUs, heardUs - sentUs + moreUs];
    if (!(low <= high) || answeredUs < heardUs || receivedUs < sentUs) return;
    const { lowUs, highUs } = this.widenedTo(receivedUs);
    this.atUs = receivedUs;
    this.lowUs = Math.max(low, lowUs);
    this.highUs = Math.min(high, highUs);
    if (this.lowUs <= this.highUs) return;
    this.jumps += 1;
    [this.lowUs, this.highUs] = [low, high];
  }

  /** With what the clocks may have moved apart since; undefined before the first exchange. */
  at(ourUs: number): ClockOffset | undefined {
    if (this.highUs === Infinity) return undefined;
    const { lowUs, highUs } = this.widenedTo(ourUs);
    return { offsetUs: (lowUs + highUs) / 2, boundUs: (highUs - lowUs) / 2 };
  }

  /** How far an offset that is in use may be off; so it need not move as long as that is little. */
  boundOf(offsetUs: number, ourUs: number): number {
    const { lowUs, highUs } = this.widenedTo(ourUs);
    return Math.max(Math.abs(offsetUs - lowUs), Math.abs(highUs - offsetUs));
  }

  private widenedTo(ourUs: number): { readonly lowUs: number; readonly highUs: number } {
    const moreUs = Math.max(0, ourUs - this.atUs) * mostDrift;
    return { lowUs: this.lowUs - moreUs, highUs: this.highUs + moreUs };
  }
}

// When an agent asks for the time: seldom while it knows it well, as often as it may while it does not.

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

const answerWithinMs = 2000;
/** Where nobody has answered. */
const askAgainMs = 400;
/** Until an offset is taken, so that one with a bad start is not used for the whole run. */
const firstExchanges = 30;

/** Longer than between two samples of a worker, so that no error of a step is missed. */
const rememberedUs = 5_000_000;

/** Answers the questions of agents for the time. */
export function answerClock(bus: Bus, subject: string, nowUs: () => number): Disposable {
  return bus.answer(subject, () => {
    const heardUs = nowUs();
    return `${heardUs} ${nowUs()}`;
  });
}

/** Names the clock of this machine as processes see it; undefined where the system does not say. */
export async function clockName(): Promise<string | undefined> {
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    // Each time namespace has an offset of its own.
    const space = await readlink('/proc/self/ns/time').catch(() => '');
    return `${boot} ${space}`;
  } catch {
    return undefined;
  }
}

/** Offset of a clock that goes evenly from one value to the next, as {@link ClockDiscipline} does it. */
interface Course {
  readonly fromUs: number;
  readonly fromOffsetUs: number;
  readonly toOffsetUs: number;
}

/** Follows the reference clock during a run. */
export class ReferenceClock implements Disposable {
  private readonly interval = new ClockInterval();
  private course: Course | undefined;
  /** Errors of the last seconds, each as large as it had become when the next question was asked. */
  private errors: { readonly atUs: number; readonly errorUs: number }[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;
  private readonly pace: AskingPace;
  private moved: (offset: ClockOffset) => void = () => undefined;

  /**
   * @param isSame whether both have one clock, so that there is nothing to find out
   * @param agents that ask the same coordinator
   */
  constructor(
    private readonly bus: Bus,
    private readonly subject: string,
    private readonly nowUs: () => number,
    private readonly isSame: boolean,
    agents = 1,
  ) {
    this.pace = new AskingPace(agents);
  }

  /** Undefined when nobody answers. */
  async begin(moved: (offset: ClockOffset) => void): Promise<ClockOffset | undefined> {
    this.moved = moved;
    if (this.isSame) return { offsetUs: 0, boundUs: this.boundUs };
    for (let asked = 0; asked < firstExchanges && !this.isOver; asked++)
      if (!(await this.ask())) break;
    const nowUs = this.nowUs();
    const first = this.interval.at(nowUs);
    if (first === undefined) return undefined;
    const { offsetUs } = first;
    this.course = { fromUs: nowUs, fromOffsetUs: offsetUs, toOffsetUs: offsetUs };
    this.later();
    return first;
  }

  /** How far the offset in use may be off just now, microseconds; it moves slowly to one that was found. */
  get boundUs(): number {
    const nowUs = this.nowUs();
    const { course } = this;
    return course === undefined ? 0 : this.interval.boundOf(offsetOf(course, nowUs), nowUs);
  }

  /** How far it was off in the last seconds at most, microseconds. */
  get errorUs(): number {
    return this.errors.reduce((most, { errorUs }) => Math.max(most, errorUs), this.boundUs);
  }

  get jumps(): number {
    return this.interval.jumps;
  }

  dispose(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private later(waitMs = askAgainMs): void {
    if (this.isOver) return;
    this.timer = setTimeout(() => {
      inBackground(
        this.burst().then((nextMs) => {
          this.follow();
          this.later(nextMs);
        }),
      );
    }, waitMs);
  }

  /** @returns when the next one is due, milliseconds */
  private async burst(): Promise<number> {
    for (let asked = 1; ; asked++) {
      if (this.isOver || !(await this.ask())) return askAgainMs;
      const errorUs = this.interval.at(this.nowUs())?.boundUs ?? Infinity;
      if (!this.pace.goesOn(asked, errorUs)) return this.pace.pauseMs(errorUs);
    }
  }

  /** A clock that moves all the time is worse than one that is a little off: it stays as long as it is near the middle. */
  private follow(): void {
    const { course } = this;
    const nowUs = this.nowUs();
    const found = this.interval.at(nowUs);
    if (found === undefined || course === undefined) return;
    const { offsetUs, boundUs } = found;
    if (Math.abs(offsetUs - course.toOffsetUs) <= boundUs / 8) return;
    const fromOffsetUs = offsetOf(course, nowUs);
    this.course = { fromUs: nowUs, fromOffsetUs, toOffsetUs: offsetUs };
    this.moved(found);
  }

  /** @returns whether there was an answer */
  private async ask(): Promise<boolean> {
    const sentUs = this.nowUs();
    const answer = await this.bus.ask(this.subject, '', answerWithinMs);
    const receivedUs = this.nowUs();
    // As large as it had become: the answer makes it smaller again, or a jump larger.
    this.note();
    if (answer === undefined) return false;
    const [heardUs = NaN, answeredUs = NaN] = answer.split(' ', 2).map(Number);
    this.interval.add({ sentUs, heardUs, answeredUs, receivedUs });
    this.note();
    return true;
  }

  private note(): void {
    if (this.course === undefined) return;
    const nowUs = this.nowUs();
    this.errors.push({ atUs: nowUs, errorUs: this.boundUs });
    this.errors = this.errors.filter(({ atUs }) => nowUs - atUs <= rememberedUs);
  }
}

function offsetOf({ fromUs, fromOffsetUs, toOffsetUs }: Course, nowUs: number): number {
  const changeUs = toOffsetUs - fromOffsetUs;
  return fromOffsetUs + changeUs * Math.min(1, (nowUs - fromUs) / slewTimeUs(changeUs));
}
