import { ExpectedError } from '../../base/expectedError';

/** A sentence about a cluster without the flags of the command line, which asks for the same in other ways. */
export const withoutFlags = (text: string): string =>
  text
    .replace(/ with --(?:namespace|context|target|secret)\b/g, '')
    .replace(/ \(--agents \d+\)/g, '');

/** The same error in words that fit in the editor. */
export function forEditor(error: unknown): unknown {
  if (!(error instanceof ExpectedError)) return error;
  const text = withoutFlags(error.message);
  return text === error.message ? error : new ExpectedError(error.code, text, { cause: error });
}
