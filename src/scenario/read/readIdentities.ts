import { isMap, isScalar, isSeq, type Node } from 'yaml';
import {
  type Row,
  identityPlaceholders,
  hasNoPlaceholders,
  parsePersonalText,
} from '../../base/personalText';
import { identityKeys, identityKinds, type TokenRule } from '../keys/identityKeys';
import type { IdentitiesSpec } from '../scenario';
import type { Reading } from '../text/scenarioReading';
import { safeExcerpt } from '../text/words';
import { pickFields, sectionIn, textIn, type Section } from './readSection';
import { readRow, checkTexts, scalarText, type Written } from './readValue';

const mostRows = 10_000;
const mostArguments = 100;

export function readIdentities(reading: Reading, config: Section): IdentitiesSpec | undefined {
  const written = config.written.get('identities');
  const node = reading.resolve(written?.value);
  if (isSeq(node)) return readList(reading, node.items as Node[], written!);
  const section = sectionIn(config, 'identities');
  switch (section?.kind) {
    case 'file':
      return { kind: 'file', file: textIn(section, 'file')! };
    case 'rule':
      return readRule(reading, section);
    case 'command': {
      const command = readCommand(reading, section);
      return command && { kind: 'command', ...fieldsOfKind(section, 'command'), command };
    }
    case 'url':
      return { kind: 'url', ...fieldsOfKind(section, 'url') };
    default:
      return undefined;
  }
}

const fieldsOfKind = <Kind extends keyof typeof identityKinds>(
  section: Section,
  kind: Kind,
): Omit<Extract<IdentitiesSpec, { kind: Kind }>, 'kind'> => {
  const names: readonly string[] = [kind, ...identityKinds[kind]];
  const specs = identityKeys.filter(({ name }) => names.includes(name));
  return pickFields(section, specs) as ReturnType<typeof fieldsOfKind<Kind>>;
};

function readList(reading: Reading, items: readonly Node[], written: Written) {
  if (items.length === 0 || items.length > mostRows) {
    const message =
      items.length === 0
        ? 'identities is an empty list. Write a map for each, or remove the key.'
        : `identities has at most ${mostRows} entries here; put more of them into a file.`;
    reading.error(items.length === 0 ? 'empty-value' : 'above-bounds', written.key, message);
  }
  const rows = items.slice(0, mostRows).flatMap((item): Row[] => {
    if (reading.isFull()) return [];
    const map = reading.resolve(item);
    if (isMap(map) && map.items.length > 0) return [readRow(reading, { name: 'identities' }, map)];
    const message = 'Each identity is a map, such as { user: ann, token: "${secret:ann}" }.';
    reading.error('wrong-type', item, message);
    return [];
  });
  const [first, ...others] = rows;
  if (first === undefined) return undefined;
  for (const [at, row] of others.entries()) {
    const missing = Object.keys(first).find((column) => !Object.hasOwn(row, column));
    if (missing === undefined) continue;
    const message = `This identity has no ${safeExcerpt(missing)}, which the first one has. Write it, if only as an empty text.`;
    reading.error('identities', items[at + 1], message);
  }
  return { kind: 'list' as const, rows };
}

function readRule(reading: Reading, section: Section): TokenRule | undefined {
  const { parts, wrong } = parsePersonalText(textIn(section, 'rule')!, identityPlaceholders);
  if (hasNoPlaceholders(parts) && wrong.length === 0) {
    const message =
      'All identities of this rule have the same name. Put {index} into it, or a value such as {data.user}.';
    reading.warning('identities', section.at('rule'), message);
  }
  if (!section.written.has('key')) {
    const message =
      'A rule needs the key that signs its tokens, as a reference: `key: ${secret:signing-key}`.';
    reading.error('missing-key', section.at('rule'), message);
  }
  const claims = section.values.get('claims') as Row;
  const instead = { aud: 'audience', iss: 'issuer', exp: 'lifetime', iat: 'lifetime' };
  for (const [claim, key] of Object.entries(instead)) {
    if (!Object.hasOwn(claims, claim)) continue;
    const message = `The claim ${claim} has a key of its own: write ${key} in its place.`;
    reading.error('identities', section.written.get('claims')?.key, message);
  }
  if (!section.values.has('key')) return undefined;
  return { kind: 'rule', ...fieldsOfKind(section, 'rule') };
}

function readCommand(reading: Reading, section: Section): string[] | undefined {
  const written = section.written.get('command')!;
  const node = reading.resolve(written.value);
  if (!isSeq(node) || node.items.length === 0 || node.items.length > mostArguments) {
    const message = `command is a list of the program and at most ${mostArguments} arguments, such as [node, token.mjs, 'user-{index}'].`;
    reading.error('wrong-type', written.place, message);
    return undefined;
  }
  return (node.items as Node[]).flatMap((item) => {
    const scalar = reading.resolve(item);
    if (!isScalar(scalar) || scalar.value === null) {
      reading.error('wrong-type', item, 'Each part of a command is a text.');
      return [];
    }
    const text = scalarText(scalar);
    const place = reading.placeOf(item);
    if (text.includes('${')) {
      const message =
        'Arguments of a command are seen by other programs: put the reference into env, and read the variable in the command.';
      reading.error('bad-reference', place, message);
    } else
      checkTexts(reading, { name: 'command', placeholders: identityPlaceholders }, text, place);
    return [text];
  });
}
