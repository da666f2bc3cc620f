import path from 'node:path';
import { readKept } from '../keptFile';
import { baselinesShape } from '../resultShape';

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
