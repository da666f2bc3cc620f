/** Times of one step in seconds of run time; an end that is not known yet lies at infinity. */
interface Window {
  readonly fromS: number;
  sentS: number;
  drainedS: number;
}

/** How much of a tick belongs to measured steps, in seconds. */
export interface MeasuredTime {
  /** While messages of a step were being sent. */
  readonly seconds: number;
  /** The same and the drain after it: while deliveries counted. */
  readonly receivingSeconds: number;
}

/**
 * Remembers when steps were measured, since rates are counts over the time in which they were counted:
 * the tick in which a step begins or ends belongs to it in part only.
 */
export class RateWindows {
  private windows: Window[] = [];

  /** Measuring of the next step begins at `fromS`. Ticks are told at most two seconds late, so two are kept. */
  begin(fromS: number): void {
    const next = { fromS, sentS: Infinity, drainedS: Infinity };
    this.windows = [...this.windows.slice(-1), next];
  }

  /** The last message of the step has been sent. */
  sent(atS: number): void {
    const window = this.windows.at(-1);
    if (window) window.sentS = Math.min(window.sentS, atS);
  }

  /** Deliveries of the step no longer count. */
  drained(atS: number): void {
    this.sent(atS);
    const window = this.windows.at(-1);
    if (window) window.drainedS = Math.min(window.drainedS, atS);
  }

  /** @param tick number of the second; it ends at that many seconds of run time */
  within(tick: number): MeasuredTime {
    const sum = (end: 'sentS' | 'drainedS'): number =>
      this.windows.reduce(
        (total, window) =>
          total + Math.max(0, Math.min(tick, window[end]) - Math.max(tick - 1, window.fromS)),
        0,
      );
    return { seconds: sum('sentS'), receivingSeconds: sum('drainedS') };
  }
}
