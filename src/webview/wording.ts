import { latencyWords } from '../base/objectives/limitWords';
import { timeLabel } from '../measure/show/chartWords';
import type { PanelStrings } from '../protocol/panelStrings';

/** `57 s`, `3:05`. */
export function timeLeftWords(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return whole < 60 ? `${whole} s` : timeLabel(whole);
}

/** `41 ms`; the dash when nothing was measured. */
export function latencyOrDash(us: number | null | undefined, dash: string): string {
  return us === null || us === undefined ? dash : latencyWords(us);
}

/** The same of what was judged, where null is a lost delivery. */
export function latencyOrLost(
  us: number | null | undefined,
  { noValue, isLost }: PanelStrings,
): string {
  return us === null ? isLost : latencyOrDash(us, noValue);
}
