import { open } from 'node:fs/promises';
import path from 'node:path';
import { baselinesShape, shapeProblem } from '../resultShape';

/** Beside the result folders: the id of the baseline of each scenario. */
export const baselinesFile = 'baselines.json';
export const baselinesSchema = 'signalr-bench-baselines/1';
const mostBytes = 1024 * 1024;
export const mostBaselines = 1000;

/** Id by the name of the scenario, as far as the file can be read; a damaged one holds nothing. */
export async function readBaselines(directory: string): Promise<Readonly<Record<string, string>>> {
  try {
    const handle = await open(path.join(directory, baselinesFile), 'r');
    try {
      if ((await handle.stat()).size > mostBytes) return {};
      const value = JSON.parse(await handle.readFile('utf8')) as unknown;
      if (shapeProblem(value, baselinesShape) !== undefined) return {};
      const { baselines } = value as { readonly baselines: Readonly<Record<string, string>> };
      // An id is the name that a folder was made with: no way to elsewhere.
      const own = Object.entries(baselines).filter(([, id]) => path.basename(id) === id);
      return Object.fromEntries(own.filter(([, id]) => !id.startsWith('.')));
    } finally {
      await handle.close();
    }
  } catch {
    return {};
  }
}
