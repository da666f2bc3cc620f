/** Longest piece of a file that a message repeats. */
const longest = 60;

/**
 * A value of the file as a message may repeat it: on one line, shortened, and without what could be a
 * secret: keys of connection strings, tokens in queries, passwords in URLs.
 */
export function quotable(value: string): string {
  const safe = value
    .slice(0, 4 * longest)
    .replace(
      /((?<!\$\{)(?:access_?key|access_?token|signature|sig|password|pwd|secret|token)\s*[=:]\s*)(?!\$\{)[^;&\s]+/gi,
      '$1…',
    )
    .replace(/\b(bearer|basic)\s+(?!\$\{)\S+/gi, '$1 …')
    .replace(/:\/\/[^/?#\s]*@/g, '://…@')
    .replace(/\s+/g, ' ');
  return safe.length > longest ? `${safe.slice(0, longest)}…` : safe;
}
