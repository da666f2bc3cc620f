import type { ErrorClass } from '../../base/errorClass';
import { formatCount } from '../../base/units';
import { adviceOn, complaintWords, firstComplaint } from '../../measure/judge/hubComplaint';
import { withoutEnd } from '../../base/withoutEnd';
import type { ErrorExample } from '../../measure/show/summary';

/** The first error of a run, that of a server of its own before others, with what to do about it, for the end of a run that came to nothing. */
export function firstErrorWords(examples: readonly ErrorExample[]): string {
  const example = examples.find(({ errorClass }) => errorClass === 'ownServer') ?? examples[0];
  if (example === undefined) return 'The target did not answer.';
  const { errorClass, text } = example;
  const advice = adviceOn(errorClass as ErrorClass, [text]);
  return `First error: ${errorClass}: ${withoutEnd(text, '. \t\r\n')}. ${advice}`.trim();
}

/** Why all connections were lost: by what the hub said of a method that they needed, or by the first error. */
export function lostWords(connected: number, examples: readonly ErrorExample[]): string {
  const complaint = firstComplaint(examples.slice(0, 1));
  if (complaint === undefined)
    return `All ${formatCount(connected)} connections were lost. ${firstErrorWords(examples)}`;
  const words = complaintWords(complaint);
  const { errorClass, text } = examples[0]!;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}, so none of the ${formatCount(connected)} connections could take part. ${adviceOn(errorClass as ErrorClass, [text])}`;
}

/** What the hub complains about, to be said at once: a run may come to nothing by it. */
export function complaintOf(examples: readonly ErrorExample[]): string | undefined {
  const complaint = firstComplaint(examples);
  return complaint && complaintWords(complaint);
}
