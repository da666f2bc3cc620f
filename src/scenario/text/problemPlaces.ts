import type { ReadEntry } from '../read/readEntries';
import type { Place, Reading } from './scenarioReading';
import type { Section } from '../read/readSection';
import { placeOfValue } from '../read/readValue';

/** What cross-checks look at: the model says what is wrong, the sections say where it stands. */
export interface Sources {
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
  for (const name of names) {
    const written = section.written.get(name);
    if (written !== undefined) return placeOfValue(reading, written);
  }
  return undefined;
}

/** Place that stands for an entry: its name, the entry itself, or the start of the file. */
export function entryPlace(reading: Reading, sources: Sources, read: ReadEntry): Place {
  return (
    writtenPlace(reading, read.section, 'name') ??
    (read.node === undefined ? startPlace(reading, sources) : reading.placeOf(read.node))
  );
}

/** The key `config`, else the first key of the file. */
export function startPlace(reading: Reading, sources: Sources): Place {
  const key = (sources.top.written.get('config') ?? [...sources.top.written.values()][0])?.key;
  return key === undefined ? { offset: 0, length: 0 } : reading.placeOf(key);
}
