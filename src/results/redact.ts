import {
  redacted,
  replaceSecretArguments,
  replaceSecretValues,
  redactWebTokens,
} from '../base/secrets';
import { truncate, visibleText } from '../base/text';
import { referencePattern } from '../scenario/target/references';

// References such as `${secret:name}` are no secrets and stay.

const reference = new RegExp(referencePattern, 'g');
/** Filled when a connection opens or an identity is made; a cookie has a name before it. */
const filledLater =
  /(?:(?<=^|; ?)[\w-]{1,60}=)?(?<!\$)\{(?:senderIndex|index|group|time|ticks|(?:identity|data)\.[^{}:\r\n]{1,128})\}/g;
/** `<your token>`, `xxx`, `***`, `…`: what documentation writes in the place of a secret. */
const placeholder = /^(?:<[^<>]*>|[x*.]{3,}|…)$/i;
/** These say how to talk. Every other header may let somebody in: services make up names for keys. */
const openHeaders = new Set([
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'cache-control'],
  ...['content-type', 'host', 'origin', 'pragma', 'user-agent', 'x-requested-with'],
]);
/** Parts of a connection string that name things; every other part is taken for a secret. */
const openParts = new Set([
  ...['endpoint', 'clientendpoint', 'serverendpoint', 'port', 'version'],
  ...['authtype', 'clientid', 'tenantid'],
]);

/** Kept when it holds nothing but references or a placeholder, and the name of a scheme. */
export function redactSecret(value: string): string {
  const rest = value
    .replace(reference, '')
    .replace(filledLater, '')
    .trim()
    .replace(/^(?:Bearer|Basic|ApiKey)(?:\s+|$)/i, '')
    .replace(/^[;,\s"'`}\]]+$/, '');
  const isOpen = (rest === '' && value.includes('{')) || placeholder.test(rest);
  return value === '' || isOpen ? value : redacted;
}

/** In arguments of calls any name in braces is filled later, such as that of a kept value. */
const inArguments = /\{(?:text:[\w.,%\s–-]{1,300}|[A-Za-z]\w{0,39}(?::[^{}\s]{1,20})?)\}/g;

export const redactArgument = (value: string): string =>
  redactSecret(value.replace(inArguments, '{index}')) === redacted ? redacted : value;

/** Of a text in arguments that is called like no secret; one of JSON may have members that are. */
export const redactInArguments = (text: string): string =>
  /^\s*[[{]/.test(text)
    ? replaceSecretValues(redactWords(text), redactArgument)
    : redactWords(text);

/** A URL without literal user info, query values and fragment. Lists of URLs are not understood. */
export function redactUrl(url: string): string {
  const [open = ''] = url
    .replace(
      /^(\s*[a-z][a-z0-9+.-]*:\/\/)([^/?#\s]*)@/i,
      (_all, scheme: string, user: string) => `${scheme}${redactSecret(user)}@`,
    )
    .split('#', 1);
  const mark = open.indexOf('?');
  if (mark < 0) return open;
  const pairs = open.slice(mark + 1).split('&');
  return `${open.slice(0, mark)}?${pairs.map(redactPair).join('&')}`;
}

function redactPair(pair: string): string {
  const equals = pair.indexOf('=');
  return equals < 0
    ? redactSecret(pair)
    : `${pair.slice(0, equals)}=${redactSecret(pair.slice(equals + 1))}`;
}

export function redactConnectionString(value: string): string {
  if (value.replace(reference, '').trim() === '') return value;
  return value
    .split(';')
    .map((part) => {
      const equals = part.indexOf('=');
      if (part.trim() === '') return part;
      const name = part.slice(0, Math.max(0, equals)).trim();
      const rest = part.slice(equals + 1);
      if (equals > 0 && openParts.has(name.toLowerCase())) return `${name}=${redactUrl(rest)}`;
      return equals > 0 ? `${name}=${redactSecret(rest)}` : redactSecret(part);
    })
    .join(';');
}

export function redactTarget(value: string): string {
  if (/(^|;)\s*(endpoint|accesskey)\s*=/i.test(value)) return redactConnectionString(value);
  return value.split(',').map(redactUrl).join(',');
}

/** More of a text is shown nowhere; what is cut off need not be looked through. */
const longestText = 65_536;

/** As it may be shown and kept: without secrets and what a terminal or an editor would obey. */
export function redactText(text: string): string {
  return redactWords(visibleText(truncate(text, longestText)));
}

/** For a notification: the editor makes links of `[text](address)`, also such that carry out commands. */
export function redactNotice(text: string): string {
  return redactText(text).replaceAll('](', '] (');
}

/** Without keys, tokens, and user info and query of URLs; all else stays as it is. */
export function redactWords(text: string): string {
  return redactWebTokens(text)
    .replace(
      /\b(AccessKey|SharedAccessKey|ClientSecret)\s*=\s*([^;\s"'<>]+)/gi,
      (all, name: string, value: string) =>
        redactSecret(value) === value ? all : `${name}=${redacted}`,
    )
    .replace(/\b(Bearer|Basic)\s+([A-Za-z0-9+/_=.~-]{8,})/g, `$1 ${redacted}`)
    .replace(/\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s"'<>,]+/gi, (url) => redactUrl(url));
}

/** A form or JSON text, whose members may be called like secrets; a comment, which may hold a line of a scenario. */
export const redactBody = (text: string): string =>
  replaceSecretValues(redactWords(text), redactSecret);

export const redactCommand = (words: readonly string[]): string[] =>
  replaceSecretArguments(words.map(redactWords), redactSecret);

/** Value of a header: kept only for the few names that never let anybody in, and redacted there by its look. */
export function redactHeader(name: string, value: string): string {
  return openHeaders.has(name.toLowerCase()) ? redactWords(value) : redactSecret(value);
}
