/** Checks of a scenario that was read: each file one subject, every problem with its place. */
import type { ReadEntry } from '../read/readEntries';
import { placeOfValue, type Section } from '../read/readSection';
import type { Scenario } from '../scenario';
import type { Place, Reading } from '../text/scenarioReading';

/** What the checks look at: the scenario says what is wrong, the sections say where it stands. */
export interface Checked {
  readonly reading: Reading;
  readonly scenario: Scenario;
  readonly top: Section;
  readonly config: Section;
  readonly slo: Section;
  readonly entries: readonly ReadEntry[];
}

/** Place of the value of the first of these keys that is written; undefined when none is. */
export function writtenPlace(
  reading: Reading,
  section: Section,
  ...names: readonly string[]
): Place | undefined {
  const written = names.flatMap((name) => section.written.get(name) ?? [])[0];
  return written && placeOfValue(reading, written);
}

/** The same for keys of `config`; the start of the file when none is written. */
export const configPlace = (checked: Checked, ...names: readonly string[]): Place =>
  writtenPlace(checked.reading, checked.config, ...names) ?? startPlace(checked);

/** The same for parameters of an entry; else its name, the entry itself, or the start of the file. */
export const entryPlace = (
  checked: Checked,
  { section, parameters, node }: ReadEntry,
  ...names: readonly string[]
): Place =>
  writtenPlace(checked.reading, parameters, ...names) ??
  writtenPlace(checked.reading, section, 'name') ??
  (node === undefined ? startPlace(checked) : checked.reading.placeOf(node));

/** The key `config`, else the first key of the file. */
export function startPlace({ reading, top: { written } }: Checked): Place {
  const key = (written.get('config') ?? [...written.values()][0])?.key;
  return key === undefined ? { offset: 0, length: 0 } : reading.placeOf(key);
}
