import { malformedReferences, referencesIn } from '../target/references';
import type { FixDraft, Place, Reading } from '../text/scenarioReading';

/**
 * Reports what looks like a reference but is none, and references where they are not understood.
 *
 * @param place of the scalar that holds `value`
 */
export function checkReferences(
  reading: Reading,
  name: string,
  value: string,
  place: Place,
  understood: boolean,
): void {
  for (const { offset, length } of malformedReferences(value)) {
    const source = value.slice(offset, offset + length);
    const at = partOf(reading, place, value, offset, length);
    // Names only: the braces may hold a pasted secret.
    const meant = /^\$\{\s*([A-Z_][A-Z0-9_]{0,60})\s*\}$/.exec(source)?.[1];
    const fix: FixDraft | undefined =
      meant === undefined
        ? undefined
        : { title: `Write \${env:${meant}}`, text: `\${env:${meant}}` };
    reading.report(
      'error',
      'bad-reference',
      at,
      'This is no reference. Write ${env:NAME} for an environment variable or ${secret:name} for a stored secret.',
      fix,
    );
  }
  if (understood) return;
  for (const { offset, length } of referencesIn(value).slice(0, 1)) {
    reading.report(
      'error',
      'bad-reference',
      partOf(reading, place, value, offset, length),
      `References are not replaced in ${name}. Write the value itself.`,
    );
  }
}

/**
 * Place of a part of a scalar's value. Only where the value stands in the text as it is (no escapes, no
 * folding) is it more precise than the scalar itself.
 */
export function partOf(
  reading: Reading,
  place: Place,
  value: string,
  offset: number,
  length: number,
): Place {
  if (place.override !== undefined) return place;
  const quote = /["']/.test(reading.text.charAt(place.offset)) ? 1 : 0;
  if (place.length !== value.length + 2 * quote) return place;
  return { offset: place.offset + quote + offset, length };
}
