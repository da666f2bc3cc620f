/** Finds secrets by their names and forms. Everything here takes time in proportion to the text. */

const secretName =
  /authorization|cookie|token|secret|passw|passphrase|pwd|(?:api|access|account|shared|private|master|primary|secondary|subscription|function|host)[-_]?key|credential|session|signature|(^|[-_])(key|auth|sig|code)$/i;

/** `-u name:password`, as of curl: a name alone is none. */
const isLogin = (option: string, value: string): boolean =>
  /^(?:u|user|proxy-user|login)$/.test(option) && value.includes(':');

export const isSecretName = (name: string): boolean => secretName.test(name);

export const redacted = '(redacted)';

/** A name and what precedes its value in forms, JSON, YAML, headers and command lines. */
const lead =
  /(?<![\w-])(?<!\$\{)(?:(--?)(?=\w))?(\w[\w-]*)(?:(?:\\*["'])?\s*[:=]\s*|["']?\s*,?\s+|["']\s*,\s*)/g;
/** Up to the closing quote or, without quotes, up to a space. */
const value =
  /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\\+["'][^"']*["']?|(?:(?:Bearer|Basic)\s+)?(?:[^\s&]*;\s+)*[^\s&]+/iy;
const restOfLine = /[^\r\n]+/y;

/**
 * Replaces the values of names that look secret. In a YAML comment, which may hold a line of a scenario, a value is
 * the rest of the line.
 */
export function replaceSecretValues(text: string, replace: (value: string) => string): string {
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

/** Words of a command with secrets replaced, as `--option value` or `--option=value`. */
export const replaceSecretArguments = (
  words: readonly string[],
  replace: (value: string) => string,
): string[] =>
  words.map((word, at) => {
    const [, option = ''] = /^--?([\w-]+)$/.exec(words[at - 1] ?? '') ?? [];
    const [, name = '', rest = ''] = /^--?([\w-]+)=(.*)$/s.exec(word) ?? [];
    if (isSecretName(option) || isLogin(option, word)) return replace(word);
    if (isSecretName(name) || isLogin(name, rest))
      return word.slice(0, word.length - rest.length) + replace(rest);
    return replaceSecretValues(word, replace);
  });

export const redactWebTokens = (text: string): string =>
  text.replace(/(?<![\w.-])[\w-]+\.[\w.-]+/g, (run) => {
    const parts = run.split('.');
    for (const [at, part] of parts.slice(0, -1).entries()) {
      const begin = part.search(/\beyJ[\w-]{5}/);
      if (begin < 0 || parts[at + 1]!.length < 5) continue;
      return [...parts.slice(0, at), part.slice(0, begin) + redacted].join('.');
    }
    return run;
  });

/** Shorter values are too common in ordinary text to be replaced. */
export const minSecretLength = 6;

/** Also replaces the beginning of a secret where the text was truncated. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .reduce(hideSecret, text);
}

function hideSecret(text: string, secret: string): string {
  const shown = text.replaceAll(secret, redacted);
  const begin = secret.slice(0, minSecretLength);
  if (!shown.includes('…') || !shown.includes(begin)) return shown;
  const [last = '', ...others] = shown.split('…').reverse();
  return [last, ...others.map((piece) => hideEnd(piece, secret, begin))].reverse().join('…');
}

function hideEnd(text: string, secret: string, begin: string): string {
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1))
    if (secret.startsWith(text.slice(at))) return text.slice(0, at) + redacted;
  return text;
}
