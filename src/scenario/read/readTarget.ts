import { isScalar, isSeq, type Node } from 'yaml';
import { checkReferences, partOf, placeOfValue, type Written } from './readValue';
import {
  connectionStringProblem,
  isPlaceholder,
  looksLikeConnectionString,
} from '../target/connectionString';
import { hostOf, hubUrlProblem, serviceEndpointProblem } from '../target/hubUrl';
import type { Place, Reading } from '../text/scenarioReading';
import type { Section } from './readSection';
import {
  connectionStringOf,
  targetKinds,
  type TargetSpec,
  type TargetWishes,
} from '../target/targetKinds';
import { quotable } from '../text/words';

/** URLs one file may name. */
const maximumUrls = 1000;

interface Item {
  readonly text: string;
  readonly place: Place;
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

/**
 * Reads `target`, `webAppTarget` and `connectionString`, reports bad entries, and chooses: `target`
 * wins, then what the use case needs (REST: the connection string, else the URLs).
 */
export function readTarget(reading: Reading, config: Section, needs: TargetNeeds): TargetSource {
  const order = needs.rest
    ? ['target', 'connectionString', 'webAppTarget']
    : ['target', 'webAppTarget', 'connectionString'];
  const [winner, ...losers] = order.filter((name) => config.written.has(name));
  if (winner === undefined) return {};
  const written = config.written.get(winner)!;
  const read = (name: string): TargetSpec | undefined => {
    const value = config.written.get(name)!;
    return name === 'connectionString'
      ? readConnectionString(reading, config, value)
      : readUrls(reading, name, value, needs);
  };
  const target = read(winner);
  // Whoever sets the target by hand for one run knows that it wins, and what it replaces matters no more.
  const byHand = reading.placeOf(written.key).override !== undefined;
  for (const name of byHand ? [] : losers) {
    read(name);
    const why = winner === 'connectionString' ? ' for use cases of the REST API' : '';
    reading.report(
      'warning',
      'two-targets',
      config.written.get(name)!.key,
      `${name} is not used: ${winner} wins${why}. Remove one of them.`,
    );
  }
  return { written, ...(target === undefined ? {} : { target }) };
}

function readConnectionString(
  reading: Reading,
  config: Section,
  written: Written,
): TargetSpec | undefined {
  const value = config.values.get('connectionString');
  if (typeof value !== 'string') return undefined;
  return checkConnectionString(reading, written, {
    text: value,
    place: placeOfValue(reading, written),
  });
}

function checkConnectionString(
  reading: Reading,
  written: Written,
  { text, place }: Item,
): TargetSpec | undefined {
  if (/^\s*(https?|wss?):\/\/[^;]*$/i.test(text)) {
    reading.report(
      'error',
      'connection-string',
      place,
      'This is a URL, not a connection string. Hub URLs belong in webAppTarget.',
      { title: 'Write "webAppTarget"', text: 'webAppTarget', at: reading.placeOf(written.key) },
    );
    return undefined;
  }
  const problem = connectionStringProblem(text);
  if (problem !== undefined) {
    reading.report('error', 'connection-string', place, problem);
    return undefined;
  }
  if (isPlaceholder(text)) {
    reading.report(
      'info',
      'placeholder',
      place,
      'This connection string is a placeholder. Put your own in its place, best as a reference such as ${env:NAME} or ${secret:name}.',
    );
  }
  return { kind: 'connectionString', value: text.trim() };
}

function readUrls(
  reading: Reading,
  name: string,
  written: Written,
  needs: TargetNeeds,
): TargetSpec | undefined {
  const items = itemsOf(reading, name, written);
  const only = items.length === 1 ? items[0]! : undefined;
  if (name === 'target' && only !== undefined) {
    const found = firstMatch(only.text, needs);
    const checked = found !== undefined && looksLikeConnectionString(only.text);
    if (checked && connectionStringOf(found) !== undefined)
      return checkConnectionString(reading, written, only);
    if (found !== undefined) return found;
  }
  const urls = items
    .filter((item) => checkUrl(reading, name, written, item))
    .map((item) => item.text);
  return urls.length === 0 ? undefined : { kind: 'hubUrl', urls };
}

function firstMatch(text: string, wishes: TargetWishes): TargetSpec | undefined {
  for (const kind of targetKinds) {
    const found = kind.matches?.(text, wishes);
    if (found !== undefined) return found;
  }
  return undefined;
}

function checkUrl(
  reading: Reading,
  name: string,
  written: Written,
  { text, place }: Item,
): boolean {
  if (looksLikeConnectionString(text)) {
    const whole = placeOfValue(reading, written);
    const alone = place.offset === whole.offset && place.length === whole.length;
    reading.report(
      'error',
      'hub-url',
      place,
      name === 'target'
        ? 'A connection string stands alone: it cannot be one of several targets.'
        : 'This is a connection string. It belongs in connectionString, not in webAppTarget.',
      name === 'target' || !alone
        ? undefined
        : {
            title: 'Write "connectionString"',
            text: 'connectionString',
            at: reading.placeOf(written.key),
          },
    );
    return false;
  }
  if (text.toLowerCase() === 'local') {
    const message =
      name === 'target'
        ? '`local` stands alone: it cannot be one of several targets.'
        : '`local` is understood in target, not in webAppTarget.';
    reading.report('error', 'hub-url', place, message);
    return false;
  }
  const problem = hubUrlProblem(text);
  if (problem !== undefined) {
    const meant = problem.meant;
    const question = meant === undefined ? '' : ` Did you mean ${quotable(meant)}?`;
    reading.report(
      'error',
      'hub-url',
      place,
      `"${quotable(text)}" in ${name} ${problem.says}.${question}`,
      meant === undefined ? undefined : { title: `Write ${quotable(meant)}`, text: meant },
    );
    return false;
  }
  const endpointProblem = serviceEndpointProblem(text);
  if (endpointProblem !== undefined) {
    reading.report('error', 'hub-url', place, endpointProblem);
    return false;
  }
  if (/^[a-z]+:\/\/[^/?#]+\/?$/i.test(text) && hostOf(text) !== undefined) {
    reading.report(
      'warning',
      'hub-path',
      place,
      `${quotable(text)} has no path. A hub usually has one, such as /signalrbench.`,
    );
  }
  return true;
}

/** The entries of one text, a comma list or a YAML list, each with its own place. */
function itemsOf(reading: Reading, name: string, written: Written): Item[] {
  const place = placeOfValue(reading, written);
  const node = reading.follow(written.value);
  const nodes: readonly (Node | null)[] = isSeq(node)
    ? (node.items as Node[]).slice(0, maximumUrls)
    : [written.value];
  const items = nodes.flatMap((item) => textsOf(reading, name, item, place));
  if (items.length === 0 && !reading.full()) {
    const known = reading.problems().some((problem) => problem.offset === place.offset);
    const message = `${name} names no target. Write a hub URL such as http://localhost:5050/signalrbench${name === 'target' ? ', or local' : ''}.`;
    if (!known) reading.report('error', 'empty-value', place, message);
  }
  const tooMany = isSeq(node) && node.items.length > maximumUrls;
  if (tooMany || items.length > maximumUrls) {
    const message = `${name} has more than ${maximumUrls} URLs; the others are not used.`;
    reading.report('error', 'above-bounds', place, message);
  }
  return items.slice(0, maximumUrls);
}

function textsOf(reading: Reading, name: string, item: Node | null, list: Place): Item[] {
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
