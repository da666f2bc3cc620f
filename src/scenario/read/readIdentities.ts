/** `config.identities` and `config.data`: who the connections are, and values for what they send. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { identityNames, isSameForAll, personalText } from '../../base/personalText';
import type { Row, RowValue } from '../../base/rows';
import { dataKeys, identityKeys, tokenAlgorithms } from '../keys/identityKeys';
import { identityKinds } from '../keys/identityKeys';
import type { DataSpec, IdentitiesSpec } from '../scenario';
import type { Place, Reading } from '../text/scenarioReading';
import { quotable } from '../text/words';
import { isBelow } from './readArguments';
import {
  checkReferences,
  choiceIn,
  isNothing,
  nameOf,
  numberIn,
  readSection,
  sourceOf,
  type Section,
  type Written,
} from './readSection';
import { checkPersonal, readTexts } from './readTexts';

const mostRows = 10_000;
const mostColumns = 100;
const mostValues = 1000;
const mostDepth = 20;

type Kind = keyof typeof identityKinds;
const kindNames = Object.keys(identityKinds) as Kind[];

export function readIdentities(reading: Reading, config: Section): IdentitiesSpec | undefined {
  const written = config.written.get('identities');
  const node = reading.follow(written?.value);
  if (written === undefined) return undefined;
  if (isSeq(node)) return readList(reading, node.items as Node[], written);
  const section = readSection(reading, 'config.identities', identityKeys, written);
  if (section.map === undefined) return undefined;
  const found = kindNames.filter((kind) => section.written.has(kind));
  const [kind, other] = found;
  if (kind === undefined || other !== undefined) {
    const which = kindNames.join(', ');
    const message =
      kind === undefined
        ? `identities do not say where they come from: write a list, or one of ${which}.`
        : `identities come from one place: ${kind} and ${other!} are both written. Remove one of them.`;
    reading.error('identities', kind === undefined ? written.key : section.at(other!), message);
    return undefined;
  }
  for (const [name, { key }] of section.written) {
    if (name === kind || (identityKinds[kind] as readonly string[]).includes(name)) continue;
    reading.warning('no-effect', key, `${name} means nothing beside ${kind}. Remove it.`);
  }
  switch (kind) {
    case 'file': {
      const file = textIn(section, 'file');
      return file === undefined || !isBeside(reading, section, file) ? undefined : { kind, file };
    }
    case 'rule':
      return readRule(reading, section);
    default:
      return readCall(reading, section, kind);
  }
}

export function readData(reading: Reading, config: Section): DataSpec | undefined {
  const section = readSection(reading, 'config.data', dataKeys, config.written.get('data'));
  if (section.map === undefined) return undefined;
  const file = textIn(section, 'file');
  if (file === undefined) {
    if (!section.written.has('file'))
      reading.error(
        'missing-file',
        section.map,
        'data needs the key file: a CSV or JSON lines file.',
      );
    return undefined;
  }
  if (!isBeside(reading, section, file)) return undefined;
  return { file, take: choiceIn(section, 'take', ['connection', 'shared']) ?? 'connection' };
}

function isBeside(reading: Reading, section: Section, file: string): boolean {
  if (isBelow(file)) return true;
  const message =
    'The file must lie beside the scenario file or below it: what it holds is sent to the target.';
  reading.error('data-file', section.at('file'), message);
  return false;
}

function textIn({ values }: Section, name: string): string | undefined {
  const value = values.get(name);
  return typeof value === 'string' ? value : undefined;
}

/** Rows that stand in the file itself. */
function readList(
  reading: Reading,
  items: readonly Node[],
  written: Written,
): IdentitiesSpec | undefined {
  if (items.length === 0 || items.length > mostRows) {
    const message =
      items.length === 0
        ? 'identities is an empty list. Write a map for each, or remove the key.'
        : `identities has at most ${mostRows} entries here; put more of them into a file.`;
    reading.error(items.length === 0 ? 'empty-value' : 'above-bounds', written.key, message);
    if (items.length === 0) return undefined;
  }
  const rows = items.slice(0, mostRows).flatMap((item): Row[] => {
    if (reading.full()) return [];
    const map = reading.follow(item);
    if (!isMap(map) || map.items.length === 0) {
      const message = 'Each identity is a map, such as { user: ann, token: "${secret:ann}" }.';
      reading.error('wrong-type', item, message);
      return [];
    }
    return [new Values(reading, 'identities', []).members(map, 0)];
  });
  const [first, ...others] = rows;
  if (first === undefined) return undefined;
  for (const [at, row] of others.entries()) {
    const missing = Object.keys(first).find((column) => !Object.hasOwn(row, column));
    if (missing === undefined) continue;
    const message = `This identity has no ${quotable(missing)}, which the first one has. Write it, if only as an empty text.`;
    reading.error('identities', items[at + 1], message);
  }
  return { kind: 'list', rows };
}

function readRule(reading: Reading, section: Section): IdentitiesSpec | undefined {
  const [rule, key] = [textIn(section, 'rule'), textIn(section, 'key')];
  if (rule === undefined) return undefined;
  checkPersonal(reading, 'rule', rule, section.at('rule')!, identityNames);
  const { parts, wrong } = personalText(rule, identityNames);
  if (isSameForAll(parts) && wrong.length === 0) {
    const message =
      'All identities of this rule have the same name. Put {index} into it, or a value such as {data.user}.';
    reading.warning('identities', section.at('rule'), message);
  }
  if (key === undefined) {
    if (!section.written.has('key')) {
      const message =
        'A rule needs the key that signs its tokens, as a reference: `key: ${secret:signing-key}`.';
      reading.error('missing-key', section.at('rule'), message);
    }
    return undefined;
  }
  const written = section.written.get('claims');
  const map = reading.follow(written?.value);
  if (written !== undefined && !isMap(map) && !isNothing(map))
    reading.error('wrong-type', written.place, 'claims must be a map of names and values.');
  const values = new Values(reading, 'claims', ['index', 'data']);
  const claims = isMap(map) ? (values.members(map, 0) as Row) : {};
  const own = ['aud', 'iss', 'exp', 'iat'].find((name) => Object.hasOwn(claims, name));
  if (own !== undefined) {
    const instead = { aud: 'audience', iss: 'issuer', exp: 'lifetime', iat: 'lifetime' }[own]!;
    const message = `The claim ${own} has a key of its own: write ${instead} in its place.`;
    reading.error('identities', written?.key, message);
  }
  const [keyId, audience] = [textIn(section, 'keyId'), textIn(section, 'audience')];
  const [issuer, count] = [textIn(section, 'issuer'), numberIn(section, 'count')];
  return {
    kind: 'rule',
    ...{ rule, key, claims },
    algorithm: choiceIn(section, 'algorithm', tokenAlgorithms) ?? 'HS256',
    userClaim: textIn(section, 'userClaim') ?? 'sub',
    lifetimeMs: numberIn(section, 'lifetime')!,
    ...(keyId !== undefined && { keyId }),
    ...(audience !== undefined && { audience }),
    ...(issuer !== undefined && { issuer }),
    ...(count !== undefined && { count }),
  };
}

function readCall(
  reading: Reading,
  section: Section,
  kind: 'command' | 'url',
): IdentitiesSpec | undefined {
  const count = numberIn(section, 'count');
  const how = {
    ...(count !== undefined && { count }),
    perSecond: numberIn(section, 'rate')!,
    inFlight: numberIn(section, 'inFlight')!,
    timeoutMs: numberIn(section, 'timeout')!,
  };
  if (kind === 'command') {
    const command = readCommand(reading, section);
    const env = readTexts(reading, section, 'env', identityNames);
    return command && { kind, command, env, ...how };
  }
  const [url, body] = [textIn(section, 'url'), textIn(section, 'body')];
  for (const [name, text] of Object.entries({ url, body }))
    if (text !== undefined) checkPersonal(reading, name, text, section.at(name)!, identityNames);
  if (url === undefined) return undefined;
  if (!/^(?:https?:\/\/|\$\{)/i.test(url)) {
    const message = 'url must be the whole URL of the token endpoint, such as https://….';
    reading.error('identities', section.at('url'), message);
    return undefined;
  }
  return {
    kind,
    url,
    method: choiceIn(section, 'method', ['POST', 'GET', 'PUT'] as const) ?? 'POST',
    headers: readTexts(reading, section, 'headers', identityNames),
    ...(body !== undefined && { body }),
    ...how,
  };
}

function readCommand(reading: Reading, section: Section): string[] | undefined {
  const written = section.written.get('command');
  const node = reading.follow(written?.value);
  if (!isSeq(node) || node.items.length === 0 || node.items.length > mostColumns) {
    const message = `command is a list of the program and at most ${mostColumns} arguments, such as [node, token.mjs, 'user-{index}'].`;
    reading.error('wrong-type', written?.place, message);
    return undefined;
  }
  return (node.items as Node[]).flatMap((item) => {
    const scalar = reading.follow(item);
    if (!isScalar(scalar) || scalar.value === null) {
      reading.error('wrong-type', item, 'Each part of a command is a text.');
      return [];
    }
    const text = sourceOf(scalar);
    const place = reading.placeOf(item);
    if (text.includes('${')) {
      const message =
        'Arguments of a command are seen by other programs: put the reference into env, and read the variable in the command.';
      reading.error('bad-reference', place, message);
    }
    checkPersonal(reading, 'command', text, place, identityNames);
    return [text];
  });
}

/** Values of any shape, within bounds. */
class Values {
  private count = 0;

  constructor(
    private readonly reading: Reading,
    private readonly key: string,
    /** Placeholders that their texts may hold. */
    private readonly known: readonly ('index' | 'data')[],
  ) {}

  members(map: Node, depth: number): Record<string, RowValue> {
    const found = new Map<string, RowValue>();
    if (!isMap(map)) return {};
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? nameOf(key) : '';
      const { error } = this.reading;
      if (name === '' || found.size >= mostColumns) {
        const message =
          name === ''
            ? `Names in ${this.key} must be texts.`
            : `${this.key} has more than ${mostColumns} names in a map.`;
        error('bad-name', key as Node, message);
      } else if (found.has(name))
        error('duplicate-key', key as Node, `"${quotable(name)}" is written twice in this map.`);
      else found.set(name, this.read((value ?? null) as Node | null, depth + 1));
    }
    return Object.fromEntries(found);
  }

  private read(item: Node | null, depth: number): RowValue {
    const { reading } = this;
    this.count += 1;
    if (this.count > mostValues || depth > mostDepth) {
      const message = `${this.key} has more than ${mostValues} values, or is nested too deep.`;
      if (this.count === mostValues + 1 || depth === mostDepth + 1)
        reading.error('above-bounds', item ?? undefined, message);
      return null;
    }
    const node = reading.follow(item);
    if (isSeq(node)) return node.items.map((value) => this.read(value as Node | null, depth + 1));
    if (isMap(node)) return this.members(node, depth);
    if (!isScalar(node)) return null;
    const { value } = node;
    if (typeof value === 'string') {
      const place: Place = reading.placeOf(node);
      checkReferences(reading, this.key, value, place, true);
      if (this.known.length > 0) checkPersonal(reading, this.key, value, place, this.known);
      return value;
    }
    if (typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value))
      return sourceOf(node);
    return typeof value === 'number' || typeof value === 'boolean' ? value : null;
  }
}
