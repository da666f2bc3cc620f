import path from 'node:path';
import type { Snapshot } from '../../measure/snapshot';
import type { ProcessIo } from '../io';
import { onDemand, type OnDemand } from '../loadOnDemand';
import { printable } from '../views/line';

const reportFlags = ['html', 'md', 'junit'] as const;
export type ReportFlags = { readonly [Flag in (typeof reportFlags)[number]]?: string };

type Reported = Parameters<OnDemand['writeReports']>[0];

/** After the terminal output. */
export async function writeRequestedReports(
  run: Reported,
  snapshots: readonly Snapshot[],
  flags: ReportFlags,
  { stderr, cwd }: Pick<ProcessIo, 'stderr' | 'cwd'>,
): Promise<void> {
  const named = reportFlags.flatMap((format) => {
    const file = flags[format];
    return file === undefined ? [] : [[format, path.resolve(cwd, file)] as const];
  });
  if (named.length === 0) return;
  const { writeReports } = await onDemand();
  const written = await writeReports(
    run,
    () => Promise.resolve(snapshots),
    Object.fromEntries(named),
    (message) => stderr.write(`warning: ${printable(message)}\n`),
  );
  for (const file of written) stderr.write(`report    ${printable(path.relative(cwd, file))}\n`);
}

/** Replaces reports of an earlier run at once: this run may end without a chance to write. */
export async function reportBeginning(
  file: string,
  flags: ReportFlags,
  io: ProcessIo,
): Promise<void> {
  if (reportFlags.every((format) => flags[format] === undefined)) return;
  const { runWithoutResult } = await onDemand();
  const silent = { isTerminal: false, write: () => undefined };
  await writeRequestedReports(runWithoutResult(file, io.now()), [], flags, {
    ...io,
    stderr: { ...io.stderr, ...silent },
  });
}

/** For a command line that failed, perhaps before it was parsed. */
export async function reportFailure(
  [, ...words]: readonly string[],
  why: string,
  io: ProcessIo,
): Promise<void> {
  const options = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
  const valueOf = (flag: string): string | undefined => {
    const at = options.map((word) => word.split('=')[0]).lastIndexOf(flag);
    const joined = options[at]?.slice(flag.length + 1);
    return joined === '' ? options[at + 1] : joined;
  };
  const flags = Object.fromEntries(
    reportFlags.flatMap((format) => {
      const file = valueOf(`--${format}`);
      return file === undefined ? [] : [[format, file]];
    }),
  );
  if (Object.keys(flags).length === 0) return;
  const { runWithoutResult } = await onDemand();
  const file = words.find((word) => /\.ya?ml$/i.test(word)) ?? 'scenario';
  await writeRequestedReports(runWithoutResult(file, io.now(), why), [], flags, io);
}
