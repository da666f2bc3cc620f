import { readFile, readlink } from 'node:fs/promises';
import type { Disposable } from '../../base/event';
import { slewTimeUs } from '../../runner/machineClock';
import type { Bus } from '../bus/bus';
import { ClockInterval, type ClockOffset } from './clockInterval';

/** Exchanges of one burst, the first of which finds cold paths: ten a second, of which the coordinator of many agents has many. */
const burst = 4;
const burstEveryMs = 400;
const answerWithinMs = 2000;
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

/** Offset of a clock that goes evenly from one value to the next, as {@link ClockRudder} does it. */
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

  /** @param isSame whether both have one clock, so that there is nothing to find out */
  constructor(
    private readonly bus: Bus,
    private readonly subject: string,
    private readonly nowUs: () => number,
    private readonly isSame: boolean,
  ) {}

  /** Undefined when nobody answers. */
  async begin(moved: (offset: ClockOffset) => void): Promise<ClockOffset | undefined> {
    if (this.isSame) return { offsetUs: 0, boundUs: 0 };
    await this.ask(firstExchanges);
    const nowUs = this.nowUs();
    const first = this.interval.at(nowUs);
    if (first === undefined) return undefined;
    const { offsetUs } = first;
    this.course = { fromUs: nowUs, fromOffsetUs: offsetUs, toOffsetUs: offsetUs };
    this.later(moved);
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

  private later(moved: (offset: ClockOffset) => void): void {
    if (this.isOver) return;
    this.timer = setTimeout(() => {
      void this.ask(burst).then(() => {
        this.follow(moved);
        this.later(moved);
      });
    }, burstEveryMs);
  }

  /** A clock that moves all the time is worse than one that is a little off: it stays as long as it is near the middle. */
  private follow(moved: (offset: ClockOffset) => void): void {
    const { course } = this;
    const nowUs = this.nowUs();
    const found = this.interval.at(nowUs);
    if (found === undefined || course === undefined) return;
    const { offsetUs, boundUs } = found;
    if (Math.abs(offsetUs - course.toOffsetUs) <= boundUs / 4) return;
    const fromOffsetUs = offsetOf(course, nowUs);
    this.course = { fromUs: nowUs, fromOffsetUs, toOffsetUs: offsetUs };
    moved(found);
  }

  private async ask(times: number): Promise<void> {
    for (let count = 0; count < times && !this.isOver; count++) {
      const sentUs = this.nowUs();
      const answer = await this.bus.ask(this.subject, '', answerWithinMs);
      const receivedUs = this.nowUs();
      if (answer === undefined) return;
      const [heardUs = NaN, answeredUs = NaN] = answer.split(' ', 2).map(Number);
      this.note();
      this.interval.add({ sentUs, heardUs, answeredUs, receivedUs });
    }
    // What a jump has made of it.
    this.note();
  }

  /** Before an answer makes it smaller again. */
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
