import { latenessUs } from '../../base/objectives/latency';
import { fill } from '../../base/text';
import { latencyWords, formatCount, formatShare } from '../../base/units';
import { shownPercentiles, type ShownLatency } from '../latencySummary';
import type { GeneratorHealth } from '../summary';

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

export function percentWords(share: number): string {
  return share >= 0.99 && share < 1 ? `${Number((share * 100).toFixed(5))} %` : formatShare(share);
}

export const latenessTexts = {
  'lateness.part': 'of which up to {0} this machine',
  'lateness.ofStep': 'Step {0}: p99 {1}, of which up to {2} this machine',
} as const;

/** A slip whose p99 is a larger part of that of the latency is said. */
const mostSlipShare = 0.2;
const mostSteps = 5;

interface MeasuredLatency extends ShownLatency {
  readonly generator?: Partial<GeneratorHealth>;
}

/** Its p99, and how much of it may be this machine's, microseconds; undefined where that is no great part. */
function latenessIn({ generator, ...latency }: MeasuredLatency) {
  const p99Us = shownPercentiles(latency)?.p99;
  const { slipP99Us = 0, slipMaxUs, readGapMaxUs = 0 } = generator ?? {};
  if (!p99Us || slipMaxUs === undefined || slipP99Us <= mostSlipShare * p99Us) return undefined;
  return { p99Us, byUs: Math.min(p99Us, latenessUs({ slipMaxUs, readGapMaxUs })) };
}

export const generatorPartUs = (step: MeasuredLatency): number | undefined =>
  latenessIn(step)?.byUs;

export function generatorPartWords(
  step: MeasuredLatency,
  text: string = latenessTexts['lateness.part'],
): string | undefined {
  const us = generatorPartUs(step);
  return us === undefined ? undefined : fill(text, latencyWords(us));
}

export function generatorPartNote(
  steps: readonly (MeasuredLatency & { readonly index: number })[],
  text: string = latenessTexts['lateness.ofStep'],
): string | undefined {
  const said = steps.flatMap((step) => {
    const found = latenessIn(step);
    if (found === undefined) return [];
    const times = [found.p99Us, found.byUs].map((us) => latencyWords(us));
    return [fill(text, formatCount(step.index), ...times)];
  });
  return said.length === 0 ? undefined : said.slice(0, mostSteps).join('; ');
}
