import { jsonDocument } from '../../base/text';
import { findingsTable } from '../../record/analyse/findings';
import { openImportFile } from '../../record/read/openImportFile';
import { importRecording, type ImportedScenario } from '../../run/importRecording';
import { secretVariable } from '../../scenario/target/references';
import { exitCode } from '../exitCode';
import { widthOf, type ProcessIo } from '../io';
import { writeMade } from '../newFile';
import type { EstimateDeps } from './estimateCommand';
import { importCounters } from './storedRuns';
import { printable, wrapped } from '../views/line';

interface ImportFlags {
  readonly json?: boolean;
  readonly out?: string;
  readonly force?: boolean;
}

/** Makes a scenario of a recording, or the summary of a counter file. @throws ExpectedError */
export async function importCommand(
  file: string,
  flags: ImportFlags,
  io: ProcessIo,
  deps: EstimateDeps,
): Promise<number> {
  const read = await openImportFile(file);
  if (read === undefined) return importCounters(file, flags, io);
  const model = await deps.capacity();
  const imported = await importRecording(read, deps.parseScenario, model);
  for (const note of read.notes()) io.stderr.write(`warning: ${printable(note)}\n`);
  return reportImported(imported, flags, io);
}

/** The scenario to a file or standard output, what was recognised and the estimate to standard error. */
export async function reportImported(
  imported: ImportedScenario,
  { out, json = false, force }: ImportFlags,
  { stdout, stderr, cwd }: ProcessIo,
): Promise<number> {
  const { yaml, found, problems, estimate, noEstimate, unlike } = imported;
  if (out !== undefined) await writeMade(yaml, { file: out, force }, 'import-file', { cwd });
  const width = Math.min(100, widthOf(stderr));
  const size =
    estimate === undefined
      ? `No estimate: ${noEstimate ?? 'the scenario has problems'}`
      : `Estimate: ${estimate.unit === null ? 'no size of the guide fits' : `Unit ${estimate.unit}`}, ${estimate.binding.text}`;
  const lines = [
    ...(unlike === undefined
      ? []
      : [...wrapped(`warning: ${unlike}`, width, '  ').map(({ text }) => text), '']),
    ...findingsTable(found, width, secretVariable),
    '',
    ...wrapped(size, width, '  ').map(({ text }) => text),
    ...problems
      .filter(({ severity }) => severity === 'error')
      .slice(0, 5)
      .map(({ message }) => `warning: correct the scenario: ${message}`),
    ...(out === undefined ? [] : [`wrote ${out}`]),
  ];
  stderr.write(lines.map((line) => `${printable(line)}\n`).join(''));
  if (json)
    stdout.write(
      jsonDocument({
        found,
        unlike,
        estimate,
        ...(out === undefined ? { yaml } : { out }),
      }),
    );
  else if (out === undefined) stdout.write(yaml);
  return exitCode.done;
}
