import { isMap, isScalar, type Node } from 'yaml';
import { connectionText } from '../../base/text';
import { placeholderNames } from '../../usecases/ownArguments';
import { headerNamePattern } from '../keys/keySpec';
import { checkReferences, isNothing, partOf, placeOfValue, sourceOf } from './readValue';
import { didYouMean, quotable } from '../text/words';
import type { Place, Reading } from '../text/scenarioReading';
import { nameOf, type Section } from './readSection';

/** Headers or query parameters one file may set. */
const maximumTexts = 100;

/** Reports placeholders that only messages have, and what looks like one. */
function checkPlaceholders(reading: Reading, key: string, text: string, place: Place): void {
  for (const { offset, length, name } of connectionText(text).wrong) {
    const at = partOf(reading, place, text, offset, length);
    const literal = `{${text.slice(offset, offset + length)}`;
    const known =
      placeholderNames.includes(name) || didYouMean(name, ['senderIndex']) !== undefined;
    const fixed = known ? '{senderIndex}' : literal;
    const message = `{${quotable(name)}} is no placeholder of ${key}, which are sent when a connection opens: they have {senderIndex}, the number of the connection. Write {{ for a brace.`;
    // Only where the place is that of the placeholder itself.
    const fix =
      at.length === length ? { title: `Write ${quotable(fixed)}`, text: fixed } : undefined;
    reading.report('error', 'placeholder', at, message, fix);
  }
}

/** Reads a map from names to texts (`headers`, `query`); numbers and flags count as they are written. */
export function readTexts(reading: Reading, config: Section, name: string): Record<string, string> {
  const written = config.written.get(name);
  const map = reading.follow(written?.value ?? null);
  if (written === undefined || isNothing(map)) return {};
  if (!isMap(map)) {
    const message = `${name} must be a map of names and texts.`;
    reading.report('error', 'wrong-type', placeOfValue(reading, written), message);
    return {};
  }
  const texts = new Map<string, string>();
  for (const item of map.items) {
    const key = item.key as Node;
    const value = (item.value ?? null) as Node | null;
    if (reading.full()) break;
    if (texts.size >= maximumTexts) {
      const message = `${name} has more than ${maximumTexts} entries.`;
      reading.report('error', 'above-bounds', key, message);
      break;
    }
    const entry = isScalar(key) ? nameOf(key) : '';
    const node = reading.follow(value);
    if (entry === '' || (name === 'headers' && !new RegExp(headerNamePattern).test(entry))) {
      reading.report('error', 'bad-name', key, `This is no name that ${name} can have.`);
    } else if (texts.has(entry)) {
      const message = `"${quotable(entry)}" is written twice in ${name}.`;
      reading.report('error', 'duplicate-key', key, message);
    } else if (!isScalar(node) || node.value === null) {
      const place = value === null ? reading.placeOf(key) : reading.placeOf(value);
      const message = `"${quotable(entry)}" in ${name} must be a text.`;
      reading.report('error', 'wrong-type', place.length === 0 ? key : place, message);
    } else {
      const text = sourceOf(node);
      const place = reading.placeOf(value!);
      checkReferences(reading, name, text, place, true);
      checkPlaceholders(reading, name, text, place);
      // A line break would begin a header of its own.
      if (name === 'headers' && /[\r\n]/.test(text)) {
        const message = `"${quotable(entry)}" in headers has a line break in its value.`;
        reading.report('error', 'wrong-type', place, message);
      } else texts.set(entry, text);
    }
  }
  return Object.fromEntries(texts);
}
