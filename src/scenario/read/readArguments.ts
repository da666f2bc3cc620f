import { isMap, isScalar, isSeq, type Scalar, type Node } from 'yaml';
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
import type { Parameters } from '../../usecases/parameters';
import { didYouMean, quotable } from '../text/words';
import { writing, type Place, type Reading } from '../text/scenarioReading';
import { readYaml } from '../text/yamlDocument';
import {
  nameOf,
  checkReferences,
  partOf,
  placeOfValue,
  type Section,
  type Written,
} from './readSection';

/** Values of all depths together; a hub method takes a few. */
const mostValues = 1000;

/** The parameters of a call of the user's own method, with its lists as JSON text. Reports what cannot be read. */
export function withArguments(
  reading: Reading,
  section: Section,
  parameters: Parameters,
): Parameters {
  const items = readJson(reading, section, 'streamingItems');
  return {
    ...parameters,
    // A missing one is a problem, but what is computed goes on.
    method: parameters['method'] ?? '',
    arguments: readJson(reading, section, 'arguments') ?? '[]',
    ...(items !== undefined && { streamingItems: items }),
  };
}

/** The list under a key as JSON text; undefined when there is none. */
function readJson(reading: Reading, section: Section, key: string): string | undefined {
  const written = section.written.get(key);
  if (written === undefined) return undefined;
  const json = JSON.stringify(readList(reading, key, written));
  const read = ownArguments(json);
  if (argumentBytes(read) > mostArgumentBytes) {
    const message = `${sentenceStart[key]} are larger than 16 MB together.`;
    reading.report('error', 'arguments', placeOfValue(reading, written), message);
    return '[]';
  }
  if (placeholdersIn(read).some(({ name }) => name === 'file')) {
    const message = `The estimate counts ${assumedFileBytes / 1024} KB for each {file:…}; the run counts what the files hold.`;
    reading.report('info', 'file-size', placeOfValue(reading, written), message);
  }
  return json;
}

const sentenceStart: Readonly<Record<string, string>> = {
  arguments: 'The arguments',
  streamingItems: 'The items',
};

/** What a list is for, and what to do without. */
const withoutList: Readonly<Record<string, string>> = {
  arguments: 'Remove the key for a method without arguments, or write a list.',
  streamingItems: 'Remove the key for a method that takes no stream, or write a list.',
};

function readList(reading: Reading, key: string, written: Written): unknown[] {
  const place = placeOfValue(reading, written);
  let node = reading.follow(written.value);
  if (isScalar(node) && typeof node.value === 'string' && place.override !== undefined) {
    // A list of --set comes as the text it is.
    node = readYaml(node.value).document?.contents ?? node;
  }
  // A method may have no arguments, but what goes up is something.
  if (isSeq(node) && (key === 'arguments' || node.items.length > 0)) {
    const values = new Values(reading, key, place);
    return node.items.map((item) => values.read(item as Node | null));
  }
  const message = isEmpty(node)
    ? `${key} has no value. ${withoutList[key]}`
    : `${key} must be a list: one line for each ${key === 'arguments' ? 'argument' : 'item'} that begins with "- ".`;
  reading.report('error', isEmpty(node) ? 'empty-value' : 'wrong-type', place, message);
  return [];
}

const isEmpty = (node: Node | undefined): boolean =>
  node === undefined || (isScalar(node) && node.value === null) || isSeq(node);

/** Reads values of any kind within bounds. */
class Values {
  private count = 0;

  /** @param holder where what has no place of its own is reported */
  constructor(
    private readonly reading: Reading,
    private readonly key: string,
    private readonly holder: Place,
  ) {}

  read(item: Node | null): unknown {
    const { reading } = this;
    this.count += 1;
    if (this.count > mostValues) {
      if (this.count === mostValues + 1) {
        const message = `${sentenceStart[this.key]} have more than ${mostValues} values; the others are not read.`;
        reading.report('error', 'arguments', this.holder, message);
      }
      return null;
    }
    const node = reading.follow(item);
    if (node === undefined) return null;
    if (isSeq(node)) return node.items.map((value) => this.read(value as Node | null));
    if (isMap(node)) return this.readMap(node);
    return isScalar(node) ? this.readScalar(node) : null;
  }

  private readMap(
    map: Node & { items: { key: unknown; value: unknown }[]; flow?: boolean },
  ): unknown {
    const { reading } = this;
    const [only, more] = map.items;
    const forgotten = more === undefined && map.flow === true ? placeholderAsMap(only) : undefined;
    if (forgotten !== undefined) {
      const text = `'{${forgotten}}'`;
      const message = `Without quotes YAML reads this as a map. Write ${text}.`;
      const fix = { title: 'Put quotes around it', text };
      reading.report('error', 'quotes', this.placeOf(map), message, fix);
      return `{${forgotten}}`;
    }
    const members = new Map<string, unknown>();
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? nameOf(key) : undefined;
      const at = this.placeOf(key as Node);
      if (name === undefined) {
        reading.report('error', 'wrong-type', at, `Keys of a map in ${this.key} must be texts.`);
      } else if (members.has(name)) {
        const message = `"${quotable(name)}" is written twice in this map.`;
        reading.report('error', 'duplicate-key', at, message);
      } else {
        members.set(name, this.read((value ?? null) as Node | null));
      }
    }
    return Object.fromEntries(members);
  }

  private readScalar(node: Scalar): unknown {
    const { value } = node;
    const place = this.placeOf(node);
    if (typeof value === 'string') {
      for (const bad of partsOf(value).bad) this.reportPlaceholder(value, place, bad);
      for (const part of partsOf(value).parts) {
        if (typeof part !== 'string' && part.name === 'file' && !isBelow(part.file)) {
          const message =
            'Files must lie beside the scenario file or below it: their content is sent to the target.';
          this.reading.report('error', 'payload-file', place, message);
        }
      }
      checkReferences(this.reading, this.key, value, place, false);
      return value;
    }
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const message = 'This number is too large to be sent exactly. Put quotes around it.';
      this.reading.report('error', 'arguments', place, message);
    } else if (typeof value === 'number' && !Number.isFinite(value)) {
      this.reading.report('error', 'arguments', place, 'This is no number that can be sent.');
      return 0;
    }
    return value ?? null;
  }

  private reportPlaceholder(
    text: string,
    place: Place,
    { offset, length, name, problem }: BadPlaceholder,
  ): void {
    const at = partOf(this.reading, place, text, offset, length);
    if (problem !== 'unknown') {
      this.reading.report('error', 'placeholder', at, wrongValue[problem](name));
      return;
    }
    const meant = didYouMean(name, placeholderNames);
    const known = placeholderWords.map(({ written }) => written).join(', ');
    const question = meant === undefined ? '' : ` Did you mean {${meant}}?`;
    const message = `There is no placeholder {${quotable(name)}}.${question} Known are ${known}; {{ stands for a brace.`;
    // Only where the place is that of the placeholder itself.
    const fix = meant === undefined || at.length !== length ? undefined : writing(`{${meant}}`);
    this.reading.report('error', 'placeholder', at, message, fix);
  }

  private placeOf(node: Node): Place {
    const place = this.reading.placeOf(node);
    return this.holder.override === undefined ? place : this.holder;
  }
}

const wrongValue: Readonly<
  Record<Exclude<BadPlaceholder['problem'], 'unknown'>, (name: string) => string>
> = {
  size: () => '{text:…} needs a size from 1 byte to 16 MB, such as {text:2KB}.',
  file: () => '{file:…} needs the name of a file beside the scenario file.',
  value: (name) => `{${name}} takes nothing behind a colon.`,
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
