/** JSONPath of `keep` (RFC 9535, "JSONPath: Query Expressions for JSON"). */
import { JSONPathEnvironment, type JSONPathQuery } from 'json-p3';

const whole = new JSONPathEnvironment();

/**
 * Without `match` and `search` (RFC 9535, 2.4.6 and 2.4.7): a backtracking pattern over a hub's text could block a
 * worker for minutes.
 */
const bounded = new JSONPathEnvironment();
for (const name of ['match', 'search']) bounded.functionRegister.delete(name);

/** @throws the library's error on a bad path, or one with patterns */
export const compileJsonPath = (path: string): JSONPathQuery => bounded.compile(path);

/** Why the path is refused; undefined when it is fine. */
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
