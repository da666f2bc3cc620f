/** Texts with placeholders that differ from one connection, or one identity, to the next. */
import { dotNetTicks } from './message';

const plainNames = ['index', 'senderIndex', 'group', 'time', 'ticks'] as const;
const rowNames = ['identity', 'data'] as const;

type PlainName = (typeof plainNames)[number];
export type RowName = (typeof rowNames)[number];
export type PersonalName = PlainName | RowName;

export const connectionPlaceholders: readonly PersonalName[] = [
  ...(['senderIndex', 'group', 'identity', 'data', 'time', 'ticks'] as const),
];
export const identityPlaceholders: readonly PersonalName[] = ['index', 'data'];

export type PersonalPart =
  | string
  | { readonly name: PlainName }
  | { readonly name: RowName; readonly column: string };

interface WrongPlaceholder {
  readonly offset: number;
  readonly length: number;
  readonly name: string;
}

const isPlainName = (name: string): name is PlainName =>
  (plainNames as readonly string[]).includes(name);
export const isRowName = (name: string): name is RowName =>
  (rowNames as readonly string[]).includes(name);

/** Other words with a dot in braces stay as they are: texts of other tools are full of them. */
export const looksLikeRowName = (name: string): boolean => /^(?:id|dat|row)/i.test(name);

/** `{name}`, `{name:value}`, `{name.column}` and `{name.column:value}` but no reference `${…}`, and `{{`, which stands for a brace. */
const placeholderPattern = (): RegExp =>
  /\{\{|(?<!\$)\{([A-Za-z]\w{0,39})(?:\.([^{}:\r\n]{0,128}))?(?::([^{}]{0,300}))?\}/g;

interface WrittenPlaceholder {
  readonly name: string;
  readonly column: string | undefined;
  readonly value: string | undefined;
  readonly offset: number;
  readonly length: number;
}

/** Splits a text at its placeholders; those for which `read` returns undefined stay as text. */
export function parsePlaceholders<Part>(
  text: string,
  read: (placeholder: WrittenPlaceholder) => Part | undefined,
): (string | Part)[] {
  const parts: (string | Part)[] = [];
  let plain = '';
  let done = 0;
  for (const match of text.matchAll(placeholderPattern())) {
    const [source, name = '', column, value] = match;
    plain += text.slice(done, match.index);
    done = match.index + source.length;
    if (source === '{{') {
      plain += '{';
      continue;
    }
    const part = read({ name, column, value, offset: match.index, length: source.length });
    if (part === undefined) {
      plain += source;
      continue;
    }
    if (plain !== '') parts.push(plain);
    plain = '';
    parts.push(part);
  }
  plain += text.slice(done);
  if (plain !== '' || parts.length === 0) parts.push(plain);
  return parts;
}

/** @param known the placeholders allowed here; others are listed as `wrong` and stay as text */
export function parsePersonalText(
  text: string,
  known: readonly PersonalName[],
): { readonly parts: readonly PersonalPart[]; readonly wrong: readonly WrongPlaceholder[] } {
  const wrong: WrongPlaceholder[] = [];
  const parts = parsePlaceholders(text, ({ name, column, value, offset, length }) => {
    const isKnown = value === undefined && (known as readonly string[]).includes(name);
    const part = isKnown ? partOf(name, column?.trim()) : undefined;
    if (part !== undefined) return part;
    if ((column !== undefined && !looksLikeRowName(name)) || /[\d_]/.test(name)) return undefined;
    wrong.push({ offset, length, name: column === undefined ? name : `${name}.${column}` });
    return undefined;
  });
  return { parts, wrong };
}

function partOf(name: string, column: string | undefined): PersonalPart | undefined {
  if (isRowName(name)) return column ? { name, column } : undefined;
  return isPlainName(name) && column === undefined ? { name } : undefined;
}

export const hasNoPlaceholders = (parts: readonly PersonalPart[]): boolean =>
  parts.every((part) => typeof part === 'string');

export interface PlaceholderValues {
  readonly index: number;
  readonly group?: string | undefined;
  readonly identity?: Row | undefined;
  readonly data?: Row | undefined;
  readonly nowMs: number;
}

/** A missing value is an empty text. @param encode escapes a value for the text around it */
export function fillPersonalText(
  parts: readonly PersonalPart[],
  facts: PlaceholderValues,
  encode: (value: string) => string = (value) => value,
): string {
  return parts
    .map((part) => (typeof part === 'string' ? part : encode(valueText(valueOf(part, facts)))))
    .join('');
}

function valueOf(part: Exclude<PersonalPart, string>, facts: PlaceholderValues): RowValue {
  switch (part.name) {
    case 'index':
    case 'senderIndex':
      return String(facts.index);
    case 'group':
      return facts.group ?? '';
    case 'time':
      return String(facts.nowMs);
    case 'ticks':
      return String(dotNetTicks(facts.nowMs));
    default: {
      const row = facts[part.name];
      return row !== undefined && Object.hasOwn(row, part.column) ? row[part.column]! : '';
    }
  }
}

/** Text in CSV files, any JSON value elsewhere. */
export type RowValue =
  | string
  | number
  | boolean
  | null
  | readonly RowValue[]
  | { readonly [name: string]: RowValue };

export type Row = Readonly<Record<string, RowValue>>;

export const valueText = (value: RowValue): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
