import { addCount, groupBy } from '../../base/collect';
import { textBytes, mostSizesOfCall } from '../../usecases/ownArguments';
import type { PayloadSize } from '../../usecases/payloadSizes';
import type { IdentityColumns } from './identityColumns';
import type { CallStep } from './kinds';
import { weightedSizesText, sizeRangeWords, spreadOf, weightedSizes, type Spread } from './spread';
import type { TracedCall } from './trace';
import {
  holdsSecret,
  isIdOrTime,
  isBenchmarkText,
  lastName,
  isSignInMethod,
  pathKey,
  secrecyOf,
  valueAt,
  type Path,
} from './values';

export interface ArgumentContext {
  readonly step: CallStep;
  /** By path key: placeholders of values from earlier answers. */
  readonly kept: ReadonlyMap<string, string>;
  readonly rooms: ReadonlySet<string>;
  /** Path key of the text that comes back in a callback. */
  readonly echoed?: string | undefined;
  readonly leastEchoBytes: number;
  readonly startedMs: number;
  readonly identities: IdentityColumns;
}

export interface InferredArguments {
  readonly values: readonly unknown[];
  readonly remarks: readonly string[];
  readonly notRecognised: readonly string[];
  readonly texts: readonly { readonly at: string; readonly bytes: Spread }[];
}

const longestLiteral = 300;
const longestFiller = 2000;
const mostMembers = 50;
const fewValues = 8;
/** Each size of a call is kept encoded: half of what a run can hold. */
const mostSizedBytes = 32 * 1024 * 1024;
/** Nobody sets more variables by hand. */
export const mostSecrets = 20;
const dayMs = 86_400_000;
/** .NET counts ticks of 100 ns from year 1 to 1970. */
const yearOneMs = 62_135_596_800_000;

interface One {
  readonly value: unknown;
  readonly call: TracedCall;
}

function valuesByClient(ones: readonly One[]): Map<number, unknown> | undefined {
  const ofClients = new Map<number, unknown>();
  for (const { value, call } of ones) {
    const { id } = call.client;
    if (ofClients.has(id) && ofClients.get(id) !== value) return undefined;
    ofClients.set(id, value);
  }
  return ofClients;
}

export function inferArguments(facts: ArgumentContext): InferredArguments {
  const reader = new Reader(facts);
  const all = facts.step.calls.map((call): One => ({ value: call.arguments, call }));
  const values = reader.read(all, []) as readonly unknown[];
  const { remarks, notRecognised, texts } = reader;
  return { values, remarks, notRecognised, texts };
}

class Reader {
  readonly remarks: string[] = [];
  readonly notRecognised: string[] = [];
  readonly texts: { at: string; bytes: Spread }[] = [];

  /** A run recognises callbacks by the first text with room for its stamp: earlier texts must have none. */
  private isBeforeEcho: boolean;

  /** Of a call whose texts have several sizes: the number of combinations, and the largest. */
  private sizes = 1;
  private largestBytes = 0;

  /** Index of the first argument that may be a password: with several, the first is a name. */
  private readonly passwordsFrom: number;

  constructor(private readonly facts: ArgumentContext) {
    const { method, calls } = facts.step;
    this.isBeforeEcho = facts.echoed !== undefined;
    const isAlone = calls.every(({ arguments: all }) => all.length === 1);
    this.passwordsFrom = isSignInMethod(method) ? (isAlone ? 0 : 1) : Infinity;
  }

  read(all: readonly One[], path: Path): unknown {
    const shapes = byShape(all);
    const [ones] = shapes;
    if (shapes.length > 1 && path.length > 0)
      this.differs(path, `has ${shapes.length} forms; the most frequent is written`);
    const { value } = ones![0]!;
    if (Array.isArray(value)) {
      if (value.length > mostMembers) this.differs(path, `is a list of ${value.length}; it is cut`);
      return value
        .slice(0, mostMembers)
        .map((_, index) => this.read(membersAt(ones!, index), [...path, index]));
    }
    if (typeof value !== 'object' || value === null) return this.leaf(ones!, path);
    const named = Object.keys(value);
    const names = named.filter((name) => !holdsSecret(name) && secrecyOf(name, []) !== 'sure');
    const hidden = named.length - names.length;
    if (hidden > 0)
      this.differs(path, `has ${hidden} members with secrets for names; they are not written`);
    if (names.length === 1 && names[0]!.startsWith('$'))
      return this.special(ones!, names[0]!, path);
    if (names.length > mostMembers) this.differs(path, `has ${names.length} members; they are cut`);
    return Object.fromEntries(
      names
        .slice(0, mostMembers)
        .map((name) => [name, this.read(membersAt(ones!, name), [...path, name])]),
    );
  }

  private leaf(ones: readonly One[], path: Path): unknown {
    const { kept, rooms, echoed } = this.facts;
    const key = pathKey(path);
    const name = kept.get(key);
    if (name !== undefined) return `{${name}}`;
    const values = new Map<unknown, number>();
    for (const { value } of ones) addCount(values, value);
    if ([...values.keys()].every((value) => typeof value === 'string' && rooms.has(value)))
      return '{group}';
    if (key === echoed) {
      this.isBeforeEcho = false;
      return this.text(ones, path, this.facts.leastEchoBytes);
    }
    const all = [...values.keys()];
    if (all.every((value) => isBenchmarkText(value, path))) return this.text(ones, path, 1);
    const secrets = all.filter((value) => this.secrecy(value, path) !== undefined);
    if (secrets.length > 0) return this.secret(ones, secrets, path);
    if (all.some((value) => typeof value === 'string' && holdsSecret(value))) {
      this.remarks.push(
        `${argumentLabel(path)}: texts with a secret in them were seen; random text takes their place`,
      );
      return this.text(ones, path, 1);
    }
    if (values.size === 1) return this.literal(ones[0]!.value, path);
    return this.byClient(ones, path) ?? this.varying(ones, values, path);
  }

  private secrecy(value: unknown, path: Path): 'sure' | 'like' | undefined {
    const isPassword =
      path.length === 1 &&
      typeof value === 'string' &&
      value !== '' &&
      Number(path[0]) >= this.passwordsFrom;
    return secrecyOf(value, path) ?? (isPassword ? 'like' : undefined);
  }

  private secret(ones: readonly One[], secrets: readonly unknown[], path: Path): string {
    const isSure = secrets.some((value) => this.secrecy(value, path) === 'sure');
    const ofClients = valuesByClient(ones);
    // A key that differs each time, or is very long, is no key.
    const isEachTime = ofClients === undefined && secrets.length * 2 > ones.length;
    const isLong = secrets.every((value) => textBytes(String(value)) > longestLiteral);
    if (!isSure && (isEachTime || isLong)) return this.text(ones, path, 1);
    const different = new Set(ofClients?.values()).size;
    const own = different > 1 && different <= mostSecrets ? ofClients! : new Map<number, never>();
    const column = this.facts.identities.secret(this.nameAt(path), own);
    this.remarks.push(`${argumentLabel(path)}: ${secretWords(secrets, isSure, own.size)}`);
    return `{identity.${column}}`;
  }

  private byClient(ones: readonly One[], path: Path): string | undefined {
    const ofClients = valuesByClient(ones);
    if (ofClients === undefined) return undefined;
    const values = [...ofClients.values()];
    if (values.some((value) => typeof value === 'string' && /[{}]/.test(value))) return undefined;
    if (values.some((value) => typeof value === 'string' && textBytes(value) > longestLiteral))
      return undefined;
    const distinct = new Set(values).size === values.length;
    const start = distinct ? numberedStart(values) : undefined;
    if (start !== undefined) return `${escaped(start)}{senderIndex}`;
    return `{identity.${this.facts.identities.column(this.nameAt(path), ofClients)}}`;
  }

  private varying(ones: readonly One[], values: ReadonlyMap<unknown, number>, path: Path): unknown {
    const [usual] = [...values].sort(([, a], [, b]) => b - a)[0]!;
    if (typeof usual === 'number') return this.number(ones, usual, path);
    if (typeof usual !== 'string') {
      this.differs(path, 'differs; its most frequent value is written');
      return usual;
    }
    const texts = [...values.keys()].filter((value) => typeof value === 'string');
    if (texts.every(isIdOrTime)) {
      this.differs(
        path,
        'is another id or time each time; the one that is written is from the recording',
      );
      return this.literal(usual, path);
    }
    const isChoice =
      values.size <= fewValues &&
      values.size * 5 <= ones.length &&
      texts.every((text) => !/\s/.test(text));
    if (!isChoice) return this.text(ones, path, 1);
    this.differs(path, `is one of ${values.size} values; the most frequent is written`);
    return this.literal(usual, path);
  }

  private number(ones: readonly One[], usual: number, path: Path): unknown {
    const { startedMs } = this.facts;
    const latest = new Map<number, number>();
    const rises = ones.every(({ value, call }) => {
      const before = latest.get(call.client.id);
      latest.set(call.client.id, value as number);
      return before === undefined || value === before + 1;
    });
    if (rises) return '{sequence}';
    const isNear = (nowOf: (ms: number) => number, span: number): boolean =>
      ones.every(
        ({ value, call }) =>
          typeof value === 'number' &&
          Math.abs(value - nowOf(startedMs + call.atUs / 1000)) < dayMs * span,
      );
    if (isNear((ms) => ms, 1)) return '{time}';
    if (isNear((ms) => (ms + yearOneMs) * 10_000, 10_000)) return '{ticks}';
    this.differs(path, 'is a number that differs; the most frequent is written');
    return usual;
  }

  private text(ones: readonly One[], path: Path, leastBytes: number): string {
    const seen = ones.map(({ value }) =>
      textBytes(typeof value === 'string' ? value : JSON.stringify(value)),
    );
    const bytes = spreadOf(seen);
    if (this.isBeforeEcho && bytes.most >= this.facts.leastEchoBytes) {
      this.remarks.push(
        `${argumentLabel(path)}: ${sizeRangeWords(bytes)}; a text of the mean size stands for all, since callbacks are recognised by a text behind it`,
      );
      return 'x'.repeat(Math.min(longestFiller, Math.round(bytes.mean)));
    }
    this.texts.push({ at: argumentLabel(path), bytes });
    if (bytes.least < leastBytes && leastBytes > 1)
      this.remarks.push(
        `${argumentLabel(path)}: at least ${leastBytes} B here, since callbacks are recognised by it; shorter ones were seen`,
      );
    const sizes = weightedSizes(seen.map((each) => Math.max(leastBytes, each)));
    if (sizes === undefined || !this.takeSizes(sizes))
      return `{text:${Math.max(leastBytes, Math.round(bytes.mean))}B}`;
    return `{text:${weightedSizesText(sizes)}}`;
  }

  /** False when the call would have more combinations than a run may have. */
  private takeSizes(sizes: readonly PayloadSize[]): boolean {
    const count = this.sizes * sizes.length;
    const largest = this.largestBytes + Math.max(...sizes.map(({ bytes }) => bytes));
    if (count > mostSizesOfCall || count * largest > mostSizedBytes) return false;
    this.sizes = count;
    this.largestBytes = largest;
    return true;
  }

  private literal(value: unknown, path: Path): unknown {
    if (typeof value !== 'string') return value;
    if (textBytes(value) > longestLiteral || value.includes('${'))
      return this.text([{ value, call: this.facts.step.calls[0]! }], path, 1);
    return escaped(value);
  }

  /** Objects of a recording for what JSON has no form for: bytes, large integers. */
  private special(ones: readonly One[], name: string, path: Path): unknown {
    const texts = ones.map(({ value, call }): One => {
      const held = valueAt(value, [name]);
      return { value: Array.isArray(held) ? held.at(-1) : held, call };
    });
    this.differs(
      path,
      `is not a value that a scenario can have (${name.slice(1)}); a text stands in its place`,
    );
    if (name === '$integer') return this.leaf(texts, path);
    return this.text(texts, path, 1);
  }

  private nameAt(path: Path): string {
    return plain(lastName(path) ?? `${this.facts.step.method}${Number(path[0]) + 1}`);
  }

  private differs(path: Path, what: string): void {
    this.notRecognised.push(`${this.facts.step.method}, ${argumentLabel(path)}: ${what}`);
    this.remarks.push(`${argumentLabel(path)} ${what}`);
  }
}

function byShape(all: readonly One[]): One[][] {
  const shapes = groupBy(all, ({ value }) => shapeOf(value));
  return [...shapes.values()].sort((a, b) => b.length - a.length);
}

function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `list of ${value.length}`;
  if (typeof value !== 'object' || value === null) return typeof value;
  return `map of ${JSON.stringify(Object.keys(value))}`;
}

const membersAt = (ones: readonly One[], step: string | number): One[] =>
  ones.map(({ value, call }) => ({ value: valueAt(value, [step]), call }));

export function argumentLabel(path: Path): string {
  const [index, ...others] = path;
  const inner = others.map((step) => (typeof step === 'number' ? `item ${step + 1}` : plain(step)));
  return [`argument ${Number(index) + 1}`, ...inner].join(', ');
}

/** Names come from outside: only what may stand in a comment. */
const plain = (name: string): string => name.replace(/[^\w .-]/g, '?').slice(0, 60);

function numberedStart(values: readonly unknown[]): string | undefined {
  let start: string | undefined;
  for (const value of values) {
    if (typeof value !== 'number' && typeof value !== 'string') return undefined;
    const found = /^(.{0,100}?)(\d{1,9})$/s.exec(String(value));
    if (found === null || (start !== undefined && start !== found[1])) return undefined;
    start = found[1]!;
  }
  return start;
}

/** @param owners clients with a reference each; 0 where one stands for all */
function secretWords(secrets: readonly unknown[], isSure: boolean, owners: number): string {
  const [first] = secrets;
  if (secrets.length === 1 && isSure) return 'a secret was seen, it is not written here';
  if (secrets.length === 1)
    return `a text that looks like a key was seen, it is not written here; if it is none, write {text:${textBytes(String(first))}B}`;
  const what = isSure ? 'secrets' : 'texts that look like keys';
  const seen = `${secrets.length} ${what}${owners > 0 ? ` of ${owners} clients` : ''} were seen`;
  if (owners > 0) return `${seen}, they are not written here`;
  return `${seen}, they are not written here; one reference stands for all: write rows of your own, with a secret each`;
}

const escaped = (text: string): string => text.replaceAll('{', '{{');
