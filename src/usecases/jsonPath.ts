/** JSONPath of `keep` (RFC 9535, "JSONPath: Query Expressions for JSON"), for checks and workers alike. */
import { JSONPathEnvironment, type JSONPathQuery } from 'json-p3';

const whole = new JSONPathEnvironment();

/**
 * Without `match` and `search` (2.4.6 and 2.4.7 there): their patterns go through a text that a hub has chosen, and a
 * pattern that turns back can keep a worker busy for minutes.
 */
const bounded = new JSONPathEnvironment();
for (const name of ['match', 'search']) bounded.functionRegister.delete(name);

/** @throws the library's error where it is no path, or one with patterns */
export const compileJsonPath = (path: string): JSONPathQuery => bounded.compile(path);

/** Why it cannot be used, if so. */
export function refusalOfPath(path: string): 'syntax' | 'pattern' | undefined {
  if (compiles(bounded, path)) return undefined;
  return compiles(whole, path) ? 'pattern' : 'syntax';
}

function compiles(environment: JSONPathEnvironment, path: string): boolean {
  try {
    environment.compile(path);
    return true;
  } catch {
    return false;
  }
}
