import {
  isMap,
  isPair,
  isScalar,
  parseDocument,
  visit,
  YAMLMap,
  type Document,
  type Pair,
} from 'yaml';
import { isSecretName } from '../base/secretName';
import { allParameters } from '../scenario/keys/scenarioKeys';
import { applyOverrides, type Override } from '../scenario/read/overrides';
import { pipelineAsScenario } from '../scenario/seed/pipelineFile';
import { createReading } from '../scenario/text/scenarioReading';
import {
  redactArgument,
  redactBody,
  redacted,
  redactHeader,
  redactSecret,
  redactTarget,
  redactWords,
} from './redact';

/** Keys with names of the user's own below them, and keys that are nothing but a secret. */
const textMaps = ['headers', 'query'];
const secretKeys = ['accessToken', 'keyPassword'];
const targetKeys = ['webAppTarget', 'connectionString', 'target', 'publicUrl'];

/** With the keys that were set and without literal secrets; with its comments and layout where nothing changes. */
export function scenarioCopy(text: string, sets: readonly Override[] = []): string {
  const document = withSets(parseDocument(text, { logLevel: 'silent' }), text, sets);
  const removed = removeSecrets(document);
  const copy = removed || sets.length > 0 ? document.toString({ lineWidth: 0 }) : text;
  // Values are clean by now; somebody may have commented out a connection string or a key.
  return copy.replace(/(?<=^|\s)#.*$/gm, redactComment);
}

/** A pipeline file becomes the scenario it describes where keys of its use cases were set, which it has not. */
function withSets(file: Document.Parsed, text: string, sets: readonly Override[]): Document {
  if (sets.length === 0) return file;
  const reading = createReading(text, file, []);
  const root = isMap(file.contents) ? file.contents : new YAMLMap();
  const isTranslated =
    file.has('Pipeline') && sets.some(({ path }) => path.startsWith('scenarios.'));
  const map = isTranslated ? pipelineAsScenario(reading, root) : root;
  applyOverrides(reading, map, sets);
  // What was written as the target, under any of its names, is replaced by what was set.
  if (sets.some(({ path }) => path === 'config.target'))
    for (const key of ['webAppTarget', 'connectionString']) map.deleteIn(['config', key]);
  if (isTranslated) map.items.unshift(file.createPair('mode', 'simple'));
  return Object.assign(file, { contents: map });
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

/** A comment, which may hold a line of the file: `# accessToken: …`. */
function redactComment(comment: string): string {
  const [, lead = '', name, value = ''] =
    /^([#\s]*["']?([\w-]{1,100})["']?\s*:\s)(.*)$/.exec(comment) ?? [];
  const clean =
    name !== undefined && isSecretName(name) ? lead + redactSecret(value.trim()) : comment;
  return redactWords(clean);
}

function removeSecrets(document: Document): boolean {
  let removed = false;
  visit(document, {
    Scalar(_key, node, path) {
      const keys = keysOf(path, node);
      const isText = typeof node.value === 'string';
      // Numbers are texts where texts are wanted: the PIN in a header.
      if (
        !isText &&
        !textMaps.includes(keys.at(-2) ?? '') &&
        !secretKeys.includes(keys.at(-1) ?? '') &&
        !(keys.includes('identities') && isSecretName(keys.at(-1) ?? ''))
      )
        return;
      const value = isText ? (node.value as string) : (node.source ?? '');
      const clean = redactScalar(keys, value);
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
  if (parent === 'headers') return redactHeader(name, value);
  if (keys.includes('identities')) {
    if (name === 'body' || name === 'command') return redactBody(value);
    if (parent === 'env' || (parent === 'identities' && name === 'key')) return redactSecret(value);
  }
  if (parent === 'query') return redactSecret(value);
  // Names of our own, and paths by which values are found, which others have named.
  if (parent === 'parameters' && allParameters.has(name)) return redactWords(value);
  if (parent === 'keep') return redactWords(value);
  if (isSecretName(name)) return (isArgument(keys) ? redactArgument : redactSecret)(value);
  return redactWords(value);
}
