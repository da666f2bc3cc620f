import type { ProxySettings } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import { proxyFor } from '../../wire/socket/proxy';

/** More exceptions than anybody writes. */
const mostExceptions = 1000;

/**
 * Proxies as the environment names them: `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, in lower case first.
 * This machine itself is always reached without.
 *
 * @param urls of the hubs
 * @returns undefined when there is none
 *
 * @throws ExpectedError `proxy-url` when a proxy that is needed for a hub is no URL of one; it does not
 *   repeat the text, which may hold a password
 */
export function proxySettings(
  urls: readonly string[],
  environment: (name: string) => string | undefined,
): ProxySettings | undefined {
  const read = (name: string): string =>
    (environment(name.toLowerCase()) || environment(name) || '').trim();
  const except = read('NO_PROXY')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .slice(0, mostExceptions);
  const found: { http?: string; https?: string } = {};
  for (const [scheme, name] of [
    ['http', 'HTTP_PROXY'],
    ['https', 'HTTPS_PROXY'],
  ] as const) {
    const text = read(name);
    if (text === '') continue;
    const proxy = proxyUrl(text);
    if (proxy !== undefined) {
      found[scheme] = proxy;
      continue;
    }
    const probe = { [scheme]: 'http://proxy.invalid', except };
    if (urls.some((url) => proxyFor(new URL(url), probe) !== undefined)) {
      throw new ExpectedError(
        'proxy-url',
        `The environment variable ${name} is no URL of a proxy such as http://proxy.example:3128. Correct or remove it, or name the hub in NO_PROXY.`,
      );
    }
  }
  return found.http === undefined && found.https === undefined ? undefined : { ...found, except };
}

/** `proxy:3128` is understood as `http://proxy:3128`. */
function proxyUrl(text: string): string | undefined {
  const whole = text.includes('://') ? text : `http://${text}`;
  let url: URL;
  try {
    url = new URL(whole);
  } catch {
    return undefined;
  }
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== ''
    ? url.href
    : undefined;
}

/** User and password of the proxies, as written and as sent. */
export function proxySecrets(proxies: ProxySettings | undefined): string[] {
  return [proxies?.http, proxies?.https].flatMap((text) => {
    if (text === undefined) return [];
    const { username, password } = new URL(text);
    return [username, password, decodedOr(username), decodedOr(password)];
  });
}

function decodedOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
