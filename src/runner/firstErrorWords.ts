import { errorAdvice, type ErrorClass } from '../base/errorClass';
import { withoutEnd } from '../base/withoutEnd';
import type { ErrorExample } from '../measure/summary';

/** The first error of a run, that of a server of its own before others, with what to do about it, for the end of a run that came to nothing. */
export function firstErrorWords(examples: readonly ErrorExample[]): string {
  const example = examples.find(({ errorClass }) => errorClass === 'ownServer') ?? examples[0];
  if (example === undefined) return 'The target did not answer.';
  const { errorClass, text } = example;
  const advice = errorAdvice[errorClass as ErrorClass] ?? '';
  return `First error: ${errorClass}: ${withoutEnd(text, '. \t\r\n')}. ${advice}`.trim();
}
