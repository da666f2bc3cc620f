/** What a value from outside must look like, put together of small parts: whoever has the key of the bus may have written it. */

export type Fits = (value: unknown) => boolean;
type Fields = Readonly<Record<string, unknown>>;

/** Of whatever is shown or kept. */
export const mostText = 2000;

/** A file, or a part of a result: bounded by the message. */
export const isContent: Fits = (value) => typeof value === 'string';
export const textUpTo =
  (length: number): Fits =>
  (value) =>
    typeof value === 'string' && value.length <= length;
export const isText = textUpTo(mostText);
export const isFlag: Fits = (value) => typeof value === 'boolean';
export const isNumber: Fits = (value) => Number.isFinite(value);
export const isCount: Fits = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
/** A time or a number of bytes. */
export const isAmount: Fits = (value) => isNumber(value) && (value as number) >= 0;
export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const exactly =
  (wanted: unknown): Fits =>
  (value) =>
    value === wanted;
export const optional =
  (fits: Fits): Fits =>
  (value) =>
    value === undefined || fits(value);
export const eitherOf =
  (...all: readonly Fits[]): Fits =>
  (value) =>
    all.some((fits) => fits(value));
export const list =
  (fits: Fits): Fits =>
  (value) =>
    Array.isArray(value) && value.every(fits);
/** Own fields: what every object has is none of the sender's. */
export const fields = (shape: Readonly<Record<string, Fits>>): Fits => {
  const all = Object.entries(shape);
  return (value) =>
    isObject(value) &&
    all.every(([name, fits]) => fits(Object.hasOwn(value, name) ? value[name] : undefined));
};
export const allOf = (names: readonly string[], fits: Fits): Readonly<Record<string, Fits>> =>
  Object.fromEntries(names.map((name) => [name, fits]));
export const record =
  (isName: (name: string) => boolean, fits: Fits): Fits =>
  (value) =>
    isObject(value) && Object.entries(value).every(([name, part]) => isName(name) && fits(part));
/** One of several shapes, by its `type`. */
export const oneOf =
  (shapes: Readonly<Record<string, Fits>>): Fits =>
  (value) => {
    const type = isObject(value) ? value['type'] : undefined;
    return typeof type === 'string' && Object.hasOwn(shapes, type) && shapes[type]!(value);
  };
