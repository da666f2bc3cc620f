/** Small files beside the result folders, which runs leave for later ones. */
import path from 'node:path';
import { readBounded } from './readResult';
import { replaceFile } from './replaceFile';
import { baselinesShape, shapeProblem, type Shape } from './resultShape';

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

/** @throws as {@link replaceFile} */
export const writeKept = (file: string, value: unknown): Promise<void> =>
  replaceFile(file, `${JSON.stringify(value, null, 2)}\n`);

/** Beside the result folders: the id of the baseline of each scenario. */
export const baselinesFile = 'baselines.json';
export const baselinesSchema = 'signalr-bench-baselines/1';
export const mostBaselines = 1000;

/** Id by the name of the scenario, as far as the file can be read; a damaged one holds nothing. */
export async function readBaselines(directory: string): Promise<Readonly<Record<string, string>>> {
  const kept = await readKept(path.join(directory, baselinesFile), baselinesShape);
  const { baselines } = (kept ?? { baselines: {} }) as {
    readonly baselines: Readonly<Record<string, string>>;
  };
  // An id is the name that a folder was made with: no way to elsewhere.
  const own = Object.entries(baselines).filter(([, id]) => path.basename(id) === id);
  return Object.fromEntries(own.filter(([, id]) => !id.startsWith('.')));
}
