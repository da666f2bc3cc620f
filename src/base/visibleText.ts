/**
 * Characters that are not seen, but obeyed: control characters (a terminal moves its cursor), separators of
 * lines, and format characters, among them those that turn the direction of the text around them
 * (Unicode Standard Annex 9, "Directional Formatting Characters"). The joiners of emoji and of scripts that
 * need them stay.
 */
const obeyed = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;
const keptInLines = /[\t\n\r]/;

/** Text from outside without what whoever shows it would obey; its lines stay. */
export function visibleText(text: string): string {
  return text.replace(obeyed, (character) => (keptInLines.test(character) ? character : ''));
}

/** The same on one line: line breaks, tabs and other control characters become blanks. */
export function visibleLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replace(obeyed, '');
}

/** JSON text that says the same, with those characters written as `\u202e`. */
export function visibleJson(json: string): string {
  return json.replace(obeyed, (found) =>
    keptInLines.test(found)
      ? found
      : [...Array(found.length).keys()]
          .map((unit) => `\\u${found.charCodeAt(unit).toString(16).padStart(4, '0')}`)
          .join(''),
  );
}

/** A value as one JSON document, safe to be shown by a terminal. */
export function jsonDocument(value: unknown): string {
  return `${visibleJson(JSON.stringify(value, undefined, 2))}\n`;
}
