/** Checks of values that come from files. The types of such values are inferred from their shapes. */

/** Says where a value first differs, as `steps[0].sent: must be a number`. Unknown keys are allowed, they may be newer. */
export interface Shape<T> {
  (value: unknown, at: string): string | undefined;
  /** For the compiler alone. */
  readonly type?: { readonly of: T };
}

export interface OptionalShape<T> extends Shape<T> {
  readonly isOptional: true;
}

export type Fields = Readonly<Record<string, Shape<unknown>>>;

export interface ObjectShape<Of extends Fields> extends Shape<ObjectOf<Of>> {
  readonly fields: Of;
}

export type TypeOf<Of> = Of extends Shape<infer T> ? T : never;

export type Optional<Field, Name> = Field extends OptionalShape<unknown> ? Name : never;
export type Required<Field, Name> = Field extends OptionalShape<unknown> ? never : Name;
export type ObjectOf<Of extends Fields> = {
  readonly [Name in keyof Of as Required<Of[Name], Name>]: TypeOf<Of[Name]>;
} & {
  readonly [Name in keyof Of as Optional<Of[Name], Name>]?: TypeOf<Of[Name]>;
};

/** Results have about eight levels; what a newer version adds may have some more. */
const maximumLevels = 64;

/**
 * Where a value first differs from its shape. What the shape does not name must not be nested deeply either: whoever
 * copies or writes it goes down level by level and would exhaust the stack.
 */
export function shapeProblem(value: unknown, shape: Shape<unknown>): string | undefined {
  if (isDeeper(value, maximumLevels)) return `it is nested deeper than ${maximumLevels} levels`;
  return shape(value, '');
}

function isDeeper(value: unknown, levels: number): boolean {
  if (levels < 0) return true;
  if (typeof value !== 'object' || value === null) return false;
  for (const each of Object.values(value)) if (isDeeper(each, levels - 1)) return true;
  return false;
}

export const wrong = (at: string, what: string): string => `${at || 'the file'}: must be ${what}`;

const being =
  <T>(what: string, fits: (value: unknown) => boolean): Shape<T> =>
  (value, at) =>
    fits(value) ? undefined : wrong(at, what);

export const text = being<string>('a string', (value) => typeof value === 'string');
export const flag = being<boolean>('a boolean', (value) => typeof value === 'boolean');
/** Such that arithmetic keeps it whole: what is counted never is beyond. */
export const number = being<number>(
  'a number',
  (value) => typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER,
);
/** No sum or share of it makes sense below 0. */
export const count = being<number>(
  'a number of at least 0',
  (value) => typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER,
);
export const time = being<string>(
  'a time',
  (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
);
export const oneOf = <const Word extends string>(words: readonly Word[]): Shape<Word> =>
  being(`one of ${words.join(', ')}`, (value) => words.includes(value as Word));

export const optional = <T>(shape: Shape<T>): OptionalShape<T> =>
  Object.assign(
    (value: unknown, at: string) => (value === undefined ? undefined : shape(value, at)),
    { isOptional: true as const },
  );

export const nullable =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value, at) =>
    value === null ? undefined : shape(value, at);

export const list =
  <T>(shape: Shape<T>, most: number): Shape<readonly T[]> =>
  (value, at) => {
    if (!Array.isArray(value)) return wrong(at, 'a list');
    if (value.length > most) return wrong(at, `a list of at most ${most}`);
    return firstProblem(value, (item, index) => shape(item, `${at}[${index}]`));
  };

type Entries = readonly (readonly [name: string, Shape<unknown>])[];

/** An object whose fields depend on what it is. */
export const entries =
  <T>(entriesOf: (value: Readonly<Record<string, unknown>>) => Entries): Shape<T> =>
  (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return wrong(at, 'an object');
    const members = value as Record<string, unknown>;
    return firstProblem(entriesOf(members), ([name, shape]) =>
      shape(Object.hasOwn(members, name) ? members[name] : undefined, at ? `${at}.${name}` : name),
    );
  };

export const record = <T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  entries((value) => Object.keys(value).map((name) => [name, shape]));

export function object<Of extends Fields>(fields: Of): ObjectShape<Of> {
  const all = Object.entries(fields);
  return Object.assign(
    entries<ObjectOf<Of>>(() => all),
    { fields },
  );
}

/** The same shape under each of the names. */
export const each = <const Name extends string, T>(names: readonly Name[], shape: Shape<T>) =>
  Object.fromEntries(names.map((name) => [name, shape])) as Readonly<Record<Name, Shape<T>>>;

/** Each of the names may be absent. */
export const some = <const Name extends string, T>(names: readonly Name[], shape: Shape<T>) =>
  Object.fromEntries(names.map((name) => [name, optional(shape)])) as Readonly<
    Record<Name, OptionalShape<T>>
  >;

function firstProblem<T>(
  items: readonly T[],
  check: (item: T, index: number) => string | undefined,
): string | undefined {
  // Not by entries(), which makes an object of each: a run of hours has a million fields.
  for (let index = 0; index < items.length; index++) {
    const problem = check(items[index]!, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
