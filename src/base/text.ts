/**
 * Characters that have an effect instead of a form: control characters (a terminal moves its cursor), line
 * separators, and format characters such as those that change the text direction (Unicode Standard Annex 9,
 * "Directional Formatting Characters"). The joiners of emoji and of scripts that need them stay.
 */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;
const lineCharacters = /[\t\n\r]/;

/** Text from outside without such characters; its lines stay. */
export function visibleText(text: string): string {
  return text.replace(invisible, (character) => (lineCharacters.test(character) ? character : ''));
}

export function visibleLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replace(invisible, '');
}

/**
 * `##vso[` and `##[` anywhere in a line: commands of Azure Pipelines and of GitHub; `##teamcity[` has the same form.
 */
const markedCommand = /##(?=[\w.-]{0,40}(?:\[|$))/g;
/** `::error::` at the beginning of a line, also after a carriage return: a command of GitHub. */
const lineCommand = /(?<=^|[\r\n])((?:[^\S\r\n]|\x85)*):(?=:[^\r\n]*(?:::|$))/g;
/** The end of a text that the next one could complete to a command. */
const begunCommand = /#$|(?<=^|[\r\n])(?:[^\S\r\n]|\x85)*:$/;

/**
 * Breaks what a CI service would run as a command in printed text: `# #vso[`, `: :error::`. Source: actions/runner,
 * `ActionCommand.cs`; microsoft/azure-pipelines-agent, `Command.cs`.
 */
export const breakCommands = (text: string): string =>
  text.replace(markedCommand, '# #').replace(lineCommand, '$1: ').replace(begunCommand, '$& ');

const escaped = (text: string, escape: (found: string) => string): string =>
  text.replace(invisible, (found) => (lineCharacters.test(found) ? found : escape(found)));

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');

/** `\u` escapes; a character beyond the first plane is two units. */
export const escapeUtf16 = (text: string): string =>
  [...Array(text.length).keys()].map((unit) => `\\u${hex(text.charCodeAt(unit), 4)}`).join('');

/** Equivalent JSON with those characters, and commands of CI services, escaped. */
export const visibleJson = (json: string): string =>
  escaped(json.replace(markedCommand, '#\\u0023'), escapeUtf16);

/** The same for YAML whose texts with such characters stand in double quotes. */
export const visibleYaml = (yaml: string): string =>
  escaped(yaml, (found) => {
    const code = found.codePointAt(0)!;
    return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
  });

export function jsonDocument(value: unknown): string {
  return `${visibleJson(JSON.stringify(value, undefined, 2))}\n`;
}

/** Translates a text for people. English is the key; `{0}`, `{1}` stand for the arguments. */
export type Translate = (message: string, ...args: (string | number | boolean)[]) => string;

/** Fills the places `{0}`, `{1}` …; a place without a value stays. */
export const fill: Translate = (text, ...values) =>
  text.replace(/\{(\d+)\}/g, (place, index: string) => String(values[Number(index)] ?? place));

export const english = fill;

/** Linear; a pattern such as `/x+$/` takes quadratic time. */
export function trimEndCharacters(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The `…` tells {@link hideSecrets} where a secret may be cut. */
export const truncate = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;
