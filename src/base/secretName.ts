/** What lets somebody in, by what it is called and by its form. All that is here takes time in proportion to the text. */

const secretName =
  /authorization|cookie|token|secret|passw|passphrase|pwd|(?:api|access|account|shared|private|master|primary|secondary|subscription|function|host)[-_]?key|credential|session|signature|(^|[-_])(key|auth|sig|code)$/i;

/** `-u name:password`, as of curl: a name alone is none. */
const isLogin = (option: string, value: string): boolean =>
  /^(?:u|user|proxy-user|login)$/.test(option) && value.includes(':');

/** Whether a header, a key, a column or an option is called like something that lets somebody in. */
export const isSecretName = (name: string): boolean => secretName.test(name);

/** What stands where a secret stood. */
export const redacted = '(redacted)';

/** A name and what stands before its value in forms, JSON, YAML, headers and command lines. */
const lead =
  /(?<![\w-])(?<!\$\{)(?:(--?)(?=\w))?(\w[\w-]*)(?:(?:\\*["'])?\s*[:=]\s*|["']?\s*,?\s+|["']\s*,\s*)/g;
/** Up to the closing quote, or else up to a space: where a value without quotes ends is not known. */
const value =
  /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\\+["'][^"']*["']?|(?:(?:Bearer|Basic)\s+)?(?:[^\s&]*;\s+)*[^\s&]+/iy;
const restOfLine = /[^\r\n]+/y;

/**
 * Text with other values in place of those that are called like secrets. In a comment of YAML, which may hold a line of a
 * scenario, a value is the rest of the line.
 */
export function replaceNamed(text: string, replace: (value: string) => string): string {
  let shown = '';
  let done = 0;
  for (const { 0: whole, 1: dashes, 2: name = '', index } of text.matchAll(lead)) {
    const start = index + whole.length;
    // Of words side by side only an option has the next one as its value.
    const isNamed = dashes !== undefined || /[:=]\s*$/.test(whole);
    const mayBeLogin = dashes !== undefined && isLogin(name, ':');
    if (index < done || !isNamed || !(mayBeLogin || isSecretName(name))) continue;
    const before = text.slice(Math.max(0, index - 100), index);
    const form = text.startsWith('#') && /[-#{[,]\s*["']?$/.test(before) ? restOfLine : value;
    form.lastIndex = start;
    const [found = ''] = form.exec(text) ?? [];
    if (mayBeLogin && !isLogin(name, found)) continue;
    const quote = /^["']/.exec(found)?.[0] ?? '';
    const inner = found.slice(quote.length, quote !== '' && found.endsWith(quote) ? -1 : undefined);
    const close = found.slice(quote.length + inner.length);
    shown += text.slice(done, start) + quote + replace(inner) + close;
    done = start + found.length;
  }
  return shown + text.slice(done);
}

/** Words of a command with other values in place of secrets: behind an option, or in one word with its name. */
export const replaceInCommand = (
  words: readonly string[],
  replace: (value: string) => string,
): string[] =>
  words.map((word, at) => {
    const [, option = ''] = /^--?([\w-]+)$/.exec(words[at - 1] ?? '') ?? [];
    const [, name = '', rest = ''] = /^--?([\w-]+)=(.*)$/s.exec(word) ?? [];
    if (isSecretName(option) || isLogin(option, word)) return replace(word);
    if (isSecretName(name) || isLogin(name, rest))
      return word.slice(0, word.length - rest.length) + replace(rest);
    return replaceNamed(word, replace);
  });

/** JSON web tokens: what is of the form of one is one. */
export const withoutWebTokens = (text: string): string =>
  text.replace(/(?<![\w.-])[\w-]+\.[\w.-]+/g, (run) => {
    const parts = run.split('.');
    for (const [at, part] of parts.slice(0, -1).entries()) {
      const begin = part.search(/\beyJ[\w-]{5}/);
      if (begin < 0 || parts[at + 1]!.length < 5) continue;
      return [...parts.slice(0, at), part.slice(0, begin) + redacted].join('.');
    }
    return run;
  });
