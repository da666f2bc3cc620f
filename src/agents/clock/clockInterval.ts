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
