import { isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { nameOf } from '../read/readSection';
import { partOf, sourceOf, type Written } from '../read/readValue';
import { isLocalEndpoint, isPlaceholderKey } from '../target/connectionString';
import { referencesIn } from '../target/references';
import { urlsOf } from '../target/targetKinds';
import { scalarContent, type Place, type Reading } from '../text/scenarioReading';
import type { Checked } from './checked';

/** Code of the problem that a secret stands in the file. */
export const secretInFile = 'secret-in-file';
/** More secrets of a kind than anybody has; looking on would only repeat the advice. */
const maximumFindings = 20;
/** How far before its key the endpoint of a connection string is looked for. */
const longestString = 2000;

const warning = (what: string): string =>
  `${what} stands in this file. Keep it outside and write a reference: \${env:NAME} or \${secret:name}.`;

/**
 * Warns about access keys that stand in the text itself, comments included: files are shared and
 * committed. The key is never part of a message. Placeholders and servers on this machine are no secrets.
 */
export function reportSecrets(reading: Reading): void {
  const { text } = reading;
  let findings = 0;
  for (const match of text.matchAll(/\baccesskey\s*=\s*([^\s;"',]+)/gi)) {
    const key = match[1]!;
    const start = match.index + match[0].length - key.length;
    if (key.startsWith('${') || isPlaceholderKey(key)) continue;
    const before = text.slice(Math.max(0, start - longestString), start);
    const line = before.slice(before.lastIndexOf('\n') + 1);
    const endpoint = line.toLowerCase().lastIndexOf('endpoint=');
    if (endpoint !== -1 && isLocalEndpoint(line.slice(endpoint))) continue;
    findings += 1;
    if (findings > maximumFindings) return;
    // Inside a flow map the braces of a reference would end the value.
    const fix = line.includes('{')
      ? undefined
      : { title: 'Write ${secret:accessKey}', text: '${secret:accessKey}' };
    const place = { offset: start, length: key.length };
    reading.report('warning', secretInFile, place, warning('An access key'), fix);
  }
}

/**
 * Warns about tokens and passwords that are written out: they are as bad as a pasted access key. Each
 * stands at the text itself, without quotes, so that it can be moved elsewhere.
 *
 * @param target the key whose value is the target
 */
export function reportLiteralTokens(
  { reading, config, scenario }: Checked,
  target: Written | undefined,
): void {
  const warn = (place: Place, what: string): void => {
    if (place.override === undefined) reading.report('warning', secretInFile, place, warning(what));
  };
  const token = scalarOf(reading, config.written.get('accessToken')?.value);
  if (token !== undefined && isLiteral(scenario.accessToken)) {
    warn(contentPlace(reading, token), 'An access token');
  }
  const header = authorizationOf(reading, config.written.get('headers'));
  if (header !== undefined && isLiteral(sourceOf(header))) {
    warn(contentPlace(reading, header), 'An authorization header');
  }
  if (!urlsOf(scenario.target).some(carriesSecret)) return;
  for (const place of urlPlaces(reading, target).slice(0, maximumFindings)) {
    warn(place, 'A token or password');
  }
}

const isLiteral = (text: string | undefined): boolean =>
  text !== undefined && referencesIn(text).length === 0;

function carriesSecret(url: string): boolean {
  if (/[?&]access_token=(?!\$\{)/i.test(url)) return true;
  const user = /^[a-z]+:\/\/([^/?#]*)@/i.exec(url)?.[1];
  return user !== undefined && /:(?!\$\{)/.test(user);
}

function scalarOf(reading: Reading, value: Node | null | undefined): Scalar | undefined {
  const node = reading.follow(value ?? null);
  return isScalar(node) && node.value !== null ? node : undefined;
}

function authorizationOf(reading: Reading, headers: Written | undefined): Scalar | undefined {
  const map = reading.follow(headers?.value ?? null);
  if (!isMap(map)) return undefined;
  const pair = map.items.find(
    ({ key }) => isScalar(key) && nameOf(key).toLowerCase() === 'authorization',
  );
  return pair && scalarOf(reading, pair.value as Node | null);
}

/** Where the URLs with a token or password stand: texts, comma lists and YAML lists. */
function urlPlaces(reading: Reading, target: Written | undefined): Place[] {
  const node = reading.follow(target?.value ?? null);
  const nodes = isSeq(node) ? (node.items as (Node | null)[]) : [node ?? null];
  return nodes.flatMap((value) => {
    const scalar = scalarOf(reading, value);
    if (scalar === undefined) return [];
    const whole = sourceOf(scalar);
    const parts = whole.split(',');
    let offset = 0;
    return parts.flatMap((part) => {
      const url = part.trim();
      const start = offset + part.indexOf(url);
      offset += part.length + 1;
      if (!carriesSecret(url)) return [];
      return parts.length === 1
        ? [contentPlace(reading, scalar)]
        : [partOf(reading, reading.placeOf(scalar), whole, start, url.length)];
    });
  });
}

function contentPlace(reading: Reading, scalar: Scalar): Place {
  const place = reading.placeOf(scalar);
  return place.override === undefined ? scalarContent(reading.text, scalar) : place;
}
