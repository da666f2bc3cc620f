import { readFile, readlink } from 'node:fs/promises';
import type { Disposable } from '../../base/event';
import type { Bus } from '../bus/bus';
import { ClockInterval, type ClockOffset } from './clockInterval';

/** Exchanges of one burst, the first of which finds cold paths. */
const burst = 10;
const burstEveryMs = 1000;
const answerWithinMs = 2000;
/** First bursts until an offset is taken, so that one with a bad start is not used for the whole run. */
const firstBursts = 3;

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

/** Follows the reference clock during a run. */
export class ReferenceClock implements Disposable {
  private readonly interval = new ClockInterval();
  private usedUs: number | undefined;
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
    for (let count = 0; count < firstBursts; count++) await this.ask();
    const first = this.interval.at(this.nowUs());
    if (first === undefined) return undefined;
    this.usedUs = first.offsetUs;
    this.later(moved);
    return first;
  }

  /** Of the offset in use, microseconds. */
  get boundUs(): number {
    return this.usedUs === undefined ? 0 : this.interval.boundOf(this.usedUs, this.nowUs());
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
      void this.ask().then(() => {
        const now = this.interval.at(this.nowUs());
        // A clock that moves all the time is worse than one that is a little off.
        if (now !== undefined && this.boundUs > 2 * now.boundUs) {
          this.usedUs = now.offsetUs;
          moved(now);
        }
        this.later(moved);
      });
    }, burstEveryMs);
  }

  private async ask(): Promise<void> {
    for (let count = 0; count < burst && !this.isOver; count++) {
      const sentUs = this.nowUs();
      const answer = await this.bus.ask(this.subject, '', answerWithinMs);
      const receivedUs = this.nowUs();
      if (answer === undefined) return;
      const [heardUs = NaN, answeredUs = NaN] = answer.split(' ', 2).map(Number);
      this.interval.add({ sentUs, heardUs, answeredUs, receivedUs });
    }
  }
}
