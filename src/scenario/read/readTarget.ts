import { isScalar, isSeq, type Node } from 'yaml';
import {
  connectionStringProblem,
  isPlaceholder,
  looksLikeConnectionString,
  parseTarget,
  type TargetSpec,
  type TargetWishes,
} from '../target/targetKinds';
import { hostOf, hubUrlProblem, serviceEndpointProblem } from '../target/hubUrl';
import type { FixDraft, Place, Reading } from '../text/scenarioReading';
import { didYouMeanText, safeExcerpt } from '../text/words';
import type { Section } from './readSection';
import { checkReferences, isEmptyNode, partOf, type Written } from './readValue';

const maximumUrls = 1000;

interface Item {
  readonly text: string;
  readonly place: Place;
}

interface TargetKey {
  readonly reading: Reading;
  readonly name: string;
  readonly written: Written;
}

/** `target` wins, then the key that the use cases need. */
export function readTarget(
  reading: Reading,
  config: Section,
  needs: TargetWishes & { readonly rest: boolean },
): { readonly target?: TargetSpec; readonly written?: Written } {
  const order = needs.rest
    ? ['target', 'connectionString', 'webAppTarget']
    : ['target', 'webAppTarget', 'connectionString'];
  const [winner, ...losers] = order.flatMap((name): TargetKey | [] => {
    const written = config.written.get(name);
    return written === undefined ? [] : { reading, name, written };
  });
  if (winner === undefined) return {};
  const read = (key: TargetKey): TargetSpec | undefined => {
    if (key.name !== 'connectionString') return readUrls(key, needs);
    const text = config.values.get(key.name);
    const { place } = key.written;
    return typeof text === 'string' ? readConnectionString(key, { text, place }) : undefined;
  };
  const target = read(winner);
  // A target set on the command line is meant to win: the file gets no warning.
  const isByHand = reading.placeOf(winner.written.key).override !== undefined;
  for (const loser of isByHand ? [] : losers) {
    read(loser);
    const why = winner.name === 'connectionString' ? ' for use cases of the REST API' : '';
    const message = `${loser.name} is not used: ${winner.name} wins${why}. Remove one of them.`;
    reading.warning('two-targets', loser.written.key, message);
  }
  return { written: winner.written, ...(target !== undefined && { target }) };
}

const otherKey = ({ reading, written }: TargetKey, name: string): FixDraft => ({
  title: `Write "${name}"`,
  text: name,
  at: reading.placeOf(written.key),
});

function readConnectionString(key: TargetKey, { text, place }: Item): TargetSpec | undefined {
  const { error, info } = key.reading;
  if (/^\s*(https?|wss?):\/\/[^;]*$/i.test(text)) {
    const message = 'This is a URL, not a connection string. Hub URLs belong in webAppTarget.';
    error('connection-string', place, message, otherKey(key, 'webAppTarget'));
    return undefined;
  }
  const problem = connectionStringProblem(text);
  if (problem !== undefined) {
    error('connection-string', place, problem);
    return undefined;
  }
  if (isPlaceholder(text)) {
    const message =
      'This connection string is a placeholder. Put your own in its place, best as a reference such as ${env:NAME} or ${secret:name}.';
    info('placeholder', place, message);
  }
  return { kind: 'connectionString', value: text.trim() };
}

function readUrls(key: TargetKey, wishes: TargetWishes): TargetSpec | undefined {
  const items = itemsOf(key);
  const [only] = items;
  if (key.name === 'target' && only !== undefined && items.length === 1) {
    if (looksLikeConnectionString(only.text)) return readConnectionString(key, only);
    const found = parseTarget(only.text, wishes);
    if (found !== undefined) return found;
  }
  const urls = items.filter((item) => isUrl(key, item)).map(({ text }) => text);
  return urls.length === 0 ? undefined : { kind: 'hubUrl', urls };
}

function isUrl(key: TargetKey, item: Item): boolean {
  const { text, place } = item;
  const { error, warning } = key.reading;
  const problem = urlProblem(key, item);
  if (problem !== undefined) {
    error('hub-url', place, problem.message, problem.fix);
    return false;
  }
  if (/^[a-z]+:\/\/[^/?#]+\/?$/i.test(text) && hostOf(text) !== undefined) {
    const message = `${safeExcerpt(text)} has no path. A hub usually has one, such as /signalrbench.`;
    warning('hub-path', place, message);
  }
  return true;
}

function urlProblem(key: TargetKey, { text, place }: Item) {
  const isTarget = key.name === 'target';
  if (looksLikeConnectionString(text)) {
    if (isTarget)
      return {
        message: 'A connection string stands alone: it cannot be one of several targets.',
      };
    const whole = key.written.place;
    const isAlone = place.offset === whole.offset && place.length === whole.length;
    return {
      message: 'This is a connection string. It belongs in connectionString, not in webAppTarget.',
      ...(isAlone && { fix: otherKey(key, 'connectionString') }),
    };
  }
  if (text.toLowerCase() === 'local') {
    const message = isTarget
      ? '`local` stands alone: it cannot be one of several targets.'
      : '`local` is understood in target, not in webAppTarget.';
    return { message };
  }
  const { says, meant } = hubUrlProblem(text) ?? {};
  if (says !== undefined) {
    const shown = meant && safeExcerpt(meant);
    const message = `"${safeExcerpt(text)}" in ${key.name} ${says}.${didYouMeanText(shown)}`;
    return { message, ...(meant && { fix: { title: `Write ${shown}`, text: meant } }) };
  }
  const message = serviceEndpointProblem(text);
  return message === undefined ? undefined : { message };
}

function itemsOf(key: TargetKey): Item[] {
  const { reading, name, written } = key;
  const { place } = written;
  const node = reading.resolve(written.value);
  const nodes = isSeq(node) ? (node.items as Node[]) : [written.value];
  const items = nodes.slice(0, maximumUrls).flatMap((item) => textsOf(key, item));
  if (items.length === 0 && !reading.isFull()) {
    const isKnown = reading.problems().some(({ offset }) => offset === place.offset);
    const local = name === 'target' ? ', or local' : '';
    const message = `${name} names no target. Write a hub URL such as http://localhost:5050/signalrbench${local}.`;
    if (!isKnown) reading.error('empty-value', place, message);
  }
  if (items.length > maximumUrls || nodes.length > maximumUrls) {
    const message = `${name} has more than ${maximumUrls} URLs; the others are not used.`;
    reading.error('above-bounds', place, message);
  }
  return items.slice(0, maximumUrls);
}

function textsOf({ reading, name, written }: TargetKey, item: Node | null): Item[] {
  const node = reading.resolve(item);
  if (isEmptyNode(node)) return [];
  // An alias stands where it is written, not where its anchor is.
  const place = item === null ? written.place : reading.placeOf(item);
  if (!isScalar(node) || typeof node.value !== 'string') {
    const message = `${name} must be a text, a list separated by commas, or a list of texts.`;
    reading.error('wrong-type', place, message);
    return [];
  }
  const { value } = node;
  checkReferences(reading, name, value, place, true);
  if (looksLikeConnectionString(value)) return [{ text: value.trim(), place }];
  let offset = 0;
  return value.split(',', maximumUrls + 1).flatMap((written) => {
    const text = written.trim();
    const part = {
      offset: offset + written.length - written.trimStart().length,
      length: text.length,
    };
    offset += written.length + 1;
    return text === '' ? [] : [{ text, place: partOf(reading, place, value, part) }];
  });
}
