/** Maps of names and texts, and texts with placeholders that are filled when a connection opens. */
import { isMap, isScalar, type Node } from 'yaml';
import { personalText, type PersonalName } from '../../base/personalText';
import { placeholderNames } from '../../usecases/ownArguments';
import { headerNamePattern } from '../keys/keySpec';
import type { Place, Reading } from '../text/scenarioReading';
import { didYouMean, quotable } from '../text/words';
import { checkReferences, isNothing, nameOf, partOf, sourceOf, type Section } from './readSection';

const maximumTexts = 100;

/** `headers` and `query`; numbers and flags count as they are written. */
export function readTexts(
  reading: Reading,
  section: Section,
  name: string,
  known: readonly PersonalName[],
): Record<string, string> {
  const { error, follow } = reading;
  const map = follow(section.written.get(name)?.value);
  if (!isMap(map)) {
    if (!isNothing(map))
      error('wrong-type', section.at(name), `${name} must be a map of names and texts.`);
    return {};
  }
  const texts = new Map<string, string>();
  for (const item of map.items) {
    const key = item.key as Node;
    const value = item.value as Node | null | undefined;
    if (reading.full()) break;
    if (texts.size >= maximumTexts) {
      error('above-bounds', key, `${name} has more than ${maximumTexts} entries.`);
      break;
    }
    const entry = isScalar(key) ? nameOf(key) : '';
    const node = follow(value);
    if (entry === '' || (name === 'headers' && !new RegExp(headerNamePattern).test(entry))) {
      error('bad-name', key, `This is not a name that ${name} can have.`);
    } else if (texts.has(entry)) {
      error('duplicate-key', key, `"${quotable(entry)}" is written twice in ${name}.`);
    } else if (!isScalar(node) || node.value === null) {
      const place = reading.placeOf(value ?? key);
      const at = place.length === 0 ? key : place;
      error('wrong-type', at, `"${quotable(entry)}" in ${name} must be a text.`);
    } else {
      const text = sourceOf(node);
      const place = reading.placeOf(value!);
      checkReferences(reading, name, text, place, true);
      checkPersonal(reading, name, text, place, known);
      // A line break would begin a header of its own.
      if (name === 'headers' && /[\r\n]/.test(text)) {
        const message = `"${quotable(entry)}" in headers has a line break in its value.`;
        error('wrong-type', place, message);
      } else texts.set(entry, text);
    }
  }
  return Object.fromEntries(texts);
}

/** What each placeholder of such a text is, for people. */
const meanings: Readonly<Record<PersonalName, string>> = {
  index: '{index}, the number of the identity',
  senderIndex: '{senderIndex}, the number of the connection',
  group: '{group}, its group',
  identity: '{identity.COLUMN}, a value of its identity',
  data: '{data.COLUMN}, a value of its row of data',
  time: '{time}',
  ticks: '{ticks}',
};

/** Reports placeholders that only messages have, and what looks like one. */
export function checkPersonal(
  reading: Reading,
  key: string,
  text: string,
  place: Place,
  known: readonly PersonalName[],
): void {
  for (const { name, ...part } of personalText(text, known).wrong) {
    const { offset, length } = part;
    const at = partOf(reading, place, text, part);
    const put = instead(text.slice(offset, offset + length), name, known);
    const are = known.map((each) => meanings[each]);
    const when = known.includes('index') ? 'an identity is made' : 'a connection opens';
    const list = `${are.slice(0, -1).join(', ')} and ${are.at(-1)!}`;
    const message = `{${quotable(name)}} is not a placeholder of ${key}, which are filled when ${when}: they have ${list}. Write {{ for a brace.`;
    // Only where the place is that of the placeholder itself.
    const fix = at.length === length ? { title: `Write ${quotable(put)}`, text: put } : undefined;
    reading.error('placeholder', at, message, fix);
  }
}

/** The placeholder that was probably meant; else what stands there, as text. */
function instead(written: string, name: string, known: readonly PersonalName[]): string {
  const [first = '', column] = name.split(/\.(.*)/s);
  const near = didYouMean(first, known);
  const isRow = near === 'identity' || near === 'data';
  if (near !== undefined && isRow) return column ? `{${near}.${column}}` : `{${written}`;
  const number = known.includes('index') ? '{index}' : '{senderIndex}';
  const isKnown = placeholderNames.includes(first) || near !== undefined;
  if (!isKnown) return `{${written}`;
  return near === undefined || isRow ? number : `{${near}}`;
}
