import { parseSizeBytes } from '../base/units';

/** `weight`: relative frequency. */
export interface PayloadSize {
  readonly bytes: number;
  readonly weight: number;
}

/** Payload with its envelope, in bytes. */
export interface WireSize extends PayloadSize {
  readonly sent: number;
  readonly toClient: number;
  readonly toApplication: number;
}

/** Sizes a range is divided into: each is encoded once. */
const sizesOfRange = 16;
const mostSizes = 16;
const mostBytes = 16 * 1024 * 1024;
/** Each size is kept encoded, several times. */
const mostTogether = 64 * 1024 * 1024;

const format = 'Write a range such as 1KB-4KB, or sizes with weights such as 256B 90%, 16KB 10%.';

type ReadSizes = { readonly sizes: readonly PayloadSize[] } | { readonly problem: string };

/** A range such as `1KB-4KB` (16 sizes, equally likely), or sizes with weights. */
export function parsePayloadSizes(text: string): ReadSizes {
  const [, from, to] =
    /^(\.?\w+(?:\.\w+)*)\s*(?:-|–|\.\.)\s*(\.?\w+(?:\.\w+)*)$/.exec(text.trim().slice(0, 200)) ??
    [];
  if (from !== undefined && to !== undefined) return rangeOf(parseBytes(from), parseBytes(to));
  const parts = text.slice(0, 2000).split(',');
  if (parts.length > mostSizes) return { problem: `At most ${mostSizes} sizes can be listed.` };
  const sizes: PayloadSize[] = [];
  for (const part of parts) {
    const [, size = '', weight = '1'] =
      /^([\d.]+\s?[a-zA-Z]{0,2})(?:\s+(\d{1,9}(?:\.\d{1,9})?)\s*%?)?$/.exec(part.trim()) ?? [];
    const bytes = parseBytes(size);
    if (bytes === undefined) return { problem: format };
    if (bytes < 1 || bytes > mostBytes) return { problem: bounds };
    if (Number(weight) <= 0) return { problem: 'The weight of each size must be above 0.' };
    sizes.push({ bytes, weight: Number(weight) });
  }
  const sum = sizes.reduce((total, { weight }) => total + weight, 0);
  // Thirds are written as 33.3 %.
  if (text.includes('%') && Math.abs(sum - 100) > 0.5)
    return { problem: `The shares add up to ${Number(sum.toFixed(2))} %, not to 100 %.` };
  return together(sizes);
}

const bounds = 'Sizes go from 1 byte to 16 MB.';

function rangeOf(from: number | undefined, to: number | undefined): ReadSizes {
  if (from === undefined || to === undefined) return { problem: format };
  if (from < 1 || to > mostBytes) return { problem: bounds };
  if (from > to) return { problem: 'A range begins with its smaller size.' };
  const step = (to - from) / sizesOfRange;
  const sizes = Array.from({ length: sizesOfRange }, (_, index) => ({
    bytes: Math.round(from + (index + 0.5) * step),
    weight: 1,
  }));
  return together(sizes);
}

function together(sizes: readonly PayloadSize[]): ReadSizes {
  const problem = totalSizeProblem(sizes);
  return problem === undefined ? { sizes } : { problem };
}

export function totalSizeProblem(sizes: readonly PayloadSize[]): string | undefined {
  const sum = sizes.reduce((total, { bytes }) => total + bytes, 0);
  return sum > mostTogether
    ? 'All sizes together must not exceed 64 MB: each is kept encoded.'
    : undefined;
}

export function weightedMean(sizes: readonly PayloadSize[], countsFor: (bytes: number) => number) {
  const weights = sizes.reduce((sum, { weight }) => sum + weight, 0);
  return sizes.reduce((sum, { bytes, weight }) => sum + countsFor(bytes) * weight, 0) / weights;
}

/** Undefined when the text is no size. */
export function parseBytes(size: string): number | undefined {
  const bytes = /^\d{1,9}$/.test(size) ? Number(size) : parseSizeBytes(size);
  return bytes === undefined ? undefined : Math.round(bytes);
}
