/** Values of charts and tables in words. */
import { latencyWords } from '../../base/objectives/limitWords';
import { formatCount, formatShare } from '../../base/units';

/** Seconds since the run began as `1:05`, `1:00:05`. */
export function timeLabel(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes, rest] = [
    Math.floor(whole / 3600),
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** A rate: whole from 100 on, one decimal below. */
export function rateWords(perSecond: number): string {
  const decimals = perSecond >= 100 || Number.isInteger(perSecond) ? 0 : 1;
  return formatCount(perSecond, decimals);
}

export function valueWords(unit: ChartUnit, value: number): string {
  if (unit === 'latency') return latencyWords(value);
  return unit === 'perSecond' ? rateWords(value) : formatCount(value);
}

/** `41 ms`; the dash when nothing was measured. */
export function latencyOrDash(us: number | null | undefined, dash: string): string {
  return us === null || us === undefined ? dash : latencyWords(us);
}

/** The same of what was judged, where null is a lost delivery. */
export function latencyOrLost(
  us: number | null | undefined,
  { noValue, isLost }: Readonly<Record<'noValue' | 'isLost', string>>,
): string {
  return us === null ? isLost : latencyOrDash(us, noValue);
}

/** `57 s`, `3:05`. */
export function timeLeftWords(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return whole < 60 ? `${whole} s` : timeLabel(whole);
}

export type ChartUnit = 'latency' | 'perSecond' | 'count';

/** `99.9 %` of a share. */
export function percentWords(share: number): string {
  return share >= 0.99 && share < 1 ? `${Number((share * 100).toFixed(5))} %` : formatShare(share);
}
