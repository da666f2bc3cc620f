import { isMap, isPair, isScalar, parseDocument, visit, type Document, type Pair } from 'yaml';
import { parseScenario } from '../scenario/parseScenario';
import { pipelineKeys } from '../scenario/keys/scenarioKeys';
import {
  isSecretName,
  redacted,
  redactHeader,
  redactSecret,
  redactTarget,
  redactWords,
} from './redact';

export interface SetKey {
  readonly path: string;
  readonly value: string;
}

/** Keys with names of the user's own below them, and keys that are nothing but a secret. */
const textMaps = ['headers', 'query'];
const secretKeys = ['accessToken', 'keyPassword'];
const targetKeys = ['webAppTarget', 'connectionString', 'target', 'publicUrl'];

/** With the keys that were set and without literal secrets; with its comments and layout where nothing changes. */
export function scenarioCopy(text: string, sets: readonly SetKey[] = []): string {
  const document = asWritten(text, sets);
  setKeys(document, sets);
  const removed = removeSecrets(document);
  const copy = removed || sets.length > 0 ? document.toString({ lineWidth: 0 }) : text;
  // Values are clean by now; somebody may have commented out a connection string or a key.
  return copy.replace(/(?<=^|\s)#.*$/gm, redactComment);
}

/** The file; a pipeline file as the scenario it describes where keys of its use cases were set, which it has not. */
function asWritten(text: string, sets: readonly SetKey[]): Document {
  const file = parseDocument(text, { logLevel: 'silent' });
  if (!file.has('Pipeline') || !sets.some(({ path }) => path.startsWith('scenarios.'))) return file;
  const note = parseScenario(text).problems.find(({ code }) => code === 'pipeline-file');
  const document = parseDocument(note?.fix?.text ?? text, { logLevel: 'silent' });
  // What stands beside the pipeline wins.
  visit(file, {
    Scalar(_key, node, path) {
      const keys = keysOf(path, node);
      const [top = 'mode', name = ''] = keys;
      if (top === 'mode' || pipelineKeys.includes(top)) return;
      if (top === 'config' && targetKeys.includes(name))
        for (const target of targetKeys) document.deleteIn([top, target]);
      document.setIn(keys, node);
    },
  });
  return document;
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

function setKeys(document: Document, sets: readonly SetKey[]): void {
  for (const { path, value } of sets) {
    const keys = keysIn(path);
    if (path === 'search') {
      changeSearch(document, value);
      continue;
    }
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

/** As in {@link import('../scenario/read/overrides')}: without a value it is opened as it stands, `false` leaves it out. */
function changeSearch(document: Document, value: string): void {
  if (value === 'false') document.delete('search');
  else if (!isMap(document.get('search'))) document.set('search', document.createNode({}));
}

/** Names of percentiles and headers may have dots themselves; entries of a mix have numbers. */
function keysIn(path: string): (string | number)[] {
  const [, metric, option] = /^slo\.(?!\d)(.+?)(?:\.(limit|step|abort|after))?$/.exec(path) ?? [];
  if (metric !== undefined) return ['slo', metric, ...(option === undefined ? [] : [option])];
  const [, above = '', last] = /^(config\.headers|config\.query)\.(.+)$/.exec(path) ?? [];
  if (last !== undefined) return [...above.split('.'), last];
  return path.split('.').map((key) => (/^\d{1,3}$/.test(key) ? Number(key) : key));
}

/** The set text as the parser reads it: a YAML scalar, everything else is text. */
function valueNode(text: string): unknown {
  const { contents, errors } = parseDocument(text, { logLevel: 'silent' });
  return errors.length === 0 && isScalar(contents) ? contents : text;
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
        !secretKeys.includes(keys.at(-1) ?? '')
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

function redactScalar(keys: readonly string[], value: string): string {
  const name = keys.at(-1);
  if (name === undefined) return value;
  const parent = keys.at(-2);
  if (targetKeys.includes(name)) return redactTarget(value);
  if (parent === 'headers') return redactHeader(name, value);
  if (parent === 'query' || isSecretName(name)) return redactSecret(value);
  return redactWords(value);
}
