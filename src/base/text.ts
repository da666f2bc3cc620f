/**
 * Characters that are not seen, but obeyed: control characters (a terminal moves its cursor), separators of
 * lines, and format characters, among them those that turn the direction of the text around them
 * (Unicode Standard Annex 9, "Directional Formatting Characters"). The joiners of emoji and of scripts that
 * need them stay.
 */
const obeyed = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;
const keptInLines = /[\t\n\r]/;

/** Text from outside, without what is obeyed; its lines stay. */
export function visibleText(text: string): string {
  return text.replace(obeyed, (character) => (keptInLines.test(character) ? character : ''));
}

/** The same on one line: line breaks, tabs and other control characters become blanks. */
export function visibleLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replace(obeyed, '');
}

/** `##vso[` and `##[` anywhere in a line: commands of Azure Pipelines and of GitHub; `##teamcity[` is of the same form. */
const markedCommand = /##(?=[\w.-]{0,40}(?:\[|$))/g;
/** `::error::` where a line begins, also after a carriage return: a command of GitHub. */
const lineCommand = /(?<=^|[\r\n])((?:[^\S\r\n]|\x85)*):(?=:[^\r\n]*(?:::|$))/g;
/** A line that ends here with the first character of one may go on in the next piece. */
const begunCommand = /#$|(?<=^|[\r\n])(?:[^\S\r\n]|\x85)*:$/;

/**
 * Without what a CI service would carry out where it keeps what is printed: `# #vso[`, `: :error::`. Nor does the text begin what
 * the next one would end.
 * Source: actions/runner, `ActionCommand.cs`; microsoft/azure-pipelines-agent, `Command.cs`.
 */
export const breakCommands = (text: string): string =>
  text.replace(markedCommand, '# #').replace(lineCommand, '$1: ').replace(begunCommand, '$& ');

const escaped = (text: string, escape: (found: string) => string): string =>
  text.replace(obeyed, (found) => (keptInLines.test(found) ? found : escape(found)));

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');

/** As JSON escapes it: a character beyond the first plane is two units. */
export const escapedUnits = (text: string): string =>
  [...Array(text.length).keys()].map((unit) => `\\u${hex(text.charCodeAt(unit), 4)}`).join('');

/** JSON text that says the same, with those characters, and commands of CI services, written as `\u202e`. */
export const visibleJson = (json: string): string =>
  escaped(json.replace(markedCommand, '#\\u0023'), escapedUnits);

/** The same of YAML whose texts with such characters stand in double quotes. */
export const visibleYaml = (yaml: string): string =>
  escaped(yaml, (found) => {
    const code = found.codePointAt(0)!;
    return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
  });

/** Safe to be shown by a terminal. */
export function jsonDocument(value: unknown): string {
  return `${visibleJson(JSON.stringify(value, undefined, 2))}\n`;
}

/** Translates a text for people, English being the key; `{0}`, `{1}` stand for the arguments. */
export type Translate = (message: string, ...args: (string | number | boolean)[]) => string;

/** For what runs without an editor; as there, a place without an argument stays for who fills it later. */
export const english: Translate = (message, ...args) =>
  message.replace(/\{(\d)\}/g, (place, index: string) => String(args[Number(index)] ?? place));

/** In one pass: a pattern such as `/x+$/` takes the square of their number. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Of a longer one its beginning. Who takes secrets out of it has to see where it is cut. */
export const cutText = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

/** Shorter values are too common in ordinary text to be taken out of it. */
export const shortestSecret = 6;

/** The longest first. Of one that is cut off in the text, what is left of it. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .reduce(hideSecret, text);
}

function hideSecret(text: string, secret: string): string {
  const shown = text.replaceAll(secret, '(redacted)');
  const begin = secret.slice(0, shortestSecret);
  if (!shown.includes('…') || !shown.includes(begin)) return shown;
  const [last = '', ...others] = shown.split('…').reverse();
  return [last, ...others.map((piece) => hideEnd(piece, secret, begin))].reverse().join('…');
}

function hideEnd(text: string, secret: string, begin: string): string {
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1))
    if (secret.startsWith(text.slice(at))) return `${text.slice(0, at)}(redacted)`;
  return text;
}
