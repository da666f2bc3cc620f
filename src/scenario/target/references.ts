interface Reference {
  readonly kind: 'env' | 'secret';
  readonly name: string;
  readonly offset: number;
  readonly length: number;
}

/** One reference; names are bounded so that a hostile text cannot make the pattern slow. */
export const referencePattern =
  '\\$\\{(?:env:[A-Za-z_][A-Za-z0-9_]{0,127}|secret:[A-Za-z][A-Za-z0-9_-]{0,127})\\}';

const reference = (): RegExp => new RegExp(referencePattern, 'g');

export function referencesIn(text: string): Reference[] {
  return [...text.matchAll(reference())].map((match) => {
    const inner = match[0].slice(2, -1);
    const colon = inner.indexOf(':');
    return {
      kind: inner.startsWith('env') ? 'env' : 'secret',
      name: inner.slice(colon + 1),
      offset: match.index,
      length: match[0].length,
    };
  });
}

const maximumMalformed = 10;

/** `${NAME}`, `${secret:my key}`, `${env:A`. */
export function malformedReferences(text: string): { offset: number; length: number }[] {
  const good = new Map(referencesIn(text).map(({ offset, length }) => [offset, length]));
  const bad: { offset: number; length: number }[] = [];
  let offset = text.indexOf('${');
  while (offset !== -1 && bad.length < maximumMalformed) {
    let length = good.get(offset);
    if (length === undefined) {
      const end = text.indexOf('}', offset);
      const next = text.indexOf('${', offset + 2);
      const closed = end !== -1 && (next === -1 || end < next);
      length = closed ? end + 1 - offset : 2;
      bad.push({ offset, length });
    }
    offset = text.indexOf('${', offset + length);
  }
  return bad;
}

export type ReferenceLookup = (kind: Reference['kind'], name: string) => string | undefined;

/** References inside values stay. Missing ones stay in the text, and are listed once. */
export function resolveReferences(
  text: string,
  lookup: ReferenceLookup,
): { text: string; missing: Reference[] } {
  const missing: Reference[] = [];
  const parts: string[] = [];
  let done = 0;
  for (const found of referencesIn(text)) {
    const end = found.offset + found.length;
    const value = lookup(found.kind, found.name);
    if (value === undefined && !missing.some((known) => sameSource(known, found)))
      missing.push(found);
    parts.push(text.slice(done, found.offset), value ?? text.slice(found.offset, end));
    done = end;
  }
  return { text: parts.join('') + text.slice(done), missing };
}

const sameSource = (a: Reference, b: Reference): boolean => a.kind === b.kind && a.name === b.name;

export const secretPrefix = 'SIGNALR_BENCH_SECRET_';

export const secretVariable = (name: string): string =>
  `${secretPrefix}${name.toUpperCase().replaceAll('-', '_')}`;
