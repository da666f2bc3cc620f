import { isMap, isScalar, isSeq, type Scalar, type Node, type YAMLMap } from 'yaml';
import {
  argumentBytes,
  assumedFileBytes,
  mostArgumentBytes,
  ownArguments,
  partsOf,
  placeholderNames,
  placeholdersIn,
  placeholderWords,
  type BadPlaceholder,
} from '../../usecases/ownArguments';
import { isRowName } from '../../base/personalText';
import type { Parameters } from '../../usecases/parameters';
import type { Place, Reading } from '../text/scenarioReading';
import { didYouMean, question, quotable } from '../text/words';
import { readYaml } from '../text/yamlDocument';
import {
  checkReferences,
  isNothing,
  nameOf,
  partOf,
  type Section,
  type Written,
} from './readSection';

/** Values of all depths together; a hub method takes a few. */
const mostValues = 1000;

/** With the lists of a call of the user's own method as JSON text. */
export function withArguments(reading: Reading, section: Section, plain: Parameters): Parameters {
  const items = readJson(reading, section, 'streamingItems');
  return {
    ...plain,
    // A missing one is a problem, but what is computed goes on.
    method: plain['method'] ?? '',
    arguments: readJson(reading, section, 'arguments') ?? '[]',
    ...(items !== undefined && { streamingItems: items }),
  };
}

/** Values that a session keeps. */
export interface KeptNames {
  /** All of the session. */
  readonly all: ReadonlySet<string>;
  /** Those that a step before this one keeps. */
  readonly before: ReadonlySet<string>;
}

/** The list under the key as JSON text, placeholders and size checked; undefined when it is not written. */
export function readJson(
  reading: Reading,
  section: Section,
  key: ListKey,
  kept?: KeptNames,
): string | undefined {
  const written = section.written.get(key);
  if (written === undefined) return undefined;
  const json = JSON.stringify(readList(reading, key, written, kept));
  const read = ownArguments(json, (name) => kept?.all.has(name) === true);
  if (argumentBytes(read) > mostArgumentBytes) {
    const message = `${lists[key].sentenceStart} are larger than 16 MB together.`;
    reading.error('arguments', written.place, message);
    return '[]';
  }
  if (placeholdersIn(read).some(({ name }) => name === 'file')) {
    const message = `The estimate counts ${assumedFileBytes / 1024} KB for each {file:…}; the run counts what the files hold.`;
    reading.info('file-size', written.place, message);
  }
  return json;
}

type ListKey = keyof typeof lists;

const lists = {
  arguments: {
    sentenceStart: 'The arguments',
    item: 'argument',
    without: 'Remove the key for a method without arguments, or write a list.',
  },
  streamingItems: {
    sentenceStart: 'The items',
    item: 'item',
    without: 'Remove the key for a method that takes no stream, or write a list.',
  },
} as const;

function readList(
  reading: Reading,
  key: ListKey,
  { value, place }: Written,
  kept?: KeptNames,
): unknown[] {
  let node = reading.follow(value);
  if (isScalar(node) && typeof node.value === 'string' && place.override !== undefined) {
    // A list of --set comes as the text it is.
    node = readYaml(node.value).document?.contents ?? node;
  }
  // A method may have no arguments, but what goes up is something.
  if (isSeq(node) && (key === 'arguments' || node.items.length > 0)) {
    const values = new Values(reading, key, place, kept);
    return node.items.map((item) => values.read(item as Node | null));
  }
  const { item, without } = lists[key];
  if (isNothing(node) || isSeq(node))
    reading.error('empty-value', place, `${key} has no value. ${without}`);
  else {
    const message = `${key} must be a list: one line for each ${item} that begins with "- ".`;
    reading.error('wrong-type', place, message);
  }
  return [];
}

class Values {
  private count = 0;

  /** @param holder where what has no place of its own is reported */
  constructor(
    private readonly reading: Reading,
    private readonly key: ListKey,
    private readonly holder: Place,
    private readonly kept?: KeptNames,
  ) {}

  read(item: Node | null): unknown {
    const { reading } = this;
    this.count += 1;
    if (this.count > mostValues) {
      const message = `${lists[this.key].sentenceStart} have more than ${mostValues} values; the others are not read.`;
      if (this.count === mostValues + 1) reading.error('arguments', this.holder, message);
      return null;
    }
    const node = reading.follow(item);
    if (isSeq(node)) return node.items.map((value) => this.read(value as Node | null));
    if (isMap(node)) return this.readMap(node);
    return isScalar(node) ? this.readScalar(node) : null;
  }

  private readMap(map: YAMLMap): unknown {
    const { error } = this.reading;
    const [only, more] = map.items;
    const forgotten = more === undefined && map.flow === true ? placeholderAsMap(only) : undefined;
    if (forgotten !== undefined) {
      const text = `'{${forgotten}}'`;
      const message = `Without quotes YAML reads this as a map. Write ${text}.`;
      error('quotes', this.placeOf(map), message, { title: 'Put quotes around it', text });
      return `{${forgotten}}`;
    }
    const members = new Map<string, unknown>();
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? nameOf(key) : undefined;
      const at = this.placeOf(key as Node);
      if (name === undefined)
        error('wrong-type', at, `Keys of a map in ${this.key} must be texts.`);
      else if (members.has(name))
        error('duplicate-key', at, `"${quotable(name)}" is written twice in this map.`);
      else members.set(name, this.read((value ?? null) as Node | null));
    }
    return Object.fromEntries(members);
  }

  private readScalar(node: Scalar): unknown {
    const { value } = node;
    const { error } = this.reading;
    const place = this.placeOf(node);
    if (typeof value === 'string') {
      const { kept } = this;
      const { bad, parts } = partsOf(value, kept && ((name) => kept.all.has(name)));
      for (const each of bad) this.reportPlaceholder(value, place, each);
      for (const part of parts) {
        if (typeof part === 'object' && part.name === 'kept')
          this.checkKept(value, place, part.key);
        if (typeof part === 'string' || part.name !== 'file' || isBelow(part.file)) continue;
        const message =
          'Files must lie beside the scenario file or below it: their content is sent to the target.';
        error('payload-file', place, message);
      }
      checkReferences(this.reading, this.key, value, place, false);
      return value;
    }
    if (typeof value === 'number' && !Number.isFinite(value)) {
      error('arguments', place, 'This is not a number that can be sent.');
      return 0;
    }
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const message = 'This number is too large to be sent exactly. Put quotes around it.';
      error('arguments', place, message);
    }
    return value ?? null;
  }

  private checkKept(text: string, place: Place, name: string): void {
    if (this.kept?.before.has(name) === true) return;
    const written = `{${name}}`;
    const part = { offset: text.indexOf(written), length: written.length };
    const at = partOf(this.reading, place, text, part);
    const message = `${written} is used before it is kept: the step that keeps it must come before this one.`;
    this.reading.error('kept-later', at, message);
  }

  private reportPlaceholder(text: string, place: Place, bad: BadPlaceholder): void {
    const { length, name, problem } = bad;
    const { error } = this.reading;
    const at = partOf(this.reading, place, text, bad);
    if (problem !== 'unknown') {
      error('placeholder', at, wrongValue[problem](name));
      return;
    }
    const keptNames = [...(this.kept?.all ?? [])];
    const near = didYouMean(name, [...keptNames, ...placeholderNames]);
    const written = text.slice(bad.offset, bad.offset + length);
    const meant = near && (isRowName(near) ? written.replace(name, near) : `{${near}}`);
    const known = [
      ...keptNames.map((kept) => `{${kept}}`),
      ...placeholderWords.map(({ written: each }) => each),
    ].join(', ');
    const message = `There is no placeholder {${quotable(name)}}.${question(meant)} Known are ${known}; {{ stands for a brace.`;
    // Only where the place is that of the placeholder itself.
    error('placeholder', at, message, at.length === length ? meant : undefined);
  }

  private placeOf(node: Node): Place {
    return this.holder.override === undefined ? this.reading.placeOf(node) : this.holder;
  }
}

const wrongValue: Readonly<
  Record<Exclude<BadPlaceholder['problem'], 'unknown'>, (name: string) => string>
> = {
  size: () =>
    '{text:…} needs a size from 1 byte to 16 MB, such as {text:2KB}; in a session several with weights, such as {text:200B 3, 2KB 1}.',
  sizes: () =>
    'Only texts of a session can have several sizes. Write one size, such as {text:2KB}.',
  file: () => '{file:…} needs the name of a file beside the scenario file.',
  value: (name) => `{${name}} takes nothing behind a colon.`,
  column: (name) => `{${name}} needs the name of a column, such as {${name}.room}.`,
  rowValue: (name) =>
    `Behind a colon {${name}.…} takes number alone, such as {${name}.room:number}.`,
};

/** `{sender}` and `{text:2KB}` without quotes are maps with one key and no value. */
function placeholderAsMap(item: { key: unknown; value: unknown } | undefined): string | undefined {
  if (item === undefined || !isScalar(item.key)) return undefined;
  const key = nameOf(item.key);
  const value = isScalar(item.value) ? item.value.value : item.value;
  const name = key.replace(/:.*/, '');
  if (!placeholderNames.includes(name)) return undefined;
  // `{text: hello}` is a map that somebody may mean.
  return value === null || value === undefined ? key : undefined;
}

/** A relative path that does not lead up, on any system. */
export const isBelow = (path: string): boolean =>
  !/^[/\\]|^[a-zA-Z]:/.test(path) && !path.split(/[/\\]/).includes('..');
