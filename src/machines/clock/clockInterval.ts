import type { Bus } from '../bus/bus';
import { encode, readBeat, type Alive, type Member, type RunSubjects } from '../messages';

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
export const mostDrift = 500e-6;

/** Puts exchanges together. */
export class ClockInterval {
  private lowUs = -Infinity;
  private highUs = Infinity;
  private atUs = 0;
  /** How often a clock was moved so far that what was known of it was wrong. */
  jumps = 0;

  /** An exchange whose times cannot be is left out. @param errorUs how far the other one's answer may be off */
  add({ sentUs, heardUs, answeredUs, receivedUs }: ClockExchange, errorUs = 0): void {
    // It holds where the other one stood when it heard and answered; until we received that, it has drifted.
    const moreUs = errorUs + (receivedUs - sentUs) * mostDrift;
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

  /** The other clock is another one from now on, which differs from it by so much at most. */
  widen(byUs: number): void {
    this.lowUs -= byUs;
    this.highUs += byUs;
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

// The time of a run whose coordinator is gone, as its agents know it.

const questions = 20;
const everyMs = 50;

/**
 * Asks all agents many times at once. Each answer is a reading of the time of the run between question and answer, as
 * exact as the agent knows it: so it gives an interval that holds what this clock lacks to that time, and all of them meet.
 * @returns undefined where no agent answers, or where they contradict each other
 */
export async function recoverTime(
  bus: Bus,
  { alive, beats }: RunSubjects,
  members: readonly Member[],
  nowUs: () => number,
): Promise<ClockOffset | undefined> {
  const interval = new ClockInterval();
  const epochs = new Set(members.map(({ epoch }) => epoch));
  const asked = new Set<number>();
  const hearing = bus.hear(`${beats}.*`, (text) => {
    const receivedUs = nowUs();
    const { epoch = '', time } = readBeat(text) ?? {};
    if (time === undefined || !epochs.has(epoch) || !asked.has(time.question)) return;
    const { question: sentUs, runUs, errorUs } = time;
    interval.add({ sentUs, heardUs: runUs, answeredUs: runUs, receivedUs }, errorUs);
  });
  for (let count = 0; count < questions; count++) {
    const question = Math.floor(nowUs());
    asked.add(question);
    bus.say(alive, encode({ asks: true, question } satisfies Alive));
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  hearing.dispose();
  return interval.jumps > 0 ? undefined : interval.at(nowUs());
}
