import { maxPayloadBytes, stampBytes } from '../base/message';
import {
  valueText,
  type Row,
  type RowValue,
  isRowName,
  looksLikeRowName,
  parsePlaceholders,
  type RowName,
} from '../base/personalText';
import { parseBytes, weightedMean, parsePayloadSizes, type PayloadSize } from './payloadSizes';

/** Assumed bytes, for the estimate. */
const usualBytes = {
  ...{ sender: 22, receiver: 22, group: 24 },
  ...{ senderIndex: 4, sequence: 10, time: 13, ticks: 18 },
} as const;

const usualKeptBytes = 36;

const isUsual = (name: string): name is keyof typeof usualBytes => Object.hasOwn(usualBytes, name);

/** In the texts of a call's arguments, such as `{sender}`; `{{` is a literal brace. */
export type Placeholder =
  | { readonly name: keyof typeof usualBytes }
  /** Random letters and digits; with several `sizes`, `bytes` is their mean. */
  | {
      readonly name: 'text';
      readonly bytes: number;
      readonly sizes?: readonly PayloadSize[];
    }
  | { readonly name: 'file'; readonly file: string }
  | { readonly name: 'kept'; readonly key: string }
  /** A value of the sender's identity or of a data row. @param asNumber converts a text */
  | { readonly name: RowName; readonly column: string; readonly asNumber?: true };

/** Numbers when they stand alone. */
export const numberPlaceholders: readonly string[] = ['senderIndex', 'sequence', 'time', 'ticks'];

/** Placeholders as written, for help and completion. */
export const placeholderHelp: readonly { readonly written: string; readonly summary: string }[] = [
  {
    written: '{text:2KB}',
    summary:
      'random text of that size, 2 KB without a size; in a session {text:200B 3, 2KB 1} has several, with weights',
  },
  { written: '{sender}', summary: 'connection id of the sender' },
  { written: '{senderIndex}', summary: 'number of the sending connection, from 0' },
  { written: '{receiver}', summary: 'connection id of the receiver, with receivers: client' },
  { written: '{group}', summary: 'name of the group, with receivers: group' },
  { written: '{sequence}', summary: 'number of the message among those of its sender, from 0' },
  { written: '{time}', summary: 'milliseconds since 1970' },
  { written: '{ticks}', summary: 'the time as .NET counts it, in 100 ns' },
  { written: '{file:NAME}', summary: 'content of a text file beside the scenario file' },
  { written: '{identity.COLUMN}', summary: 'value of the sender in `config.identities`' },
  { written: '{data.COLUMN}', summary: 'value of a row of `config.data`; :number makes it one' },
];

export const placeholderNames: readonly string[] = placeholderHelp.map(({ written }) =>
  written.replace(/[{}]|[:.].*/g, ''),
);

type OwnPart = string | Placeholder;

/** Text in braces that is no placeholder, at `offset`. */
export interface BadPlaceholder {
  readonly offset: number;
  readonly length: number;
  readonly name: string;
  readonly problem: 'unknown' | 'size' | 'sizes' | 'file' | 'value' | 'column' | 'rowValue';
}

export type CallArgument =
  | { readonly kind: 'value'; readonly value: number | boolean | null }
  | { readonly kind: 'text'; readonly parts: readonly OwnPart[] }
  | { readonly kind: 'list'; readonly items: readonly CallArgument[] }
  | { readonly kind: 'map'; readonly members: readonly (readonly [string, CallArgument])[] };

const defaultTextBytes = 2048;
/** Of one text, and of the whole message. */
export const mostArgumentBytes = maxPayloadBytes;

/** @param isKept whether the session keeps a value of that name; absent outside of sessions */
export function parsePlaceholderText(
  text: string,
  isKept?: (name: string) => boolean,
): {
  readonly parts: readonly OwnPart[];
  readonly bad: readonly BadPlaceholder[];
} {
  const bad: BadPlaceholder[] = [];
  const parts = parsePlaceholders(text, ({ name, column, value, offset, length }) => {
    const isPlain = value === undefined && column === undefined;
    const kept = isPlain && !placeholderNames.includes(name) && isKept?.(name) === true;
    // Only names of kept values have digits.
    if ((column !== undefined && !looksLikeRowName(name)) || (!kept && /[\d_]/.test(name)))
      return undefined;
    const placeholder: Placeholder | BadPlaceholder['problem'] = kept
      ? { name: 'kept', key: name }
      : placeholderOf(name, value, column?.trim());
    const isOdd = isKept === undefined && typeof placeholder === 'object' && 'sizes' in placeholder;
    if (typeof placeholder !== 'string' && !isOdd) return placeholder;
    const problem = typeof placeholder === 'string' ? placeholder : 'sizes';
    bad.push({ offset, length, name, problem });
    return undefined;
  });
  return { parts, bad };
}

function placeholderOf(
  name: string,
  value?: string,
  column?: string,
): Placeholder | BadPlaceholder['problem'] {
  if (isRowName(name)) {
    if (column === undefined || column === '') return 'column';
    if (value === undefined) return { name, column };
    return value.trim() === 'number' ? { name, column, asNumber: true } : 'rowValue';
  }
  if (column !== undefined) return 'unknown';
  switch (name) {
    case 'text':
      return value === undefined ? { name, bytes: defaultTextBytes } : textOf(value.trim());
    case 'file':
      return value === undefined || value.trim() === '' ? 'file' : { name, file: value.trim() };
    default:
      if (!isUsual(name)) return 'unknown';
      return value === undefined ? { name } : 'value';
  }
}

/** One size, or several as in `messageSizes`. */
function textOf(value: string): Placeholder | 'size' {
  const bytes = parseBytes(value);
  if (bytes !== undefined)
    return bytes < 1 || bytes > mostArgumentBytes ? 'size' : { name: 'text', bytes };
  const read = parsePayloadSizes(value);
  if (!('sizes' in read)) return 'size';
  const mean = Math.round(weightedMean(read.sizes, (size) => size));
  return { name: 'text', bytes: mean, ...(read.sizes.length > 1 && { sizes: read.sizes }) };
}

/** Scenarios keep arguments as the JSON text of a list. */
export function parseArguments(
  json: string,
  isKept?: (name: string) => boolean,
): readonly CallArgument[] {
  return (JSON.parse(json) as readonly unknown[]).map((value) => argumentOf(value, isKept));
}

function argumentOf(value: unknown, isKept?: (name: string) => boolean): CallArgument {
  if (typeof value === 'string')
    return { kind: 'text', parts: parsePlaceholderText(value, isKept).parts };
  if (Array.isArray(value))
    return { kind: 'list', items: value.map((item) => argumentOf(item, isKept)) };
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, member]) => [key, argumentOf(member, isKept)] as const,
    );
    return { kind: 'map', members };
  }
  return { kind: 'value', value: value as number | boolean | null };
}

export function placeholdersIn(items: readonly CallArgument[]): Placeholder[] {
  return items.flatMap((item): Placeholder[] => {
    if (item.kind === 'value') return [];
    if (item.kind === 'text') return item.parts.filter((part) => typeof part !== 'string');
    return placeholdersIn(
      item.kind === 'list' ? item.items : item.members.map(([, member]) => member),
    );
  });
}

/** Assumed by the estimate: a file is read only at the run. */
export const assumedFileBytes = 2048;
const assumedRowBytes = 16;

/** Approximate length of the arguments as JSON, in bytes. */
export function argumentBytes(items: readonly CallArgument[]): number {
  return items.reduce((sum, item) => sum + 1 + bytesIn(item), 1);
}

function bytesIn(item: CallArgument): number {
  switch (item.kind) {
    case 'value':
      return String(item.value).length;
    case 'text':
      return item.parts.reduce((sum, part) => sum + partBytes(part), isNumber(item.parts) ? 0 : 2);
    case 'list':
      return argumentBytes(item.items);
    case 'map':
      return item.members.reduce(
        (sum, [key, member]) => sum + textBytes(key) + 4 + bytesIn(member),
        1,
      );
  }
}

const isNumber = ([first, more]: readonly OwnPart[]): boolean =>
  more === undefined && typeof first === 'object' && numberPlaceholders.includes(first.name);

function partBytes(part: OwnPart): number {
  if (typeof part === 'string') return textBytes(part);
  if (part.name === 'text') return part.bytes;
  if (part.name === 'kept') return usualKeptBytes;
  if (part.name === 'file') return assumedFileBytes;
  return isRowName(part.name) ? assumedRowBytes : usualBytes[part.name];
}

/** Actual lengths; running numbers are padded to their usual length. */
interface NameLengths {
  readonly receiver: number;
  readonly sender: number;
  readonly senderIndex: number;
}

/** How much longer the actual names make a message than {@link argumentBytes} assumes; undefined without names. */
export function nameLengthExcess(
  items: readonly CallArgument[],
): ((lengths: NameLengths) => number) | undefined {
  const count = (...names: string[]): number =>
    placeholdersIn(items).filter(({ name }) => names.includes(name)).length;
  const [groups, receivers] = [count('group'), count('receiver')];
  const [senders, indexes] = [count('sender'), count('senderIndex')];
  if (groups + receivers + senders + indexes === 0) return undefined;
  return ({ receiver, sender, senderIndex }) =>
    groups * (receiver - usualBytes.group) +
    receivers * (receiver - usualBytes.receiver) +
    senders * (sender - usualBytes.sender) +
    indexes * (senderIndex - usualBytes.senderIndex);
}

export const rowPlaceholders = (items: readonly CallArgument[]): readonly RowPlaceholder[] =>
  placeholdersIn(items).filter((each): each is RowPlaceholder => isRowName(each.name));

export type RowPlaceholder = Extract<Placeholder, { readonly name: RowName }>;

export type RowsOfMessage = Readonly<Partial<Record<RowName, Row>>>;

type TextArgument = Extract<CallArgument, { readonly kind: 'text' }>;

/** Replaces texts at every depth, in the order of the message. */
export function mapTexts(
  items: readonly CallArgument[],
  of: (text: TextArgument) => CallArgument,
): CallArgument[] {
  return items.map((item): CallArgument => {
    if (item.kind === 'text') return of(item);
    if (item.kind === 'list') return { kind: 'list', items: mapTexts(item.items, of) };
    if (item.kind === 'value') return item;
    const members = item.members.map(([key, member]) => [key, mapTexts([member], of)[0]!] as const);
    return { kind: 'map', members };
  });
}

/** Fills placeholders with row values. A placeholder alone keeps the type of its value. */
export const fillRowValues = (
  items: readonly CallArgument[],
  rows: RowsOfMessage,
): CallArgument[] =>
  mapTexts(items, ({ parts: written }) => {
    const [first, more] = written;
    if (more === undefined && typeof first === 'object' && isRow(first))
      return literalArgument(valueIn(first, rows));
    const parts = written.map((part) =>
      typeof part === 'object' && isRow(part) ? valueText(valueIn(part, rows)) : part,
    );
    return { kind: 'text', parts };
  });

const isRow = (part: Placeholder): part is RowPlaceholder => isRowName(part.name);

function valueIn({ name, column, asNumber }: RowPlaceholder, rows: RowsOfMessage): RowValue {
  const row = rows[name];
  const value = row !== undefined && Object.hasOwn(row, column) ? row[column]! : '';
  return asNumber === true ? Number(value) : value;
}

function literalArgument(value: RowValue): CallArgument {
  if (typeof value === 'string') return { kind: 'text', parts: [value] };
  if (Array.isArray(value))
    return { kind: 'list', items: (value as readonly RowValue[]).map(literalArgument) };
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value as Row).map(
      ([key, member]) => [key, literalArgument(member)] as const,
    );
    return { kind: 'map', members };
  }
  return { kind: 'value', value };
}

/** UTF-8 length; half of a surrogate pair counts as two bytes. */
export function textBytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
  }
  return bytes;
}

/** Arguments with one size per text, and their relative frequency. */
export interface SizedArguments {
  readonly items: readonly CallArgument[];
  readonly weight: number;
}

export const mostSizesOfCall = 64;

type SizedText = Extract<Placeholder, { readonly name: 'text' }> & {
  readonly sizes: readonly PayloadSize[];
};

const isSized = (placeholder: Placeholder): placeholder is SizedText =>
  placeholder.name === 'text' && placeholder.sizes !== undefined;

export const countSizeCombinations = (items: readonly CallArgument[]): number =>
  placeholdersIn(items)
    .filter(isSized)
    .reduce((product, { sizes }) => product * sizes.length, 1);

/** All combinations of text sizes. */
export function sizedArguments(items: readonly CallArgument[]): readonly SizedArguments[] {
  let all: { readonly sizes: readonly number[]; readonly weight: number }[] = [
    { sizes: [], weight: 1 },
  ];
  for (const { sizes: own } of placeholdersIn(items).filter(isSized))
    all = all.flatMap(({ sizes, weight }) =>
      own.map((size) => ({ sizes: [...sizes, size.bytes], weight: weight * size.weight })),
    );
  const [first] = all;
  if (first!.sizes.length === 0) return [{ items, weight: 1 }];
  return all.map(({ sizes, weight }) => {
    let next = 0;
    const sized = mapTexts(items, ({ parts }) => ({
      kind: 'text',
      parts: parts.map((part) =>
        typeof part === 'object' && isSized(part) ? { name: 'text', bytes: sizes[next++]! } : part,
      ),
    }));
    return { items: sized, weight };
  });
}

/** Bytes as counted by {@link argumentBytes}. */
export const argumentSizes = (items: readonly CallArgument[]): readonly PayloadSize[] =>
  sizedArguments(items).map(({ items: sized, weight }) => ({
    bytes: argumentBytes(sized),
    weight,
  }));

/** Callbacks are recognised by our stamp, which needs a random text with room for it. Returns the problem, for people. */
export function stampProblem(placeholders: readonly Placeholder[]): string | undefined {
  const texts = placeholders.filter((each) => each.name === 'text');
  if (texts.length === 0)
    return 'Callbacks are recognised by a text that they bring back: put {text:2KB} into the arguments.';
  const sizesOf = texts.map(({ bytes, sizes = [{ bytes }] }) => sizes.map((size) => size.bytes));
  const carrier = sizesOf.find((sizes) => Math.max(...sizes) >= stampBytes);
  if (carrier !== undefined && Math.min(...carrier) >= stampBytes) return undefined;
  return `The first {text:…} of ${stampBytes} bytes or more carries our stamp, by which callbacks are recognised: ${carrier === undefined ? 'make one so large' : 'each of its sizes must have as many'}.`;
}
