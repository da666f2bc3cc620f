import type { Lateness } from '../../base/objectives/lateness';
import type { StepSample } from '../sample';

/** How late the worst worker was in a step. */
export class WorstLateness implements Lateness {
  slipMaxUs = 0;
  readGapMaxUs = 0;
  unread = 0;

  add({ slipMaxUs = 0, readGapMaxUs = 0, unread = 0 }: StepSample): void {
    this.slipMaxUs = Math.max(this.slipMaxUs, slipMaxUs);
    this.readGapMaxUs = Math.max(this.readGapMaxUs, readGapMaxUs);
    this.unread += unread;
  }
}
