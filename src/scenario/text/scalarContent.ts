import type { Scalar } from 'yaml';

/** Range of the text in which a scalar's value stands: without quotes and without the end of the line. */
export function scalarContent(
  text: string,
  { range, type }: Scalar,
): { readonly offset: number; readonly length: number } {
  const [start, end] = range ?? [0, 0];
  if (type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE') {
    return { offset: start + 1, length: Math.max(0, end - start - 2) };
  }
  return { offset: start, length: text.slice(start, end).trimEnd().length };
}
