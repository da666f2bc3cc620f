import path from 'node:path';
import { ExpectedError } from '../base/expectedError';
import { createFile, replaceFile } from '../results/safeFiles';
import { fileProblem } from '../results/resultFolder';
import type { ProcessIo } from './io';

/** Writes what a command has made; in place of a file that is there only with --force. @throws ExpectedError with that code */
export async function writeMade(
  text: string,
  { file, force = false }: { readonly file: string; readonly force?: boolean },
  code: string,
  { cwd }: Pick<ProcessIo, 'cwd'>,
): Promise<void> {
  try {
    await (force ? replaceFile : createFile)(path.resolve(cwd, file), text);
  } catch (cause) {
    const system = (cause as NodeJS.ErrnoException).code;
    const why = system === 'ENOENT' ? 'there is no such folder' : fileProblem(cause);
    const message = system === 'EEXIST' ? takenWords(file) : `${file} cannot be written: ${why}.`;
    throw new ExpectedError(code, message, { cause });
  }
}

export const takenWords = (file: string): string =>
  `There is a file ${file} already. Name another one, or replace it with --force.`;
