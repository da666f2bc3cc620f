/**
 * Filters of REST calls: OData over `userId`, `connectionId` and `groups`. Source: Azure Web PubSub, "OData filter
 * syntax".
 */

interface Filtered {
  readonly id: string;
  readonly userId: string | undefined;
  readonly groups: ReadonlySet<string> | undefined;
}

export type Filter = (client: Filtered) => boolean;

const maxCharacters = 8192;
const maxDepth = 50;

type Value = string | number | boolean | null;
type Term = (client: Filtered) => Value;

export function parseFilter(text: string): Filter {
  if (text.length > maxCharacters) {
    const shown = `${text.slice(0, 100)}…`;
    throw new FilterError(shown, `A filter has at most ${maxCharacters} characters.`);
  }
  return new Parser(text).whole();
}

const comparisons: Readonly<Record<string, (left: Value, right: Value) => boolean>> = {
  eq: (left, right) => left === right,
  ne: (left, right) => left !== right,
  gt: (left, right) => areOrdered(left, right) && left! > right!,
  ge: (left, right) => areOrdered(left, right) && left! >= right!,
  lt: (left, right) => areOrdered(left, right) && left! < right!,
  le: (left, right) => areOrdered(left, right) && left! <= right!,
};

const areOrdered = (left: Value, right: Value): boolean =>
  left !== null && right !== null && typeof left === typeof right;

/** Functions by name; a missing user id skips the function. */
const functions: Readonly<Record<string, (...values: Value[]) => Value>> = {
  length: (text) => textIn(text).length,
  tolower: (text) => textIn(text).toLowerCase(),
  toupper: (text) => textIn(text).toUpperCase(),
  trim: (text) => textIn(text).trim(),
  concat: (left, right) => textIn(left) + textIn(right),
  contains: (text, part) => textIn(text).includes(textIn(part)),
  startswith: (text, part) => textIn(text).startsWith(textIn(part)),
  endswith: (text, part) => textIn(text).endsWith(textIn(part)),
  indexof: (text, part) => textIn(text).indexOf(textIn(part)),
  substring: (text, start, length?: Value) =>
    textIn(text).slice(
      Number(start),
      length === undefined ? undefined : Number(start) + Number(length),
    ),
};

const answers: readonly string[] = ['true', 'false', 'contains', 'startswith', 'endswith'];

const textIn = (value: Value | undefined): string => (typeof value === 'string' ? value : '');

const properties: Readonly<Record<string, Term>> = {
  userid: ({ userId }) => userId ?? null,
  connectionid: ({ id }) => id,
  true: () => true,
  false: () => false,
  null: () => null,
};

class Parser {
  private at = 0;
  private depth = 0;
  private readonly tokens: readonly FilterToken[];
  /** Unknown properties are reported after syntax errors. */
  private unknown: FilterError | undefined;

  constructor(private readonly filter: string) {
    this.tokens = filterTokens(filter);
  }

  whole(): Filter {
    const filter = this.either();
    this.expect('end', '');
    if (this.unknown !== undefined) throw this.unknown;
    return filter;
  }

  private either(): Filter {
    const filters = [this.both()];
    while (this.takes('word', 'or')) filters.push(this.both());
    return (client) => filters.some((filter) => filter(client));
  }

  private both(): Filter {
    const filters = [this.one()];
    while (this.takes('word', 'and')) filters.push(this.one());
    return (client) => filters.every((filter) => filter(client));
  }

  private expect(kind: FilterToken['kind'], text: string): void {
    if (!this.takes(kind, text)) this.fail();
  }

  private one(): Filter {
    if (++this.depth > maxDepth) this.fail('It is nested too deeply');
    const filter = this.unbounded();
    this.depth--;
    return filter;
  }

  private unbounded(): Filter {
    if (this.takes('word', 'not')) {
      const negated = this.one();
      return (client) => !negated(client);
    }
    if (this.takes('sign', '(')) {
      const inner = this.either();
      this.expect('sign', ')');
      return inner;
    }
    const isAnswer = answers.includes(this.token.text);
    const left = this.term();
    if (this.takes('word', 'in')) return this.membership(left);
    const { kind, text } = this.token;
    const compare = kind === 'word' && Object.hasOwn(comparisons, text) && comparisons[text];
    if (!compare) {
      if (!isAnswer) this.fail();
      return (client) => left(client) === true;
    }
    this.at++;
    const right = this.term();
    return (client) => compare(left(client), right(client));
  }

  private membership(member: Term): Filter {
    if (this.takes('word', 'groups')) {
      return (client) => client.groups?.has(textIn(member(client))) === true;
    }
    const list = this.list();
    return (client) => list.some((term) => term(client) === member(client));
  }

  private list(): Term[] {
    this.expect('sign', '(');
    const terms = [this.term()];
    while (this.takes('sign', ',')) terms.push(this.term());
    this.expect('sign', ')');
    return terms;
  }

  private term(): Term {
    if (++this.depth > maxDepth) this.fail('It is nested too deeply');
    const { kind, text } = this.token;
    this.at++;
    const term = this.termOf(kind, text);
    this.depth--;
    return term;
  }

  private termOf(kind: FilterToken['kind'], text: string): Term {
    if (kind === 'text') return () => text;
    if (kind === 'number') return () => Number(text);
    if (kind !== 'word') {
      this.at--;
      this.fail();
    }
    if (Object.hasOwn(properties, text)) return properties[text]!;
    const { start, end } = this.tokens[this.at - 1]!;
    const name = this.filter.slice(start, end);
    if (this.token.text !== '(') {
      const where = `at position ${start} in '${this.filter}'`;
      const problem = `Could not find a property named '${name}' ${where}.`;
      this.unknown ??= new FilterError(this.filter, problem);
      return () => null;
    }
    if (!Object.hasOwn(functions, text)) {
      this.fail(`An unknown function with name '${name}' was found`, start);
    }
    const apply = functions[text]!;
    const terms = this.list();
    const least = text === 'substring' ? 2 : apply.length;
    if (terms.length < least || terms.length > apply.length) {
      this.fail(`The function '${name}' takes another number of arguments`, start);
    }
    return (client) => {
      const values = terms.map((term) => term(client));
      return values[0] === null ? null : apply(...values);
    };
  }

  private takes(kind: FilterToken['kind'], text: string): boolean {
    if (this.token.kind !== kind || this.token.text !== text) return false;
    this.at++;
    return true;
  }

  private get token(): FilterToken {
    return this.tokens[Math.min(this.at, this.tokens.length - 1)]!;
  }

  private fail(problem?: string, position = this.token.end): never {
    if (problem === undefined) throw syntaxError(this.filter, position);
    throw new FilterError(this.filter, `${problem} at position ${position} in '${this.filter}'.`);
  }
}

/** Texts and positions of the OData library of .NET. */
export class FilterError extends Error {
  constructor(filter: string, problem: string) {
    super(`Invalid syntax for '${filter}': ${problem} (Parameter 'filter')`);
  }
}

interface FilterToken {
  readonly kind: 'sign' | 'word' | 'text' | 'number' | 'end';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const syntaxError = (filter: string, position: number): FilterError =>
  new FilterError(filter, `Syntax error at position ${position} in '${filter}'.`);

const pattern = /\s*(?:([(),])|'((?:[^']|'')*)'|(-?[0-9]{1,15})(?![\w.])|([A-Za-z]+)|($))/y;

function filterTokens(filter: string): FilterToken[] {
  const tokens: FilterToken[] = [];
  pattern.lastIndex = 0;
  for (;;) {
    const from = pattern.lastIndex;
    const match = pattern.exec(filter);
    if (match === null) throw unreadable(filter, from);
    const [, sign, text, number, word] = match;
    const end = pattern.lastIndex;
    const start = from + match[0].length - match[0].trimStart().length;
    const add = (kind: FilterToken['kind'], value: string): void => {
      tokens.push({ kind, text: value, start, end });
    };
    if (sign !== undefined) add('sign', sign);
    else if (text !== undefined) add('text', text.replaceAll("''", "'"));
    else if (number !== undefined) add('number', number);
    else if (word !== undefined) add('word', word.toLowerCase());
    else {
      add('end', '');
      return tokens;
    }
  }
}

function unreadable(filter: string, from: number): FilterError {
  const rest = filter.slice(from).trimStart();
  const at = filter.length - rest.length;
  if (rest.startsWith("'")) {
    const problem = `There is an unterminated string literal at position ${filter.length} in '${filter}'.`;
    return new FilterError(filter, problem);
  }
  if (/^[-\w]/.test(rest)) return syntaxError(filter, at);
  const character = String.fromCodePoint(rest.codePointAt(0)!);
  return new FilterError(
    filter,
    `Syntax error: character '${character}' is not valid at position ${at} in '${filter}'.`,
  );
}
