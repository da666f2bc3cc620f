import { ExpectedError } from '../base/expectedError';
import { entryRun } from '../plan/entryRun';
import type { Plan, PlanEntry } from '../plan/plan';
import { assumedFileBytes, ownArguments, placeholdersIn } from '../usecases/ownArguments';
import { numberOf } from '../usecases/parameterSpec';

/**
 * The plan with the content of the files its messages are made of, where it names them.
 *
 * @param readFile text of a file named in the scenario
 *
 * @throws ExpectedError `payload-file` when one is empty; what `readFile` throws
 */
export async function withPayloadFile(
  plan: Plan,
  readFile: (name: string) => Promise<string>,
): Promise<Plan> {
  const entries: PlanEntry[] = [];
  for (const entry of plan.entries) entries.push(await withFiles(entry, readFile));
  return { ...plan, entries };
}

async function withFiles(
  entry: PlanEntry,
  readFile: (name: string) => Promise<string>,
): Promise<PlanEntry> {
  const { parameters } = entry;
  const name = parameters['payloadFile'];
  if (typeof name === 'string') {
    const payloadText = await readFile(name);
    if (payloadText === '') {
      throw new ExpectedError('payload-file', `${name} is empty: there is nothing to send of it.`);
    }
    return { ...entry, payloadText };
  }
  const { ownCall, streams } = entryRun(entry);
  if (ownCall === undefined) return entry;
  const lists = [ownCall.arguments, streams?.own?.items ?? '[]'];
  const placeholders = lists.flatMap((list) => placeholdersIn(ownArguments(list)));
  const names = placeholders.flatMap((one) => (one.name === 'file' ? [one.file] : []));
  if (names.length === 0) return entry;
  const files: Record<string, string> = {};
  let messageSize = numberOf(parameters, 'messageSize');
  for (const file of names) {
    const text = (files[file] ??= await readFile(file));
    messageSize += Buffer.byteLength(text, 'utf8') - assumedFileBytes;
  }
  // What goes through streams is counted item by item.
  if (streams !== undefined) return { ...entry, files };
  return { ...entry, files, parameters: { ...parameters, messageSize } };
}
