import { isScalar, isSeq, type Node } from 'yaml';
import {
  connectionStringProblem,
  isPlaceholder,
  looksLikeConnectionString,
} from '../target/connectionString';
import { hostOf, hubUrlProblem, serviceEndpointProblem } from '../target/hubUrl';
import {
  connectionStringOf,
  targetKinds,
  type TargetSpec,
  type TargetWishes,
} from '../target/targetKinds';
import type { Place, Reading } from '../text/scenarioReading';
import { quotable } from '../text/words';
import { checkReferences, partOf, placeOfValue, type Section, type Written } from './readSection';

/** URLs one file may name. */
const maximumUrls = 1000;

/** One target of a key that may name several. */
interface Item {
  readonly text: string;
  readonly place: Place;
}

/** A key that names targets, and the reading it belongs to. */
interface TargetKey {
  readonly reading: Reading;
  readonly name: string;
  readonly written: Written;
}

/** What the use cases ask of the target. */
export interface TargetNeeds extends TargetWishes {
  /** At least one use case sends through the REST API. */
  readonly rest: boolean;
}

export interface TargetSource {
  /** Absent when the file names none, or none that can be used. */
  readonly target?: TargetSpec;
  /** The key that counts. */
  readonly written?: Written;
}

/** Reads and checks the keys that name targets: `target` wins, then what REST use cases or the others need. */
export function readTarget(reading: Reading, config: Section, needs: TargetNeeds): TargetSource {
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
    const place = placeOfValue(reading, key.written);
    return typeof text === 'string' ? readConnectionString(key, { text, place }) : undefined;
  };
  const target = read(winner);
  // Whoever sets the target by hand for one run knows that it wins, and what it replaces matters no more.
  const isByHand = reading.placeOf(winner.written.key).override !== undefined;
  for (const loser of isByHand ? [] : losers) {
    read(loser);
    const why = winner.name === 'connectionString' ? ' for use cases of the REST API' : '';
    const message = `${loser.name} is not used: ${winner.name} wins${why}. Remove one of them.`;
    reading.report('warning', 'two-targets', loser.written.key, message);
  }
  return { written: winner.written, ...(target !== undefined && { target }) };
}

/** The fix that writes another key in place of this one. */
const otherKey = ({ reading, written }: TargetKey, name: string) => ({
  title: `Write "${name}"`,
  text: name,
  at: reading.placeOf(written.key),
});

function readConnectionString(key: TargetKey, { text, place }: Item): TargetSpec | undefined {
  const { reading } = key;
  if (/^\s*(https?|wss?):\/\/[^;]*$/i.test(text)) {
    const message = 'This is a URL, not a connection string. Hub URLs belong in webAppTarget.';
    const fix = otherKey(key, 'webAppTarget');
    reading.report('error', 'connection-string', place, message, fix);
    return undefined;
  }
  const problem = connectionStringProblem(text);
  if (problem !== undefined) {
    reading.report('error', 'connection-string', place, problem);
    return undefined;
  }
  if (isPlaceholder(text)) {
    const message =
      'This connection string is a placeholder. Put your own in its place, best as a reference such as ${env:NAME} or ${secret:name}.';
    reading.report('info', 'placeholder', place, message);
  }
  return { kind: 'connectionString', value: text.trim() };
}

function readUrls(key: TargetKey, wishes: TargetWishes): TargetSpec | undefined {
  const items = itemsOf(key);
  const [only] = items;
  if (key.name === 'target' && only !== undefined && items.length === 1) {
    const found = firstMatch(only.text, wishes);
    const isChecked = found !== undefined && looksLikeConnectionString(only.text);
    if (isChecked && connectionStringOf(found) !== undefined)
      return readConnectionString(key, only);
    if (found !== undefined) return found;
  }
  const urls = items.filter((item) => isUrl(key, item)).map(({ text }) => text);
  return urls.length === 0 ? undefined : { kind: 'hubUrl', urls };
}

function firstMatch(text: string, wishes: TargetWishes): TargetSpec | undefined {
  for (const kind of targetKinds) {
    const found = kind.matches?.(text, wishes);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether an item is a hub URL; reports what is wrong with it, and that it has no path. */
function isUrl(key: TargetKey, { text, place }: Item): boolean {
  const { reading, name, written } = key;
  const isTarget = name === 'target';
  if (looksLikeConnectionString(text)) {
    const whole = placeOfValue(reading, written);
    const isAlone = place.offset === whole.offset && place.length === whole.length;
    const message = isTarget
      ? 'A connection string stands alone: it cannot be one of several targets.'
      : 'This is a connection string. It belongs in connectionString, not in webAppTarget.';
    const fix = isTarget || !isAlone ? undefined : otherKey(key, 'connectionString');
    reading.report('error', 'hub-url', place, message, fix);
    return false;
  }
  if (text.toLowerCase() === 'local') {
    const message = isTarget
      ? '`local` stands alone: it cannot be one of several targets.'
      : '`local` is understood in target, not in webAppTarget.';
    reading.report('error', 'hub-url', place, message);
    return false;
  }
  const problem = hubUrlProblem(text);
  if (problem !== undefined) {
    const { says, meant } = problem;
    const question = meant === undefined ? '' : ` Did you mean ${quotable(meant)}?`;
    const message = `"${quotable(text)}" in ${name} ${says}.${question}`;
    const fix =
      meant === undefined ? undefined : { title: `Write ${quotable(meant)}`, text: meant };
    reading.report('error', 'hub-url', place, message, fix);
    return false;
  }
  const endpointProblem = serviceEndpointProblem(text);
  if (endpointProblem !== undefined) {
    reading.report('error', 'hub-url', place, endpointProblem);
    return false;
  }
  if (/^[a-z]+:\/\/[^/?#]+\/?$/i.test(text) && hostOf(text) !== undefined) {
    const message = `${quotable(text)} has no path. A hub usually has one, such as /signalrbench.`;
    reading.report('warning', 'hub-path', place, message);
  }
  return true;
}

/** The entries of one text, a comma list or a YAML list, each with its own place. */
function itemsOf(key: TargetKey): Item[] {
  const { reading, name, written } = key;
  const place = placeOfValue(reading, written);
  const node = reading.follow(written.value);
  const nodes: readonly (Node | null)[] = isSeq(node)
    ? (node.items as Node[]).slice(0, maximumUrls)
    : [written.value];
  const items = nodes.flatMap((item) => textsOf(key, item, place));
  if (items.length === 0 && !reading.full()) {
    const isKnown = reading.problems().some(({ offset }) => offset === place.offset);
    const local = name === 'target' ? ', or local' : '';
    const message = `${name} names no target. Write a hub URL such as http://localhost:5050/signalrbench${local}.`;
    if (!isKnown) reading.report('error', 'empty-value', place, message);
  }
  if (items.length > maximumUrls || (isSeq(node) && node.items.length > maximumUrls)) {
    const message = `${name} has more than ${maximumUrls} URLs; the others are not used.`;
    reading.report('error', 'above-bounds', place, message);
  }
  return items.slice(0, maximumUrls);
}

function textsOf({ reading, name }: TargetKey, item: Node | null, list: Place): Item[] {
  const node = reading.follow(item);
  if (node === undefined || (isScalar(node) && node.value === null)) return [];
  // An alias stands where it is written, not where its anchor is.
  const place = item === null ? list : reading.placeOf(item);
  if (!isScalar(node) || typeof node.value !== 'string') {
    const message = `${name} must be a text, a list separated by commas, or a list of texts.`;
    reading.report('error', 'wrong-type', place, message);
    return [];
  }
  const { value } = node;
  checkReferences(reading, name, value, place, true);
  if (looksLikeConnectionString(value)) return [{ text: value.trim(), place }];
  let offset = 0;
  return value.split(',', maximumUrls + 1).flatMap((part) => {
    const start = offset + (part.length - part.trimStart().length);
    offset += part.length + 1;
    const text = part.trim();
    return text === '' ? [] : [{ text, place: partOf(reading, place, value, start, text.length) }];
  });
}
