import { isSecretName } from '../../base/secrets';
import { stampLength, stampMarker } from '../../wire/message/stamp';

export type Path = readonly (string | number)[];

const deepest = 12;
const mostLeaves = 200;

/** Visits primitive values, as many as a scenario may have. The path is reused: copy it to keep it. */
export function visitLeaves(
  value: unknown,
  visit: (leaf: string | number | boolean | null, path: Path) => void,
): void {
  let left = mostLeaves;
  const path: (string | number)[] = [];
  const walkAt = (step: string | number, node: unknown): void => {
    path.push(step);
    walk(node);
    path.pop();
  };
  const walk = (node: unknown): void => {
    if (left <= 0 || path.length > deepest) return;
    if (typeof node !== 'object' || node === null) {
      left -= 1;
      if (isLeaf(node)) visit(node, path);
    } else if (Array.isArray(node)) {
      for (let at = 0; at < node.length && left > 0; at++) walkAt(at, node[at]);
    } else {
      for (const name in node) walkAt(name, (node as Readonly<Record<string, unknown>>)[name]);
    }
  };
  walk(value);
}

export const visitValues = (value: unknown, visit: (leaf: string | number) => void): void =>
  visitLeaves(value, (leaf) => {
    if (typeof leaf === 'string' || typeof leaf === 'number') visit(leaf);
  });

export const visitTexts = (value: unknown, visit: (text: string) => void): void =>
  visitValues(value, (leaf) => {
    if (typeof leaf === 'string') visit(leaf);
  });

/** Smaller integers are equal by chance: rounds, rows, days. */
const tellingNumber = 10_000;
/** Longer texts are compared by length, beginning and end. */
export const longestWholeText = 256;

export const textKey = (text: string): string =>
  text.length <= longestWholeText
    ? text
    : `${text.length}:${text.slice(0, longestWholeText / 2)}${text.slice(-longestWholeText / 2)}`;

/** A text, a fraction, or a large number such as a place on a map. */
export type MatchKey = string | number;

export function matchKeysOf(values: readonly unknown[]): MatchKey[] {
  const marks: MatchKey[] = [];
  visitValues(values, (leaf) => {
    if (typeof leaf === 'string') {
      if (leaf !== '') marks.push(textKey(leaf));
    } else if (!Number.isInteger(leaf) || Math.abs(leaf) > tellingNumber) marks.push(leaf);
  });
  return marks;
}

const isLeaf = (value: unknown): value is string | number | boolean | null =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'number' ||
  typeof value === 'boolean';

export function valueAt(value: unknown, path: Path): unknown {
  let node = value;
  for (const step of path) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, step)) return undefined;
    node = (node as Readonly<Record<string | number, unknown>>)[step];
  }
  return node;
}

/** The innermost member name; undefined where there are only lists. */
export function lastName(path: Path): string | undefined {
  const names = path.filter((step) => typeof step === 'string');
  return names.at(-1);
}

export const pathKey = (path: Path): string => JSON.stringify(path);

/** Source: RFC 9535, "JSONPath: Query Expressions for JSON". */
export function jsonPathOf(path: Path): string {
  const step = (part: string | number): string => {
    if (typeof part === 'number') return `[${part}]`;
    if (/^[A-Za-z_]\w{0,200}$/.test(part)) return `.${part}`;
    return `['${part.replace(/[\\']/g, '\\$&')}']`;
  };
  return `$${path.map(step).join('')}`;
}

const jwt = /^eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?$/;
const guid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const timeStart = /^\d{4}-\d\d-\d\dT/;
const longHex = /^[\da-f]{32,}$/i;
const longBase64 = /^[\w+/-]{24,}={0,2}$/;

function isToken(text: string): boolean {
  const bare = text.replace(/^(?:Bearer|Basic)\s+/i, '');
  return (bare !== text && bare.length >= 8) || jwt.test(bare);
}

/** A long key in hex or base64; GUIDs are none. */
function looksLikeKey(text: string): boolean {
  if (guid.test(text)) return false;
  if (longHex.test(text)) return true;
  // Words have no digits, names one case: a key has all three.
  return longBase64.test(text) && /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
}

/** A GUID or an ISO 8601 time: a typed hub method takes no other text. */
export const isIdOrTime = (text: string): boolean =>
  guid.test(text) || (timeStart.test(text) && !Number.isNaN(Date.parse(text)));

/** Secrets within a text: a URL, a connection string, JSON, a header, a message. */
const inside: readonly RegExp[] = [
  /eyJ[\w-]{5,}\.[\w-]{5,}/,
  /\b(?:Bearer|Basic)\s+[\w.~+/-]{8,}/i,
  /(?:token|passw(?:or)?d|passphrase|pwd|secret|signature|\bsig|(?:api|access|account|private)[-_ ]?key|credential|session[-_]?id)["']?\s*[=:]\s*["']?[^\s"'&;,]+/i,
  /:\/\/[^/\s:@]+:[^/\s@]+@/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bAKIA[\dA-Z]{16}\b/,
  /\b(?:tok|sk|pk|key|gh[opsu]|xox[abp])[-_][\w-]{16,}/,
];

/** For texts that contain a secret; {@link secrecyOf} is for texts that are one. */
export const holdsSecret = (text: string): boolean => inside.some((each) => each.test(text));

/** Arguments of such methods are passwords and keys. */
export const isSignInMethod = (method: string): boolean =>
  /log-?_?in|log-?_?on|sign-?_?in|authenticat|authori[sz]e|password|passphrase|(?:set|use|api).*key|token/i.test(
    method,
  );

const stampStart = new RegExp(`^${stampMarker}[\\da-f]{${stampLength - stampMarker.length}}`);

/** Text of this benchmark: payloads, and texts with a stamp. */
export const isBenchmarkText = (leaf: unknown, path: Path): boolean =>
  typeof leaf === 'string' &&
  (stampStart.test(leaf) || /^(?:payload|bench)\./.test(lastName(path) ?? ''));

/** By the last word of the name: `userPin`, `user_pin`, `PIN`. */
const isOfPayments = (name: string): boolean =>
  /(?:credit|debit|card)[-_ ]?(?:card|no|num|number)$/i.test(name) ||
  /^(?:pin|passcode|cvv2?|cvc2?|iban|ssn|otp)$/i.test(
    name.split(/[-_ ]|(?<=[a-z])(?=[A-Z])/).at(-1)!,
  );

/** 13 to 19 digits with a check digit, as payment cards have (ISO/IEC 7812-1, Annex B: Luhn formula). */
function isCardNumber(text: string): boolean {
  if (!/^[2-6](?:[ -]?\d){12,18}$/.test(text)) return false;
  const sum = text
    .replace(/\D/g, '')
    .split('')
    .reverse()
    .reduce((total, digit, at) => {
      const twice = Number(digit) * (at % 2 === 0 ? 1 : 2);
      return total + (twice > 9 ? twice - 9 : twice);
    }, 0);
  return sum % 10 === 0;
}

/** `sure` by name or form; `like`: a long text that may be a key. */
export function secrecyOf(leaf: unknown, path: Path): 'sure' | 'like' | undefined {
  const name = lastName(path);
  if (name !== undefined && (isSecretName(name) || isOfPayments(name)))
    return leaf !== null && leaf !== '' && typeof leaf !== 'boolean' ? 'sure' : undefined;
  if (typeof leaf !== 'string') return undefined;
  if (isToken(leaf) || isCardNumber(leaf)) return 'sure';
  return looksLikeKey(leaf) ? 'like' : undefined;
}

export function urlWithoutKeys(url: string): string {
  let number = 0;
  return url.replace(/(?<=[^/:]\/)[^/?#]+/g, (part) => {
    if (secrecyOf(decoded(part), []) === undefined && !holdsSecret(decoded(part))) return part;
    number += 1;
    return `\${secret:hub-path${number === 1 ? '' : `-${number}`}}`;
  });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
