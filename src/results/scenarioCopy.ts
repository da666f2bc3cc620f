import { isPair, isScalar, parseDocument, visit, type Document, type Pair } from 'yaml';
import { isSecretName, redactHeader, redactSecret, redactTarget, redactText } from './redact';

/** A key that the command line set, e.g. `config.connections`, with its text. */
export interface SetKey {
  readonly path: string;
  readonly value: string;
}

const targetKeys = ['webAppTarget', 'connectionString', 'target', 'publicUrl'];

/**
 * The scenario text as run: with the keys that were set, and without literal secrets. Untouched, with
 * its comments and layout, when there is nothing to change.
 *
 * @param text a file that has been parsed without errors
 */
export function scenarioCopy(text: string, sets: readonly SetKey[] = []): string {
  const document = parseDocument(text, { logLevel: 'silent' });
  setKeys(document, sets);
  const removed = removeSecrets(document);
  const copy = removed || sets.length > 0 ? document.toString({ lineWidth: 0 }) : text;
  // Values are clean by now; somebody may have commented out a connection string.
  return copy.replace(/(^|\s)#.*$/gm, redactText);
}

function setKeys(document: Document, sets: readonly SetKey[]): void {
  for (const { path, value } of sets) {
    const keys = keysIn(path);
    // What was written as the target, under any of its names, is replaced by what was set.
    if (path === 'config.target') {
      for (const key of ['webAppTarget', 'connectionString']) {
        if (document.hasIn(['config', key])) document.deleteIn(['config', key]);
      }
    }
    // A key without a value (`config:`) cannot hold others.
    for (let depth = 1; depth < keys.length; depth++) {
      const above = keys.slice(0, depth);
      if (document.hasIn(above) && document.getIn(above) === null) document.deleteIn(above);
    }
    document.setIn(keys, valueNode(value));
  }
}

/** Names of percentiles and headers may have dots themselves; entries of a mix have numbers. */
function keysIn(path: string): (string | number)[] {
  const [, above = '', last] = /^(slo|config\.headers|config\.query)\.(.+)$/.exec(path) ?? [];
  if (last !== undefined) return [...above.split('.'), last];
  return path.split('.').map((key) => (/^\d{1,3}$/.test(key) ? Number(key) : key));
}

/** The set text as the parser reads it: a YAML scalar, everything else is text. */
function valueNode(text: string): unknown {
  const { contents, errors } = parseDocument(text, { logLevel: 'silent' });
  return errors.length === 0 && isScalar(contents) ? contents : text;
}

/** Replaces literal secrets in place; returns whether there were any. */
function removeSecrets(document: Document): boolean {
  let removed = false;
  visit(document, {
    Scalar(_key, node, path) {
      if (typeof node.value !== 'string') return;
      const clean = redactScalar(keysOf(path, node), node.value);
      if (clean === node.value) return;
      node.value = clean;
      removed = true;
    },
  });
  return removed;
}

/** Names of the keys above a scalar, outermost first; empty for a scalar that is a key itself. */
function keysOf(path: readonly unknown[], scalar: unknown): string[] {
  const pairs = path.filter((part): part is Pair => isPair(part));
  if (pairs.at(-1)?.key === scalar) return [];
  return pairs.map(({ key }) => (isScalar(key) ? String(key.value) : ''));
}

function redactScalar(keys: readonly string[], value: string): string {
  const name = keys.at(-1);
  if (name === undefined) return value;
  const parent = keys.at(-2);
  if (targetKeys.includes(name)) return redactTarget(value);
  if (parent === 'headers') return redactHeader(name, value);
  if (parent === 'query' || isSecretName(name)) return redactSecret(value);
  return redactText(value);
}
