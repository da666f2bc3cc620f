/** The shape that data read from a file must have; unknown keys are allowed, they may be newer. */
export type Shape =
  | 'string'
  | 'number'
  | 'boolean'
  /** Text of a moment that a date can hold. */
  | 'time'
  | { readonly oneOf: readonly string[] }
  | { readonly list: Shape; readonly most: number }
  | { readonly record: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> }
  | { readonly nullable: Shape }
  | { readonly optional: Shape };

/** Results have about eight levels; what a newer version adds may have some more. */
const mostLevels = 64;

/**
 * Where a value first differs from its shape, as `steps[0].sent: must be a number`; undefined when it
 * does not. Numbers must be such that arithmetic keeps them whole: what is counted never is beyond. What the shape does not name must not be nested deeply either:
 * whoever copies or writes it goes down level by level and would exhaust the stack.
 */
export function shapeProblem(value: unknown, shape: Shape): string | undefined {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > mostLevels) return `it is nested deeper than ${mostLevels} levels`;
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? (Object.values(each) as unknown[]) : [],
    );
  }
  return problemAt(value, shape, '');
}

function problemAt(value: unknown, shape: Shape, at: string): string | undefined {
  const wrong = (what: string): string => `${at || 'the file'}: must be ${what}`;
  if (shape === 'time') {
    const fits = typeof value === 'string' && !Number.isNaN(Date.parse(value));
    return fits ? undefined : wrong('a time');
  }
  if (typeof shape === 'string') {
    const fits =
      typeof value === 'number'
        ? shape === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
        : typeof value === shape;
    return fits ? undefined : wrong(`a ${shape}`);
  }
  if ('optional' in shape) {
    return value === undefined ? undefined : problemAt(value, shape.optional, at);
  }
  if ('nullable' in shape) {
    return value === null ? undefined : problemAt(value, shape.nullable, at);
  }
  if ('oneOf' in shape) {
    const fits = typeof value === 'string' && shape.oneOf.includes(value);
    return fits ? undefined : wrong(`one of ${shape.oneOf.join(', ')}`);
  }
  if ('list' in shape) {
    if (!Array.isArray(value)) return wrong('a list');
    if (value.length > shape.most) return wrong(`a list of at most ${shape.most}`);
    return first(value, (item, index) => problemAt(item, shape.list, `${at}[${index}]`));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return wrong('an object');
  const object = value as Record<string, unknown>;
  const below = (name: string): string => (at ? `${at}.${name}` : name);
  return 'record' in shape
    ? first(Object.entries(object), ([name, item]) => problemAt(item, shape.record, below(name)))
    : first(Object.entries(shape.fields), ([name, field]) =>
        problemAt(Object.hasOwn(object, name) ? object[name] : undefined, field, below(name)),
      );
}

function first<T>(
  items: readonly T[],
  check: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = check(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
