import { isSecretName } from '../../base/secrets';
import { stampLength, stampMarker } from '../../wire/message/stamp';

/** Where a value stands in the arguments of a call or in an answer: members by name, items by number. */
export type Path = readonly (string | number)[];

/** A deeper or larger value is not looked into: nobody writes it into a scenario by hand. */
const deepest = 12;
const mostLeaves = 200;

/**
 * Visits texts, numbers, flags and nulls; of each list and map as many as a scenario may have. The path is the
 * visitor's for the time of the visit: who keeps it copies it.
 */
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

/** The same for texts and numbers, where nobody asks for the place. */
export const visitValues = (value: unknown, visit: (leaf: string | number) => void): void =>
  visitLeaves(value, (leaf) => {
    if (typeof leaf === 'string' || typeof leaf === 'number') visit(leaf);
  });

export const visitTexts = (value: unknown, visit: (text: string) => void): void =>
  visitValues(value, (leaf) => {
    if (typeof leaf === 'string') visit(leaf);
  });

/** Smaller whole numbers are the same by chance: those of rounds, rows, days. */
const tellingNumber = 10_000;
/** Longer texts count as equal by their length and their ends. */
export const longestWholeText = 256;

/** What stands for a text. */
export const textKey = (text: string): string =>
  text.length <= longestWholeText
    ? text
    : `${text.length}:${text.slice(0, longestWholeText / 2)}${text.slice(-longestWholeText / 2)}`;

/** A text, or a number with a fraction or of many digits, such as a place on a map. */
export type MatchKey = string | number;

/** By which a callback is known to be of a call. */
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

/** Undefined where there is nothing. */
export function valueAt(value: unknown, path: Path): unknown {
  let node = value;
  for (const step of path) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, step)) return undefined;
    node = (node as Readonly<Record<string | number, unknown>>)[step];
  }
  return node;
}

/** The innermost name; undefined where there are only lists. */
export function lastName(path: Path): string | undefined {
  const names = path.filter((step) => typeof step === 'string');
  return names.at(-1);
}

/** One text for one path. */
export const pathKey = (path: Path): string => JSON.stringify(path);

/** As RFC 9535 ("JSONPath: Query Expressions for JSON") writes it. */
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

/** A token with its scheme, or a JSON web token. */
function isToken(text: string): boolean {
  const bare = text.replace(/^(?:Bearer|Basic)\s+/i, '');
  return (bare !== text && bare.length >= 8) || jwt.test(bare);
}

/** Whether a text looks like a long key in hex or base64. Ids as GUIDs do not. */
function looksLikeKey(text: string): boolean {
  if (guid.test(text)) return false;
  if (longHex.test(text)) return true;
  // Words have no digits, names one case: a key has all three.
  return longBase64.test(text) && /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
}

/** A GUID, or a date with its time (ISO 8601): a hub with types for them takes no other text. */
export const isIdOrTime = (text: string): boolean =>
  guid.test(text) || (timeStart.test(text) && !Number.isNaN(Date.parse(text)));

/** What lets somebody in, in the middle of a text: of a URL, a connection string, JSON, a header, a message. */
const inside: readonly RegExp[] = [
  /eyJ[\w-]{5,}\.[\w-]{5,}/,
  /\b(?:Bearer|Basic)\s+[\w.~+/-]{8,}/i,
  /(?:token|passw(?:or)?d|passphrase|pwd|secret|signature|\bsig|(?:api|access|account|private)[-_ ]?key|credential|session[-_]?id)["']?\s*[=:]\s*["']?[^\s"'&;,]+/i,
  /:\/\/[^/\s:@]+:[^/\s@]+@/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bAKIA[\dA-Z]{16}\b/,
  /\b(?:tok|sk|pk|key|gh[opsu]|xox[abp])[-_][\w-]{16,}/,
];

/** Whether a longer text holds a secret: a whole one is {@link secrecyOf}. */
export const holdsSecret = (text: string): boolean => inside.some((each) => each.test(text));

/** Methods that let a client in: their texts are passwords and keys, though nothing but their place says so. */
export const isSignInMethod = (method: string): boolean =>
  /log-?_?in|log-?_?on|sign-?_?in|authenticat|authori[sz]e|password|passphrase|(?:set|use|api).*key|token/i.test(
    method,
  );

const stampStart = new RegExp(`^${stampMarker}[\\da-f]{${stampLength - stampMarker.length}}`);

/** Text that this benchmark has made: the contents of its own messages, and what carries a stamp. */
export const isBenchmarkText = (leaf: unknown, path: Path): boolean =>
  typeof leaf === 'string' &&
  (stampStart.test(leaf) || /^(?:payload|bench)\./.test(lastName(path) ?? ''));

/** The last word of a name, however it is written: `userPin`, `user_pin`, `PIN`. */
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

/** `sure` by the name of the member that holds it or by its form; `like`: a long text that may be a key, or not. */
export function secrecyOf(leaf: unknown, path: Path): 'sure' | 'like' | undefined {
  const name = lastName(path);
  if (name !== undefined && (isSecretName(name) || isOfPayments(name)))
    return leaf !== null && leaf !== '' && typeof leaf !== 'boolean' ? 'sure' : undefined;
  if (typeof leaf !== 'string') return undefined;
  if (isToken(leaf) || isCardNumber(leaf)) return 'sure';
  return looksLikeKey(leaf) ? 'like' : undefined;
}

/** A URL with references in place of the parts of its path that let somebody in: keys of webhooks, tokens of tenants. */
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
