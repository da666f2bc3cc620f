import {
  isMap,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
  visit,
  YAMLMap,
  type Document,
  type Pair,
} from 'yaml';
import { isSecretName, redacted } from '../base/secrets';
import { configKeys } from '../scenario/keys/configKeys';
import { secretPaths } from '../scenario/keys/keySpec';
import { allParameters } from '../scenario/keys/scenarioKeys';
import { applyOverrides, type Override } from '../scenario/read/overrides';
import { translatePipeline } from '../scenario/compat/translatePipeline';
import { createReading } from '../scenario/text/scenarioReading';
import {
  redactArgument,
  redactBody,
  redactCommand,
  redactHeader,
  redactInArguments,
  redactSecret,
  redactTarget,
  redactWords,
} from './redact';

const textMaps = ['headers', 'query', 'env'];
const secretKeys = new Map(secretPaths(configKeys, 'config.'));
const isSecretKey = (keys: readonly string[]): boolean => secretKeys.has(keys.join('.'));
const targetKeys = ['webAppTarget', 'connectionString', 'target', 'publicUrl'];

/** With the keys that were set and without literal secrets; with its comments and layout where nothing changes. */
export function scenarioCopy(text: string, sets: readonly Override[] = []): string {
  const document = withSets(text, sets);
  const removed = removeSecrets(document);
  const copy = removed || sets.length > 0 ? document.toString({ lineWidth: 0 }) : text;
  // Values are clean by now; somebody may have commented out a connection string or a key.
  return copy.replace(/(?<=^|\s)#.*$/gm, redactBody);
}

/** A pipeline file becomes the scenario that it describes, which has the keys that are set. */
function withSets(text: string, sets: readonly Override[]): Document {
  const file = parseDocument(text, { logLevel: 'silent' });
  if (sets.length === 0) return file;
  const reading = createReading(text, file, []);
  const root = isMap(file.contents) ? file.contents : new YAMLMap();
  const translation = translatePipeline(reading, root);
  if (translation !== undefined) return withSets(translation.text, sets);
  applyOverrides(reading, root, sets);
  // What was written as the target, under any of its names, is replaced by what was set.
  if (sets.some(({ path }) => path === 'config.target'))
    for (const key of ['webAppTarget', 'connectionString']) root.deleteIn(['config', key]);
  return Object.assign(file, { contents: root });
}

/** Keys of a copy whose literal secret was not kept, such as `config.accessToken`: it cannot run as it is. */
export function redactedKeys(copy: string): string[] {
  const found = new Set<string>();
  visit(parseDocument(copy, { logLevel: 'silent' }), {
    Scalar(_key, node, path) {
      if (typeof node.value !== 'string' || !node.value.includes(redacted)) return;
      const keys = keysOf(path, node);
      if (keys.length > 0) found.add(keys.join('.'));
    },
  });
  return [...found];
}

function removeSecrets(document: Document): boolean {
  let removed = false;
  visit(document, {
    Scalar(at, node, path) {
      const keys = keysOf(path, node);
      const isText = typeof node.value === 'string';
      // Numbers are texts where texts are wanted: the PIN in a header.
      if (
        !isText &&
        !textMaps.includes(keys.at(-2) ?? '') &&
        !isSecretKey(keys) &&
        !(keys.includes('identities') && isSecretName(keys.at(-1) ?? ''))
      )
        return;
      const value = isText ? (node.value as string) : (node.source ?? '');
      const command = keys.join('.') === 'config.identities.command' ? path.at(-1) : undefined;
      const clean = isSeq(command)
        ? redactCommand(command.items.map(String))[at as number]!
        : redactScalar(keys, value);
      if (clean === value) return;
      node.value = clean;
      delete node.tag;
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

const isArgument = (keys: readonly string[]): boolean =>
  keys.includes('arguments') || keys.includes('streamingItems');

function redactScalar(keys: readonly string[], value: string): string {
  const name = keys.at(-1);
  if (name === undefined) return value;
  const parent = keys.at(-2);
  if (targetKeys.includes(name)) return redactTarget(value);
  if (isSecretKey(keys)) return redactSecret(value);
  if (parent === 'headers') return redactHeader(name, value);
  if (keys.includes('identities')) {
    if (name === 'body') return redactBody(value);
    if (parent === 'env') return redactSecret(value);
  }
  if (parent === 'query') return redactSecret(value);
  if (isArgument(keys)) return (isSecretName(name) ? redactArgument : redactInArguments)(value);
  // Names of our own, and paths by which values are found, which others have named.
  if (parent === 'parameters' && allParameters.has(name)) return redactWords(value);
  if (parent === 'keep') return redactWords(value);
  return (isSecretName(name) ? redactSecret : redactWords)(value);
}
