import { readResult } from '../../results/readResult';
import { exported } from '../../session/export/exporters';
import { exitCode } from '../exitCode';
import type { ProcessIo } from '../io';

/**
 * Writes a stored run to standard output in another format.
 *
 * @throws ExpectedError when there is no result, or none that the format could hold
 */
export async function exportCommand(
  location: string,
  { format }: { readonly format: string },
  { stdout }: ProcessIo,
): Promise<number> {
  stdout.write(await exported(await readResult(location), format));
  return exitCode.done;
}
