import { formatCount, formatLatencyUs } from '../units';

/** Latency in a sentence: `41 ms`, `1.4 s`. */
export function latencyWords(us: number): string {
  return formatLatencyUs(us).replace(/^([\d.,]+)/, '$1 ');
}

/** `99.95 %`: a limit as it was set, so that no rounding puts it on the other side of what was measured. */
export function limitWords(limit: number): string {
  return `${percentOf(limit)} %`;
}

/** Without the crumbs of binary fractions. */
const percentOf = (share: number): number => Number((share * 100).toFixed(6));

/** `98.4 %` with as many decimals as it takes to distinguish the share from the limit it missed, and as that has. */
export function shareWords(share: number, limit: number): string {
  const limitPercent = percentOf(limit);
  const ofLimit = String(limitPercent).split('.')[1]?.length ?? 0;
  for (let decimals = Math.max(1, ofLimit); decimals <= 6; decimals++) {
    const percent = Number((share * 100).toFixed(decimals));
    if (percent !== limitPercent) return `${percent} %`;
  }
  return `${share * 100} %`;
}

/** The latency with as many digits as it takes to distinguish it from the limit it missed. */
export function latencyWordsBeside(us: number, limitUs: number): string {
  const short = latencyWords(us);
  if (short !== latencyWords(limitUs)) return short;
  const [divisor, unit] = us < 1000 ? [1, 'µs'] : us < 1e6 ? [1000, 'ms'] : [1e6, 's'];
  return `${formatCount(us / divisor, 3).replace(/\.?0{1,3}$/, '')} ${unit}`;
}

/** `{0} of {1}` with its places filled in. */
export function fill(text: string, ...values: readonly string[]): string {
  return text.replace(/\{(\d+)\}/g, (place, index: string) => values[Number(index)] ?? place);
}
