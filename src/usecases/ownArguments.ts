import { largestPayloadBytes } from '../base/message';
import { isRowName, looksLikeRow, partsIn, type RowName } from '../base/personalText';
import { valueText, type Row, type RowValue } from '../base/rows';
import { bytesOf, meanOf, parsePayloadSizes, type PayloadSize } from './payloadSizes';

/** YAML values whose texts may hold placeholders, such as `{sender}`. `{{` stands for a brace. */

/** Bytes of what is known only when it runs, for the estimate: usual ids, names and digits. */
const usualBytes = {
  ...{ sender: 22, receiver: 22, group: 24 },
  ...{ senderIndex: 4, sequence: 10, time: 13, ticks: 18 },
} as const;

/** An id, mostly. */
const usualKeptBytes = 36;

const isUsual = (name: string): name is keyof typeof usualBytes => Object.hasOwn(usualBytes, name);

export type Placeholder =
  | { readonly name: keyof typeof usualBytes }
  /** Random letters and digits; where each message has one of several sizes, `bytes` is their mean. */
  | {
      readonly name: 'text';
      readonly bytes: number;
      readonly sizes?: readonly PayloadSize[];
    }
  /** The content of a file beside the scenario. */
  | { readonly name: 'file'; readonly file: string }
  /** What a session has kept under that key. */
  | { readonly name: 'kept'; readonly key: string }
  /** A value of a row: of the sender's identity, or of the data; `asNumber` where a text of a CSV file is one. */
  | { readonly name: RowName; readonly column: string; readonly asNumber?: true };

/** Placeholders that are a number where they stand alone. */
export const numberPlaceholders: readonly string[] = ['senderIndex', 'sequence', 'time', 'ticks'];

/** Every placeholder as it is written, with what it stands for. */
export const placeholderWords: readonly { readonly written: string; readonly summary: string }[] = [
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

export const placeholderNames: readonly string[] = placeholderWords.map(({ written }) =>
  written.replace(/[{}]|[:.].*/g, ''),
);

type OwnPart = string | Placeholder;

/** Something in braces that is not a placeholder, at `offset` of the text. */
export interface BadPlaceholder {
  readonly offset: number;
  readonly length: number;
  readonly name: string;
  readonly problem: 'unknown' | 'size' | 'sizes' | 'file' | 'value' | 'column' | 'rowValue';
}

/** One argument with its placeholders found. Plain data. */
export type OwnArgument =
  | { readonly kind: 'value'; readonly value: number | boolean | null }
  | { readonly kind: 'text'; readonly parts: readonly OwnPart[] }
  | { readonly kind: 'list'; readonly items: readonly OwnArgument[] }
  | { readonly kind: 'map'; readonly members: readonly (readonly [string, OwnArgument])[] };

const defaultTextBytes = 2048;
/** Of one text; the whole message has the same bound. */
export const mostArgumentBytes = largestPayloadBytes;

/** @param isKept whether the session keeps a value of that name; absent where a text is of no session, which has one size */
export function partsOf(
  text: string,
  isKept?: (name: string) => boolean,
): {
  readonly parts: readonly OwnPart[];
  readonly bad: readonly BadPlaceholder[];
} {
  const bad: BadPlaceholder[] = [];
  const parts = partsIn(text, ({ name, column, value, offset, length }) => {
    const isPlain = value === undefined && column === undefined;
    const kept = isPlain && !placeholderNames.includes(name) && isKept?.(name) === true;
    // Only kept values have names with digits.
    if ((column !== undefined && !looksLikeRow(name)) || (!kept && /[\d_]/.test(name)))
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

/** Of one size, or several as `messageSizes` has them. */
function textOf(value: string): Placeholder | 'size' {
  const bytes = bytesOf(value);
  if (bytes !== undefined)
    return bytes < 1 || bytes > mostArgumentBytes ? 'size' : { name: 'text', bytes };
  const read = parsePayloadSizes(value);
  if (!('sizes' in read)) return 'size';
  const mean = Math.round(meanOf(read.sizes, (size) => size));
  return { name: 'text', bytes: mean, ...(read.sizes.length > 1 && { sizes: read.sizes }) };
}

/** The arguments of a scenario, which keeps them as the JSON text of a list. */
export function ownArguments(
  json: string,
  isKept?: (name: string) => boolean,
): readonly OwnArgument[] {
  return (JSON.parse(json) as readonly unknown[]).map((value) => argumentOf(value, isKept));
}

function argumentOf(value: unknown, isKept?: (name: string) => boolean): OwnArgument {
  if (typeof value === 'string') return { kind: 'text', parts: partsOf(value, isKept).parts };
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

/** In the order of the message. */
export function placeholdersIn(items: readonly OwnArgument[]): Placeholder[] {
  return items.flatMap((item): Placeholder[] => {
    if (item.kind === 'value') return [];
    if (item.kind === 'text') return item.parts.filter((part) => typeof part !== 'string');
    return placeholdersIn(
      item.kind === 'list' ? item.items : item.members.map(([, member]) => member),
    );
  });
}

/** A file's size is not known before the run; it counts as much in the estimate. */
export const assumedFileBytes = 2048;
/** The same of a row's value. */
const assumedRowBytes = 16;

/** About how long the arguments are as JSON text, in bytes. */
export function argumentBytes(items: readonly OwnArgument[]): number {
  return items.reduce((sum, item) => sum + 1 + bytesIn(item), 1);
}

function bytesIn(item: OwnArgument): number {
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

/** How long the names in a message are. Running numbers have a place of their usual length. */
interface NameLengths {
  /** Of the group or the other connection that it names. */
  readonly receiver: number;
  readonly sender: number;
  readonly senderIndex: number;
}

/** By how much they are longer than {@link argumentBytes} takes them for; undefined where the arguments have none. */
export function namesBeyond(
  items: readonly OwnArgument[],
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

export const rowPlaceholders = (items: readonly OwnArgument[]): readonly RowPlaceholder[] =>
  placeholdersIn(items).filter((each): each is RowPlaceholder => isRowName(each.name));

export type RowPlaceholder = Extract<Placeholder, { readonly name: RowName }>;

/** The rows of one message. */
export type RowsOfMessage = Readonly<Partial<Record<RowName, Row>>>;

type TextArgument = Extract<OwnArgument, { readonly kind: 'text' }>;

/** With others in place of the texts, in all depths, in the order of the message. */
export function withTexts(
  items: readonly OwnArgument[],
  of: (text: TextArgument) => OwnArgument,
): OwnArgument[] {
  return items.map((item): OwnArgument => {
    if (item.kind === 'text') return of(item);
    if (item.kind === 'list') return { kind: 'list', items: withTexts(item.items, of) };
    if (item.kind === 'value') return item;
    const members = item.members.map(
      ([key, member]) => [key, withTexts([member], of)[0]!] as const,
    );
    return { kind: 'map', members };
  });
}

/** With values of rows in place of their placeholders; one that is the whole of a text keeps what it is. */
export const withRows = (items: readonly OwnArgument[], rows: RowsOfMessage): OwnArgument[] =>
  withTexts(items, ({ parts: written }) => {
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

/** What stands in a row is not a text with placeholders. */
function literalArgument(value: RowValue): OwnArgument {
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

/** Bytes as UTF-8; half of a surrogate pair counts half of its four. */
export function textBytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
  }
  return bytes;
}
