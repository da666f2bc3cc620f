/** Values that sessions keep from answers for later calls. */
import { compileJsonPath } from '../../usecases/jsonPath';
import { withTexts, type OwnArgument } from '../../usecases/ownArguments';
import type { Keep } from '../../usecases/sessionSteps';

/** In characters of JSON; each session holds its values. */
export const longestKept = 65_536;

/** Undefined when the path finds nothing, or too much. */
type Find = (answer: unknown) => unknown;

export const keepers = (keep: Keep): readonly (readonly [name: string, find: Find])[] =>
  Object.entries(keep).map(([name, path]) => {
    const query = compileJsonPath(path);
    return [name, (answer) => bounded(firstOf(query, answer))];
  });

function firstOf(query: ReturnType<typeof compileJsonPath>, answer: unknown): unknown {
  if (answer === undefined) return undefined;
  try {
    return query.match(answer as Parameters<typeof query.match>[0])?.value;
  } catch {
    // Too deeply nested for the library: an answer must not end the worker.
    return undefined;
  }
}

function bounded(value: unknown): unknown {
  if (
    value === undefined ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value === null
  )
    return value;
  // 64-bit numbers of MessagePack.
  if (typeof value === 'bigint') return String(value);
  return asText(value).length <= longestKept ? value : undefined;
}

const withBigInts = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

export type KeptValues = ReadonlyMap<string, unknown>;

/**
 * Fills placeholders with kept values, or returns the name of one that is missing. A placeholder alone keeps the type
 * of its value.
 */
export function withKept(
  items: readonly OwnArgument[],
  kept: KeptValues,
): readonly OwnArgument[] | string {
  let missing: string | undefined;
  const valueOf = (key: string): unknown => {
    const value = kept.get(key);
    if (value === undefined) missing ??= key;
    return value;
  };
  const all = withTexts(items, ({ parts: written }) => {
    const [first, more] = written;
    if (more === undefined && typeof first === 'object' && first.name === 'kept')
      return literal(valueOf(first.key));
    const parts = written.map((part) =>
      typeof part === 'object' && part.name === 'kept' ? asText(valueOf(part.key)) : part,
    );
    return { kind: 'text', parts };
  });
  return missing ?? all;
}

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, withBigInts);

/** Braces in a value are no placeholders. */
function literal(value: unknown): OwnArgument {
  if (typeof value === 'string') return { kind: 'text', parts: [value] };
  if (Array.isArray(value)) return { kind: 'list', items: value.map(literal) };
  if (value instanceof Uint8Array)
    return { kind: 'text', parts: [Buffer.from(value).toString('base64')] };
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, member]) => [key, literal(member)] as const);
    return { kind: 'map', members };
  }
  if (typeof value === 'bigint') return { kind: 'text', parts: [String(value)] };
  return { kind: 'value', value: (value ?? null) as number | boolean | null };
}

/** Without `equals`: whether the value is neither missing, empty, false, 0 nor null. */
export function isAsAsked(
  value: unknown,
  equals: string | number | boolean | null | undefined,
): boolean {
  if (equals !== undefined) return value === equals;
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}
