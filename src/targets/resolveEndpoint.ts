import { isIP } from 'node:net';
import { ExpectedError } from '../base/expectedError';
import { resolveReferences } from '../scenario/references';
import type { Scenario } from '../scenario/scenario';
import type { Endpoint } from '../wire/endpoint';
import type { TargetContext } from './target';

/**
 * Puts the values of all references in. This is the one place where secrets enter.
 *
 * @throws ExpectedError `missing-reference` that names each missing one and where it is looked for
 */
export async function resolveEndpoint(
  urls: readonly string[],
  scenario: Scenario,
  context: TargetContext,
): Promise<Endpoint> {
  const missing = new Set<string>();
  const resolve = (text: string): string => {
    const resolved = resolveReferences(text, (kind, name) => context.reference(kind, name));
    for (const { kind, name } of resolved.missing) missing.add(whereToSet(kind, name));
    return resolved.text;
  };
  const resolveAll = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, resolve(text)]));
  const resolvedUrls = urls.flatMap((url) => resolve(url).split(','));
  const headers = resolveAll(scenario.headers);
  const query = resolveAll(scenario.query);
  const accessToken =
    scenario.accessToken === undefined ? undefined : resolve(scenario.accessToken);
  if (missing.size > 0) {
    throw new ExpectedError(
      'missing-reference',
      `The scenario refers to values that are not set: ${[...missing].join(', ')}.`,
    );
  }
  return {
    urls: resolvedUrls.map((url) => hubUrl(url.trim())),
    headers,
    query,
    ...(accessToken === undefined ? {} : { accessToken }),
    ...(scenario.caFile === undefined ? {} : { ca: await authority(scenario.caFile, context) }),
    insecureTls: scenario.insecureTls,
    skipNegotiation: scenario.skipNegotiation,
  };
}

/** Name of the environment variable that holds a secret on the command line. */
export function secretVariable(name: string): string {
  return `SIGNALR_BENCH_SECRET_${name.toUpperCase().replaceAll('-', '_')}`;
}

function whereToSet(kind: 'env' | 'secret', name: string): string {
  return kind === 'env'
    ? `environment variable ${name}`
    : `secret ${name} (environment variable ${secretVariable(name)})`;
}

const httpProtocols: Readonly<Record<string, string>> = {
  'ws:': 'http:',
  'wss:': 'https:',
  'http:': 'http:',
  'https:': 'https:',
};

/** The hub's URL as `http:` or `https:`. The text may come from a secret, so errors do not repeat it. */
function hubUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new ExpectedError(
      'target-url',
      'A target is no URL. Write the whole hub URL, such as http://localhost:5050/signalrbench.',
    );
  }
  const protocol = httpProtocols[url.protocol];
  if (protocol === undefined) {
    throw new ExpectedError(
      'target-url',
      `A target begins with ${url.protocol}//; hubs are reached over http, https, ws or wss.`,
    );
  }
  return url.href.replace(/^[a-z]+:/, protocol);
}

async function authority(path: string, context: TargetContext): Promise<string> {
  const text = await context.readFile(path);
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw new ExpectedError(
      'ca-file',
      `caFile ${path} holds no certificate in PEM form (-----BEGIN CERTIFICATE-----).`,
    );
  }
  return text;
}

/** Shorter values are too common in ordinary text to be taken out of it. */
const shortestSecret = 6;

/** What was given to get in: token, values of headers and query, user info and query of the URLs. */
export function secretsOf(endpoint: Endpoint): string[] {
  const inUrls = endpoint.urls.flatMap((text) => {
    const url = new URL(text);
    return [url.username, url.password, ...url.searchParams.values()];
  });
  const values = [
    endpoint.accessToken ?? '',
    ...Object.values(endpoint.headers),
    ...Object.values(endpoint.query),
    ...inUrls,
  ];
  return values
    .flatMap((value) => [value, ...value.split(/\s+/), encodeURIComponent(value)])
    .filter(
      (value, position, all) => value.length >= shortestSecret && all.indexOf(value) === position,
    );
}

/** Whether a URL's host is this machine. */
export function isLoopback(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return isIP(host) === 4
    ? host.startsWith('127.')
    : host === '::1' || /^::ffff:7f[0-9a-f]{2}:/.test(host);
}
