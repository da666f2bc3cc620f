import { isMap, isScalar, isSeq, Pair, Scalar, YAMLMap, type Node } from 'yaml';
import { didYouMean, safeExcerpt } from '../text/words';
import type { KeySpec } from '../keys/keySpec';
import type { Reading } from '../text/scenarioReading';
import { allParameters, topKeys } from '../keys/scenarioKeys';
import { readYaml } from '../text/yamlDocument';
import { sectionsWithKey } from './readSection';

/** A value that replaces or adds a key of the file: `--set config.connections=100`. */
export interface Override {
  /** Keys joined by dots; list entries by their index from 0. */
  readonly path: string;
  /** A YAML scalar, or a text. */
  readonly value: string;
}

export function applyOverrides(reading: Reading, root: YAMLMap, all: readonly Override[]): void {
  for (const override of all) {
    const path = keysOf(override.path);
    if (Array.isArray(path)) setValue(reading, root, path, override);
    else report(reading, override.path, 'unknown-key', path.unknown);
  }
}

function report(reading: Reading, path: string, code: string, message: string): void {
  reading.error(code, { offset: 0, length: 0, override: safeExcerpt(path) }, message);
}

/** Names of percentiles and headers may have dots themselves. */
function keysOf(path: string): string[] | { unknown: string } {
  const keys: string[] = [];
  let specs: readonly KeySpec[] = topKeys;
  let named: Named;
  let rest = path;
  for (;;) {
    const spec = keyAt(rest, specs, named);
    const dot = rest.indexOf('.');
    const name = spec?.name ?? (dot === -1 ? rest : rest.slice(0, dot));
    if (spec === undefined) {
      const names = specs.map((known) => known.name);
      return { unknown: unknownPath(keys, name, names) };
    }
    keys.push(name);
    rest = rest.slice(name.length + 1);
    if (rest === '') return keys;
    if (spec.type === 'texts') return [...keys, rest];
    if (spec.type === 'parameters') {
      if (allParameters.has(rest)) return [...keys, rest];
      return { unknown: unknownPath(keys, rest, [...allParameters.keys()]) };
    }
    if (spec.keys === undefined) return { unknown: `${keys.join('.')} has no keys below it.` };
    const [, item, below] = /^([0-9]{1,3})\.(.+)$/.exec(rest) ?? [];
    const ofItems = spec.type === 'entries' ? spec.keys : spec.items;
    if (ofItems !== undefined && item !== undefined && below !== undefined) {
      keys.push(item);
      [rest, specs, named] = [below, ofItems, undefined];
    } else if (spec.type === 'entries')
      return { unknown: `write ${name}.0.name for the first entry of ${name}.` };
    else [specs, named] = [spec.keys, spec.named];
  }
}

type Named = KeySpec['named'];

function keyAt(path: string, specs: readonly KeySpec[], named: Named): KeySpec | undefined {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const name = path.slice(0, end);
    const found = specs.find((spec) => spec.name === name) ?? named?.(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unknownPath(keys: readonly string[], name: string, names: readonly string[]): string {
  const where = keys.length === 0 ? 'at the top' : `in ${keys.join('.')}`;
  const homes = sectionsWithKey(name).filter((home) => home !== keys.join('.'));
  const meant = didYouMean(name, names);
  const hint =
    meant !== undefined
      ? ` Did you mean ${[...keys, meant].join('.')}?`
      : homes.length > 0
        ? ` It belongs in ${homes.join(' or ')}.`
        : '';
  return `there is no key "${safeExcerpt(name)}" ${where}.${hint}`;
}

function setValue(reading: Reading, root: YAMLMap, keys: string[], override: Override): void {
  const { path, value } = override;
  let holder: Node = root;
  for (const [depth, name] of keys.entries()) {
    const last = depth === keys.length - 1;
    if (isSeq(holder)) {
      const item: unknown = holder.items[Number(name)];
      const next = reading.resolve((item ?? null) as Node | null);
      if (next === undefined) {
        report(reading, path, 'unknown-key', `there is no entry ${name} in the file.`);
        return;
      }
      holder = next;
      continue;
    }
    if (!isMap(holder)) {
      const parent = keys.slice(0, depth).join('.');
      const message = `${parent} is not a map in the file, so nothing can be set in it.`;
      report(reading, path, 'wrong-type', message);
      return;
    }
    const known = holder.items.findIndex((item) => isScalar(item.key) && item.key.value === name);
    const old = known === -1 ? null : ((holder.items[known]!.value ?? null) as Node | null);
    const inside = last ? undefined : reading.resolve(old);
    if (inside !== undefined && !(isScalar(inside) && inside.value === null)) {
      holder = inside;
      continue;
    }
    if (!last && /^[0-9]+$/.test(keys[depth + 1]!)) {
      report(reading, path, 'unknown-key', `the file has no list ${name} to set an entry in.`);
      return;
    }
    // `search` alone asks for a search by what the file says of it, `search=false` leaves it out.
    const isSearch = last && path === 'search';
    const opens = isSearch && value === '';
    if (opens && isMap(reading.resolve(old))) return;
    if (isSearch && value === 'false') {
      if (known !== -1) holder.items.splice(known, 1);
      return;
    }
    const next: Node = last && !opens ? scalarOf(value) : new YAMLMap();
    const pair = holder.items[known] ?? new Pair<unknown>(new Scalar(name));
    if (known === -1) holder.items.push(pair);
    pair.value = next;
    reading.markOverride([pair.key as Node, next], path);
    holder = next;
  }
}

function scalarOf(value: string): Scalar {
  const { document, problems } = readYaml(value);
  const read = problems.length === 0 ? document?.contents : undefined;
  if (value.trim() === '') return new Scalar(null);
  if (!isScalar(read)) return new Scalar(value);
  const scalar = new Scalar(read.value);
  scalar.source = read.source;
  return scalar;
}
