import { errorClasses, type ErrorClass, type ErrorCounts } from '../../base/errorClass';
import { formatCount } from '../../base/units';
import { adviceOn } from '../../measure/judge/hubComplaint';
import type { ErrorExample } from '../../measure/show/summary';
import { wrap, type Line } from './line';

/** `errors: 12 timeout, 3 refused`, most frequent first; empty when there are none. */
export function errorWords(errors: ErrorCounts): string[] {
  const counts = sortedCounts(errors);
  if (counts.length === 0) return [];
  return [`errors: ${counts.map(([name, count]) => `${formatCount(count)} ${name}`).join(', ')}`];
}

/** Each class with its count, what it means, and the texts that were kept. */
export function errorLines(
  errors: ErrorCounts,
  examples: readonly ErrorExample[],
  width: number,
): Line[] {
  const counts = sortedCounts(errors);
  if (counts.length === 0) return [];
  return [
    { text: 'errors', tone: 'bold' },
    ...counts.flatMap(([name, count]) => {
      const meaning =
        (errorClasses as Readonly<Record<string, string>>)[name] ?? 'unknown to this version';
      const head = `${formatCount(count).padStart(9)} ${name}: ${meaning}`;
      const kept = examples.filter(({ errorClass }) => errorClass === name);
      const texts = [...new Set(kept.map(({ text }) => text.slice(0, 300)))].slice(0, 3);
      return [
        ...wrap(head, width, ' '.repeat(10)).map((text) => ({ text })),
        ...wrap(`${' '.repeat(10)}${adviceOn(name, texts)}`, width, ' '.repeat(10))
          .filter((text) => text.trim() !== '')
          .map((text) => ({ text })),
        ...texts.flatMap((text) =>
          wrap(`${' '.repeat(10)}e.g. ${text}`, width, ' '.repeat(15)).map((line) => ({
            text: line,
            tone: 'dim' as const,
          })),
        ),
      ];
    }),
  ];
}

function sortedCounts(errors: ErrorCounts): [ErrorClass, number][] {
  return (Object.entries(errors) as [ErrorClass, number][])
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1]);
}
