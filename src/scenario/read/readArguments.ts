import { isMap, isScalar, isSeq, type Node } from 'yaml';
import {
  argumentBytes,
  assumedFileBytes,
  mostArgumentBytes,
  parseArguments,
  parsePlaceholderText,
  placeholderNames,
  placeholdersIn,
  placeholderHelp,
  type BadPlaceholder,
  type Placeholder,
  stampProblem,
} from '../../usecases/ownArguments';
import { isRowName } from '../../base/personalText';
import type { Parameters } from '../../usecases/parameters';
import type { Place, Reading } from '../text/scenarioReading';
import { didYouMean, didYouMeanText, safeExcerpt } from '../text/words';
import { readYaml } from '../text/yamlDocument';
import type { Section } from './readSection';
import {
  valueReader,
  checkReferences,
  staysInFolder,
  isEmptyNode,
  scalarText,
  partOf,
  type Written,
} from './readValue';

export function withArguments(reading: Reading, section: Section, plain: Parameters): Parameters {
  const items = readJson(reading, section, 'streamingItems');
  return {
    ...plain,
    // Reported elsewhere; the estimate goes on.
    method: plain['method'] ?? '',
    arguments: readJson(reading, section, 'arguments') ?? '[]',
    ...(items !== undefined && { streamingItems: items }),
  };
}

export interface StoredNames {
  readonly all: ReadonlySet<string>;
  readonly before: ReadonlySet<string>;
}

/** As JSON text; undefined when it is not written. */
export function readJson(
  reading: Reading,
  section: Section,
  key: ListKey,
  kept?: StoredNames,
): string | undefined {
  const written = section.written.get(key);
  if (written === undefined) return undefined;
  const json = JSON.stringify(readList(reading, key, written, kept));
  const read = parseArguments(json, (name) => kept?.all.has(name) === true);
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

function readList(reading: Reading, key: ListKey, written: Written, kept: StoredNames | undefined) {
  const { place } = written;
  const node = listOfText(reading, written);
  // A method may have no arguments, but a stream has items.
  if (isSeq(node) && (key === 'arguments' || node.items.length > 0)) {
    const read = valueReader(
      reading,
      {
        key,
        text: (value, at) => checkText(reading, key, value, at, kept),
        largeNumber: (number) => {
          const message = 'This number is too large to be sent exactly. Put quotes around it.';
          reading.error('arguments', place.override ? place : number, message);
          return number.value as number;
        },
        mapMeant: (map) => forgottenQuotes(reading, map, place),
      },
      place,
    );
    return node.items.map((item) => read(item as Node | null));
  }
  const { item, without } = lists[key];
  if (isEmptyNode(node) || isSeq(node))
    reading.error('empty-value', place, `${key} has no value. ${without}`);
  else {
    const message = `${key} must be a list: one line for each ${item} that begins with "- ".`;
    reading.error('wrong-type', place, message);
  }
  return [];
}

/** `--set` gives a list as text. */
export function listOfText(reading: Reading, { value, place }: Written): Node | undefined {
  const node = reading.resolve(value);
  if (isScalar(node) && typeof node.value === 'string' && place.override !== undefined)
    return readYaml(node.value).document?.contents ?? node;
  return node;
}

/** `{sender}` and `{text:2KB}` without quotes are maps with one key and no value. */
function forgottenQuotes({ error }: Reading, map: Node, holder: Place): string | undefined {
  if (!isMap(map) || map.flow !== true || map.items.length !== 1) return undefined;
  const { key, value } = map.items[0]!;
  const written = isScalar(key) ? scalarText(key) : '';
  const isEmpty = ((isScalar(value) ? value.value : value) ?? null) === null;
  if (!isEmpty || !placeholderNames.includes(written.replace(/:.*/, ''))) return undefined;
  const text = `'{${written}}'`;
  const message = `Without quotes YAML reads this as a map. Write ${text}.`;
  const fix = { title: 'Put quotes around it', text };
  error('quotes', holder.override === undefined ? map : holder, message, fix);
  return `{${written}}`;
}

function checkText(
  reading: Reading,
  key: ListKey,
  text: string,
  place: Place,
  kept: StoredNames | undefined,
): void {
  const { bad, parts } = parsePlaceholderText(text, kept && ((name) => kept.all.has(name)));
  for (const each of bad) reportPlaceholder(reading, text, place, each, kept);
  for (const part of parts) {
    if (typeof part === 'string') continue;
    if (part.name === 'kept' && kept?.before.has(part.key) === false) {
      const written = `{${part.key}}`;
      const at = { offset: text.indexOf(written), length: written.length };
      const message = `${written} is used before it is kept: the step that keeps it must come before this one.`;
      reading.error('kept-later', partOf(reading, place, text, at), message);
    } else if (part.name === 'file' && !staysInFolder(part.file)) {
      const message =
        'Files must lie beside the scenario file or below it: their content is sent to the target.';
      reading.error('payload-file', place, message);
    }
  }
  checkReferences(reading, key, text, place, false);
}

function reportPlaceholder(
  reading: Reading,
  text: string,
  place: Place,
  bad: BadPlaceholder,
  kept: StoredNames | undefined,
): void {
  const { length, name, problem } = bad;
  const at = partOf(reading, place, text, bad);
  if (problem !== 'unknown') {
    reading.error('placeholder', at, wrongValue[problem](name));
    return;
  }
  const keptNames = [...(kept?.all ?? [])];
  const near = didYouMean(name, [...keptNames, ...placeholderNames]);
  const written = text.slice(bad.offset, bad.offset + length);
  const meant = near && (isRowName(near) ? written.replace(name, near) : `{${near}}`);
  const known = [
    ...keptNames.map((each) => `{${each}}`),
    ...placeholderHelp.map(({ written: each }) => each),
  ].join(', ');
  const message = `There is no placeholder {${safeExcerpt(name)}}.${didYouMeanText(meant)} Known are ${known}; {{ stands for a brace.`;
  reading.error('placeholder', at, message, at.length === length ? meant : undefined);
}

/** For `invoke` and for calls of a session, where `{group}` may stand in any call. */
export function checkReply(
  { error, warning }: Reading,
  section: Section,
  placeholders: readonly Placeholder[],
  inSession: boolean,
): void {
  const { at, values } = section;
  const reply = values.get('reply') as string;
  const calledBack = reply === 'callback';
  if (calledBack && !values.has('callback')) {
    const message = 'reply: callback needs callback: the client method that the hub calls.';
    error('missing-callback', at('reply'), message);
  }
  for (const name of calledBack ? [] : ['callback', 'receivers', 'answered']) {
    if (['self', false].includes(values.get(name) as string)) continue;
    const message = `${name} means nothing with reply: ${reply}. Remove it, or write reply: callback.`;
    warning('other-reply', at(name), message);
  }
  const receivers = calledBack ? values.get('receivers') : 'self';
  for (const [name, audience] of [
    ['receiver', 'client'],
    ['group', 'group'],
  ] as const) {
    const isUsed = placeholders.some((placeholder) => placeholder.name === name);
    if (isUsed && receivers !== audience && !(inSession && name === 'group')) {
      const message = `{${name}} needs reply: callback and receivers: ${audience}.`;
      error('placeholder', at('arguments'), message);
    } else if (!isUsed && receivers === audience) {
      const message = `receivers: ${audience} needs {${name}} in the arguments, so that the hub knows whom to call back.`;
      error('missing-placeholder', at('receivers'), message);
    }
  }
  const problem = calledBack ? stampProblem(placeholders) : undefined;
  if (problem !== undefined) error('no-stamp', at('arguments', 'reply'), problem);
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
