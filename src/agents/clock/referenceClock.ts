import { inBackground, type Disposable } from '../../base/async';
import { readFile, readlink } from 'node:fs/promises';
import { slewTimeUs } from '../../engine/machineClock';
import type { Bus } from '../bus/bus';

/**
 * An exchange of a question and its answer gives an interval that holds the true clock offset, however long both ways took;
 * several intervals are intersected.
 */

/** Microseconds: sent and received by our clock, heard and answered by the other. */
interface ClockExchange {
  readonly sentUs: number;
  readonly heardUs: number;
  readonly answeredUs: number;
  readonly receivedUs: number;
}

export interface ClockOffset {
  readonly offsetUs: number;
  readonly boundUs: number;
}

/** Most that two clocks drift apart per microsecond: the limit to which time daemons slew. Source: `adjtimex(2)`, "MAXFREQ", 500 ppm. */
const mostDrift = 500e-6;

export class ClockInterval {
  private lowUs = -Infinity;
  private highUs = Infinity;
  private atUs = 0;
  jumps = 0;

  /** An impossible exchange is ignored. */
  add({ sentUs, heardUs, answeredUs, receivedUs }: ClockExchange): void {
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

  /** Widened by the possible drift; undefined before the first exchange. */
  at(ourUs: number): ClockOffset | undefined {
    if (this.highUs === Infinity) return undefined;
    const { lowUs, highUs } = this.widenedTo(ourUs);
    return { offsetUs: (lowUs + highUs) / 2, boundUs: (highUs - lowUs) / 2 };
  }

  boundOf(offsetUs: number, ourUs: number): number {
    const { lowUs, highUs } = this.widenedTo(ourUs);
    return Math.max(Math.abs(offsetUs - lowUs), Math.abs(highUs - offsetUs));
  }

  private widenedTo(ourUs: number): { readonly lowUs: number; readonly highUs: number } {
    const moreUs = Math.max(0, ourUs - this.atUs) * mostDrift;
    return { lowUs: this.lowUs - moreUs, highUs: this.highUs + moreUs };
  }
}

/** The first question may find cold paths; one of several is quick. */
const mostPerBurst = 4;
/** Of all agents together, but each asks once a second at least: an answer costs the coordinator some 30 µs. */
const mostPerSecond = 100;
const leastPauseMs = 100;
const mostPauseMs = 1000;
/** Good enough; on long paths the best that was seen, and a tenth more. */
const wellUs = 250;
const overBest = 1.1;
/** Growth before the next question: half a second of drift. */
const growthUs = 250;
/** The best error counts for this many bursts, and for as many more. */
const burstsOfBest = 60;

/** When an agent asks for the time: rarely while it knows it well. Errors are microseconds. */
export class AskingPace {
  private bestUs = Infinity;
  private bestBeforeUs = Infinity;
  private bursts = 0;
  private readonly perBurst: number;
  private readonly leastMs: number;

  constructor(agents: number) {
    const ownShare = Math.floor((mostPerSecond * mostPauseMs) / 1000 / agents);
    this.perBurst = Math.min(mostPerBurst, Math.max(1, ownShare));
    const shareMs = (agents * this.perBurst * 1000) / mostPerSecond;
    this.leastMs = Math.min(mostPauseMs, Math.max(leastPauseMs, shareMs));
  }

  goesOn(asked: number, errorUs: number): boolean {
    this.bestUs = Math.min(this.bestUs, errorUs);
    return asked < this.perBurst && errorUs > this.well;
  }

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
const askAgainMs = 400;
const firstExchanges = 30;

/** Longer than between two samples of a worker, so that no error of a step is missed. */
const rememberedUs = 5_000_000;

export function answerClock(bus: Bus, subject: string, nowUs: () => number): Disposable {
  return bus.answer(subject, () => {
    const heardUs = nowUs();
    return `${heardUs} ${nowUs()}`;
  });
}

/** Identifies the clock of this machine; undefined where the system does not say. */
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

/** Offset that moves evenly, as {@link ClockDiscipline} does it. */
interface Course {
  readonly fromUs: number;
  readonly fromOffsetUs: number;
  readonly toOffsetUs: number;
}

export class ReferenceClock implements Disposable {
  private readonly interval = new ClockInterval();
  private course: Course | undefined;
  private errors: { readonly atUs: number; readonly errorUs: number }[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;
  private readonly pace: AskingPace;
  private moved: (offset: ClockOffset) => void = () => undefined;

  /** @param isSame both have one clock: there is nothing to measure */
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

  /** Current error of the offset in use. */
  get boundUs(): number {
    const nowUs = this.nowUs();
    const { course } = this;
    return course === undefined ? 0 : this.interval.boundOf(offsetOf(course, nowUs), nowUs);
  }

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

  /** @returns time to the next burst, milliseconds */
  private async burst(): Promise<number> {
    for (let asked = 1; ; asked++) {
      if (this.isOver || !(await this.ask())) return askAgainMs;
      const errorUs = this.interval.at(this.nowUs())?.boundUs ?? Infinity;
      if (!this.pace.goesOn(asked, errorUs)) return this.pace.pauseMs(errorUs);
    }
  }

  /** An offset stays while it is near the middle: a clock that always moves is worse than one slightly off. */
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
    // The error at its largest: the answer makes it smaller, or a jump larger.
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
