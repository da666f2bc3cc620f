import { ExpectedError } from '../../base/expectedError';
import type { Plan, PlanEntry } from '../../plan/plan';
import {
  assumedFileBytes,
  parseArguments,
  placeholdersIn,
  type CallArgument,
} from '../../usecases/ownArguments';
import { argumentsOfStep, listCalls, stepsIn } from '../../usecases/sessionSteps';

/** Adds the content of files to the plan. @throws ExpectedError `payload-file` when one is empty; errors of `readFile` */
export async function withPayloadFile(
  plan: Plan,
  readFile: (name: string) => Promise<string>,
): Promise<Plan> {
  const entries = await Promise.all(plan.entries.map((entry) => withFiles(entry, readFile)));
  return { ...plan, entries };
}

async function withFiles(
  entry: PlanEntry,
  readFile: (name: string) => Promise<string>,
): Promise<PlanEntry> {
  const { payload, run } = entry;
  const { file: name } = payload;
  if (name !== undefined) {
    const text = await readFile(name);
    if (text === '') {
      throw new ExpectedError('payload-file', `${name} is empty: there is nothing to send of it.`);
    }
    return { ...entry, payload: { ...payload, text } };
  }
  const { ownCall, streams, session } = run;
  if (ownCall === undefined && session === undefined) return entry;
  const items = session
    ? listCalls(stepsIn(session)).flatMap(({ step }) => argumentsOfStep(step))
    : [ownCall!.arguments, streams?.own?.items ?? '[]'].flatMap((json) => parseArguments(json));
  const names = filesIn(items);
  if (names.length === 0) return entry;
  const files: Record<string, string> = {};
  for (const file of names) files[file] ??= await readFile(file);
  // Streams count their bytes by item, sessions by call.
  if (streams !== undefined || session !== undefined) return { ...entry, files };
  const beyond = bytesBeyondEstimate(items, files);
  const sizes = payload.sizes.map((size) => ({ ...size, bytes: size.bytes + beyond }));
  return { ...entry, files, payload: { ...payload, sizes } };
}

/** Bytes of the files beyond what the estimate assumes. */
export const bytesBeyondEstimate = (
  items: readonly CallArgument[],
  files: Readonly<Record<string, string>>,
): number =>
  filesIn(items).reduce(
    (sum, file) => sum + Buffer.byteLength(files[file] ?? '', 'utf8') - assumedFileBytes,
    0,
  );

const filesIn = (items: readonly CallArgument[]): string[] =>
  placeholdersIn(items).flatMap((one) => (one.name === 'file' ? [one.file] : []));
