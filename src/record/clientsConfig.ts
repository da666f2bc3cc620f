/** Keys of `config` that follow from how the recorded clients connected. */
import { mostFrequent } from '../base/collect';
import { findSubprotocol } from '../wire/webpubsub/pubSubMessage';
import { ownHeaders } from './recording';
import type { OpenEvent, RecordingHeader } from './recording';
import { CommentedMap, CommentedValue } from './yamlText';

/** Without query; of several hubs that of most clients. */
export function recordedTarget(recorded: string, opens: readonly OpenEvent[]): string {
  const [path] = mostFrequent(opens.map((open) => open.path));
  try {
    const url = new URL(recorded);
    url.search = '';
    if (path !== undefined && !path.startsWith('/client')) url.pathname = path;
    return url.href;
  } catch {
    return 'http://localhost/';
  }
}

export const certificateKeys = ({
  caFile,
  insecureTls,
}: RecordingHeader): Record<string, unknown> => ({
  caFile,
  insecureTls: insecureTls && new CommentedValue(true, 'as it was recorded; for test systems only'),
});

/** The header of a damaged file has no URL. */
export const missingUrlNote = (recorded: string): string | undefined =>
  URL.canParse(recorded) ? undefined : 'the URL was not found: write that of the hub';

/** References for what a recording does not keep: tokens, cookies, values of own headers and of query parameters. */
export function secretReferences(
  opens: readonly OpenEvent[],
  target: string,
): Record<string, unknown> {
  const name = secretNameOf(target);
  const withToken = opens.filter(
    ({ token, query }) => token === true || query.includes('access_token'),
  ).length;
  const cookies = opens.some((open) => open.cookies === true);
  const own = ownHeaders([...new Set(opens.flatMap((open) => open.headers ?? []))]);
  const query = [...new Set(opens.flatMap((open) => open.query))]
    .filter((each) => !protocolQuery.test(each))
    .slice(0, 20);
  const tokenWords =
    withToken === 1
      ? 'a token was seen, it is not written here'
      : `${withToken} clients came with a token, none is written here; this one stands for all, \`identities\` can have one for each`;
  const headerWords = [
    ...(cookies ? ['Cookies were seen; where the hub needs them, set the secret.'] : []),
    ...(own.length > 0
      ? ["The application's own headers; their values are not written here."]
      : []),
  ];
  const headers = {
    Cookie: cookies ? `\${secret:${name}-cookie}` : undefined,
    ...references(own, (each) => `${name}-${secretNameFor(each)}`),
  };
  const queryWords = 'Parameters that were seen; their values are not written here.';
  return {
    accessToken: withToken > 0 ? new CommentedValue(`\${secret:${name}}`, tokenWords) : undefined,
    headers:
      headerWords.length > 0
        ? new CommentedValue(new CommentedMap(headers), undefined, headerWords)
        : undefined,
    query:
      query.length > 0
        ? new CommentedValue(new CommentedMap(references(query, secretNameFor)), undefined, [
            queryWords,
          ])
        : undefined,
  };
}

const references = (names: readonly string[], secretOf: (name: string) => string) =>
  Object.fromEntries(names.map((name) => [name, `\${secret:${secretOf(name)}}`]));

/** @param inJson the JSON subprotocol with the same reliability */
export function pubSubConfig(opens: readonly OpenEvent[], inJson = false): Record<string, unknown> {
  const [path = ''] = mostFrequent(opens.map((open) => open.path));
  const [protocol = ''] = mostFrequent(opens.map((open) => open.protocol));
  const hub = /\/hubs\/([\w.-]{1,128})(?:[/?]|$)/.exec(path)?.[1];
  const { format = 'json', isReliable = false } = findSubprotocol(protocol) ?? {};
  const spoken = inJson || format === 'json' ? 'Json' : 'Protobuf';
  const subprotocol = isReliable ? `reliable${spoken}` : spoken.toLowerCase();
  const keyWords =
    'Clients of the recording came with tokens of their own; a run makes them with this key.';
  return {
    connectionString: new CommentedValue('${secret:webpubsub}', undefined, [keyWords]),
    service: 'webpubsub',
    hub,
    subprotocol: subprotocol === 'json' ? undefined : subprotocol,
  };
}

/** Shares that grow with the connections. Undefined: the rest, for the last part. */
export function connectionShares(
  parts: readonly number[],
  all: number,
): readonly (string | undefined)[] {
  const isWhole = parts.reduce((sum, count) => sum + count, 0) === all;
  return parts.map((count, at) =>
    isWhole && at === parts.length - 1 ? undefined : `${percentOf(count / all)}%`,
  );
}

/** Four digits, rounded down: the sum must not exceed the whole. */
function percentOf(share: number): number {
  const digits = 3 - Math.floor(Math.log10(share * 100));
  return Math.floor(share * 100 * 10 ** digits + 1e-6) / 10 ** digits;
}

function secretNameOf(target: string): string {
  const names = target.split(/[/?]/).filter((part) => /^[A-Za-z][\w-]{0,40}$/.test(part));
  return (names.at(-1) ?? 'hub').replaceAll('_', '-').toLowerCase();
}

const protocolQuery =
  /^(?:id|access_token|negotiateVersion|connectionToken|transport|hub|useStatefulReconnect|asrs[._].*|_|clientId)$/i;

const secretNameFor = (name: string): string => {
  const plain = name
    .replace(/[^\w-]/g, '')
    .replaceAll('_', '-')
    .toLowerCase();
  return /^[a-z]/.test(plain) ? plain.slice(0, 60) : `query-${plain.slice(0, 60)}`;
};
