/** Small files beside the result folders, which runs leave for later ones. */
import { rename, writeFile } from 'node:fs/promises';
import { readBounded } from './readResult';
import { shapeProblem, type Shape } from './resultShape';

const mostBytes = 1024 * 1024;

/** Undefined for one that is not there, or damaged: it holds nothing. */
export async function readKept(file: string, shape: Shape): Promise<unknown> {
  try {
    const value = JSON.parse(await readBounded(file, mostBytes)) as unknown;
    return shapeProblem(value, shape) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all, whoever reads it meanwhile. @throws what the system says when it cannot be written */
export async function writeKept(file: string, value: unknown): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`);
  await rename(`${file}.new`, file);
}
