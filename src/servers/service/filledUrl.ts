/** Why a name cannot be put into a URL. */
export interface NameRefusal {
  readonly failure: string;
}

/** What a URL resolves away or runs together, also with its points percent-encoded (WHATWG URL, "path state"). */
const isNoSegment = (segment: string): boolean => /^(?:(?:\.|%2e){1,2})?$/i.test(segment);

/** Percent-encodes a text; halves of a character, which have no form in UTF-8, become `\ufffd`. */
export const encodedText = (text: string): string =>
  encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));

/**
 * The URL of an upstream handler with names in the `{places}` that they have values for.
 *
 * @returns a refusal when a segment of the path would be empty, `.` or `..` by a name: the URL would then
 * be one that the template does not stand for
 */
export function filledUrl(
  template: string,
  values: Readonly<Record<string, string>>,
): URL | NameRefusal {
  const fill = (text: string): string =>
    text.replace(/\{(\w+)\}/g, (place, name: string) =>
      Object.hasOwn(values, name) ? encodedText(values[name]!) : place,
    );
  // A colon, and what stands before the path, holds no place.
  const [path = ''] = template.split(/[?#]/, 1);
  for (const segment of path.split(/[/\\]/)) {
    const filled = fill(segment);
    if (filled === segment || !isNoSegment(filled)) continue;
    const place = /\{(\w+)\}/.exec(segment)?.[1] ?? 'name';
    const name = filled === '' ? 'an empty name' : `'${values[place] ?? filled}'`;
    return {
      failure: `The upstream has no URL for the ${place} ${name}: it is no segment of a path.`,
    };
  }
  return new URL(fill(template));
}
