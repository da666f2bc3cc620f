import { isScalar, type Scalar, type YAMLMap } from 'yaml';
import { didYouMean } from '../text/didYouMean';
import type { KeySpec } from './keySpec';
import type { FixDraft, Reading } from '../text/scenarioReading';
import { allParameters } from './allParameters';
import { pipelineKeys, pipelineMessage, topKeys } from './scenarioKeys';
import { quotable } from '../text/quotable';

/** A key that its section does not know. */
export interface UnknownKey {
  readonly key: Scalar;
  readonly name: string;
  /** Path of the section it stands in; empty for the top. */
  readonly path: string;
  readonly specs: readonly KeySpec[];
  readonly map?: YAMLMap;
}

/** Reports an unknown key with the key that was probably meant, or the section it belongs to. */
export function reportUnknownKey(reading: Reading, unknown: UnknownKey): void {
  const { key, name, path, specs } = unknown;
  if (path === '' && pipelineKeys.includes(name)) {
    reading.report('error', 'pipeline-file', key, pipelineMessage);
    return;
  }
  const shown = `"${quotable(name)}"`;
  const where = path === '' ? 'at the top' : `in ${path}`;
  const names = specs.map((spec) => spec.name);
  const sameLetters = names.find((known) => known.toLowerCase() === name.toLowerCase());
  const elsewhere = sameLetters === undefined ? homesOf(name).filter((home) => home !== path) : [];
  if (elsewhere.length > 0) {
    reading.report(
      'error',
      'unknown-key',
      key,
      `${shown} does not belong ${where}, but in ${elsewhere.join(' or ')}. Move it there.`,
      moveInto(reading.text, unknown, elsewhere),
    );
    return;
  }
  if (name === '<<') {
    const message = 'Merge keys (<<) are not understood here. Write the keys out.';
    reading.report('error', 'unknown-key', key, message);
    return;
  }
  const meant = didYouMean(name, names);
  reading.report(
    'error',
    'unknown-key',
    key,
    meant === undefined
      ? `There is no key ${shown} ${where}. ${knownKeys(names)}`
      : `There is no key ${shown} ${where}. Did you mean "${meant}"?`,
    meant === undefined ? undefined : { title: `Write "${meant}"`, text: quotedAs(key, meant) },
  );
}

const knownKeys = (names: readonly string[]): string =>
  names.length <= 12 ? `Known are ${names.join(', ')}.` : 'Remove it or correct its name.';

/** Sections that know a key of exactly this name, as people write their path. */
export function homesOf(name: string): string[] {
  const homes: string[] = [];
  if (topKeys.some((spec) => spec.name === name)) homes.push('the top of the file');
  for (const section of topKeys) {
    if (section.keys?.some((spec) => spec.name === name) === true) homes.push(section.name);
    for (const inner of section.keys ?? []) {
      if (inner.keys?.some((spec) => spec.name === name) === true) {
        homes.push(`${section.name}.${inner.name}`);
      }
    }
  }
  if (allParameters.has(name)) homes.push('scenario.parameters');
  // A mix has the keys of a scenario; naming the plain one is enough.
  return homes.includes('scenario') ? homes.filter((home) => home !== 'scenarios') : homes;
}

/** In the quotes the key has: in `{"key":1}` the colon is one only because of them. */
function quotedAs({ type }: Scalar, name: string): string {
  const quote = type === 'QUOTE_DOUBLE' ? '"' : type === 'QUOTE_SINGLE' ? "'" : '';
  return quote + name + quote;
}

/**
 * The first misplaced key at the top can open the section it belongs to, as long as that is absent. Only
 * its own line is moved, so its value must stand there too.
 */
function moveInto(
  text: string,
  { key, name, path, map }: UnknownKey,
  homes: readonly string[],
): FixDraft | undefined {
  const home = homes[0]!;
  const section = topKeys.find((spec) => spec.name === home);
  const present =
    map === undefined || map.items.some((item) => (item.key as Scalar | null)?.value === home);
  if (path !== '' || section?.type !== 'section' || present || map.flow === true) return undefined;
  const value = map.items.find((item) => item.key === key)?.value;
  if (!isScalar(value) || /[\r\n]/.test(text.slice(key.range?.[0], value.range?.[1]))) {
    return undefined;
  }
  return { title: `Put "${name}" into ${home}`, text: `${home}:\n  ${name}` };
}
