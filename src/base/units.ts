type Scale = Readonly<Record<string, number>>;

const durationMs: Scale = {
  us: 0.001,
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
};
const sizeBytes: Scale = { b: 1, kb: 1024, mb: 1024 * 1024 };

export const durationPattern = '^[0-9]+(\\.[0-9]+)?\\s*(us|ms|s|m|min|h)$';
/** `2KB`, `1MB`, `512B`: 1 KB is 1,024 bytes, as in the published tables. */
export const sizePattern = '^[0-9]+(\\.[0-9]+)?\\s*([bB]|[kK][bB]|[mM][bB])$';
export const ratePattern = '^[0-9]+(\\.[0-9]+)?\\s*/\\s*(s|m|min|h)$';
export const sharePattern = '^[0-9]+(\\.[0-9]+)?\\s*%$';

function scaled(text: string, pattern: string, scale: Scale): number | undefined {
  if (!new RegExp(pattern).test(text)) return undefined;
  const [, digits, unit] = /^([0-9.]+)\s*([a-zA-Z]+)$/.exec(text) ?? [];
  const factor = scale[(unit ?? '').toLowerCase()];
  return factor === undefined ? undefined : Number(digits) * factor;
}

export function parseDurationMs(text: string): number | undefined {
  return scaled(text.trim(), durationPattern, durationMs);
}

export function parseSizeBytes(text: string): number | undefined {
  return scaled(text.trim(), sizePattern, sizeBytes);
}

/** 0.01 for `1%`; undefined when the text is no share. */
export function parseShare(text: string): number | undefined {
  const trimmed = text.trim();
  return new RegExp(sharePattern).test(trimmed) ? Number.parseFloat(trimmed) / 100 : undefined;
}

export function parseRate(text: string): number | undefined {
  const trimmed = text.trim();
  if (!new RegExp(ratePattern).test(trimmed)) return undefined;
  const [digits = '', unit = ''] = trimmed.split('/');
  return (Number(digits) * 1000) / durationMs[unit.trim()]!;
}

/** `1,234,567`, always in English notation. */
export function formatCount(value: number, decimals = 0): string {
  const fixed = value.toFixed(decimals);
  const [whole = '', fraction] = fixed.split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3}){1,7}(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function threeDigits(value: number): string {
  if (value >= 100) return formatCount(Math.round(value));
  return String(Number(value.toPrecision(2)));
}

/** `850µs`, `1.1ms`, `41ms`, `1.9s`. */
export function formatLatencyUs(us: number): string {
  if (!Number.isFinite(us)) return '∞';
  if (us < 999.5) return `${threeDigits(us)}µs`;
  if (us < 999_500) return `${threeDigits(us / 1000)}ms`;
  return `${threeDigits(us / 1_000_000)}s`;
}

/** `250 ms`, `5 s`, `4 min`, `2 h`. */
export function formatDurationMs(ms: number): string {
  if (ms < 1000) return `${Number(ms.toFixed(3))} ms`;
  if (ms < 120_000) return `${Number((ms / 1000).toFixed(1))} s`;
  if (ms < 7_200_000) return `${Number((ms / 60_000).toFixed(1))} min`;
  return `${Number((ms / 3_600_000).toFixed(1))} h`;
}

export const formatRate = (perSecond: number): string =>
  `${formatCount(perSecond, Number.isInteger(perSecond) ? 0 : 3)}/s`;

/** `512 B`, `2 KB`, `1.5 MB`; 1 KB is 1,024 bytes. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${formatCount(bytes)} B`;
  if (bytes < 1024 * 1024) return `${Number((bytes / 1024).toFixed(1))} KB`;
  return `${Number((bytes / 1024 / 1024).toFixed(1))} MB`;
}

export function formatShare(share: number): string {
  const percent = share * 100;
  return `${Number(percent.toFixed(percent !== 0 && Math.abs(percent) < 10 ? 1 : 0))} %`;
}

export const formatUtcTime = (startedAt: string): string =>
  `${startedAt.slice(0, 16).replace('T', ' ')} UTC`;

/** `1 client`, `2 clients`. */
export const plural = (count: number, what: string): string =>
  `${formatCount(count)} ${what}${count === 1 ? '' : 's'}`;

/** `41 ms`, `1.4 s`. */
export function latencyWords(us: number): string {
  return formatLatencyUs(us).replace(/^([\d.,]+)/, '$1 ');
}

/** `99.95 %`: not rounded, so that it stays on its side of the measured value. */
export function shareLimitWords(limit: number): string {
  return `${percentWithoutNoise(limit)} %`;
}

const percentWithoutNoise = (share: number): number => Number((share * 100).toFixed(6));

/** `98.4 %` with enough decimals to differ from the limit that was missed. */
export function shareWordsBesideLimit(share: number, limit: number): string {
  const limitPercent = percentWithoutNoise(limit);
  const ofLimit = String(limitPercent).split('.')[1]?.length ?? 0;
  for (let decimals = Math.max(1, ofLimit); decimals <= 6; decimals++) {
    const percent = Number((share * 100).toFixed(decimals));
    if (percent !== limitPercent) return `${percent} %`;
  }
  return `${share * 100} %`;
}

export function latencyWordsBesideLimit(us: number, limitUs: number): string {
  const short = latencyWords(us);
  if (short !== latencyWords(limitUs)) return short;
  const [divisor, unit] = us < 1000 ? [1, 'µs'] : us < 1e6 ? [1000, 'ms'] : [1e6, 's'];
  return `${formatCount(us / divisor, 3).replace(/\.?0{1,3}$/, '')} ${unit}`;
}

export function rateWordsBesideLimit(rate: number, limit: number): string {
  for (let decimals = rate < 100 ? 1 : 0; decimals < 6; decimals++)
    if (formatCount(rate, decimals) !== formatCount(limit, decimals))
      return formatCount(rate, decimals);
  return String(rate);
}
