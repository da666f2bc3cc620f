/** Results count errors by these names: a name never changes its meaning; new ones may be added. */
export const errorClasses = {
  refused: 'connection refused: nothing listens on that port',
  unreachable: 'host or network unreachable',
  dns: 'host name not found',
  tls: 'TLS failed: the certificate is not trusted, the server wants one from the client, or the port does not speak TLS',
  timeout: 'no answer in time',
  reset: 'connection reset by the other side',
  unauthorized: 'refused with 401 or 403: access token missing, wrong or expired',
  notFound: 'answered 404: wrong hub path, or the connection id expired',
  throttled: 'refused with 429: too many requests',
  negotiate: 'negotiate failed with another HTTP status or an unusable answer',
  upgrade: 'the server did not accept the WebSocket upgrade',
  request: 'a stream, poll or send of an HTTP transport got another HTTP status',
  handshake: 'the hub refused the protocol handshake',
  closed: 'closed by the server',
  slowConsumer: 'closed by the server because this side read too slowly',
  blocked: 'closed by us: the server stopped reading what was sent',
  protocol: 'the server sent something that is not a valid WebSocket or hub message',
  invocation: 'the hub answered an invocation with an error, or a service refused a message',
  noValue: 'a session needed a value that no answer had given',
  ownServer:
    'a server that was started for the run reported a problem, or ended: hub, emulator, app server or upstream handler',
  identity:
    'no access token could be had for the connection: the command or the token endpoint of its identity gave none',
  descriptors: 'this process ran out of file descriptors',
  ports: 'this machine ran out of local ports',
  other: 'another failure',
} as const;

export type ErrorClass = keyof typeof errorClasses;

export const errorAdvice: Readonly<Partial<Record<ErrorClass, string>>> = {
  refused: 'Start the server, or correct the port in the target.',
  unreachable: 'Check the host, the network and the firewall between here and there.',
  dns: 'Correct the host name in the target.',
  tls: 'Name the certificate authority with `caFile`, or switch the check off with `insecureTls: true`; where the server wants a certificate of the client, give `certFile` and `keyFile`; for a port without TLS write http://.',
  timeout:
    'See whether the server is alive and answers; raise `connectTimeout` where it is only slow, or `identities.timeout` where that is a token endpoint.',
  reset: 'See the log of the server; a port that wants TLS needs https://.',
  unauthorized:
    'Check the access key of a connection string, or the role of who has signed in; else give a valid token as `accessToken: ${env:NAME}` or the headers the server wants.',
  notFound:
    'From negotiate, or without one: correct the path of the hub in the target, such as /signalrbench, or `connectionType`, which is AspNet for hubs of ASP.NET SignalR and for no others. From a later request: the connection id was too old, or of another instance; lower `connectInFlight`, and let each client reach one instance.',
  throttled:
    'Lower `arrivingRate`, or use a larger size of the service; where a token endpoint refuses, lower `identities.rate`.',
  negotiate: 'See whether the target is the URL of a SignalR hub, and the log of the server.',
  upgrade:
    'See whether proxies on the way let WebSockets through, whether the server limits their number (MaxConcurrentUpgradedConnections of Kestrel), and its log.',
  handshake:
    'If the server lacks the protocol, set `protocol: json` or add AddSignalR().AddMessagePackProtocol(). If Azure has no app server, set the service mode to Serverless for use cases by REST.',
  request: 'See the log of the server, and whether proxies on the way let long requests through.',
  closed: 'See the log of the server.',
  slowConsumer: 'Use fewer connections per machine, more `workers`, or smaller messages.',
  blocked: 'The server cannot keep up with what is sent: lower the load or give it more power.',
  invocation:
    'Run `signalr-bench doctor --target URL`: it names the hub methods that are missing. Azure Web PubSub says what is missing: a role of the client, or a handler of the event.',
  noValue:
    'See whether the JSONPath under `keep` fits the answers of the hub, or ask with `if` whether there is a value.',
  ownServer:
    'Its message is below. The connections it served are lost, and counted in their own class.',
  identity:
    'Run the command by hand, or ask the token endpoint: it has to give a token, or a JSON object with one as `token`.',
  descriptors: 'Raise the limit (`ulimit -n`) or use fewer connections.',
  ports: 'Use fewer connections, or targets on several addresses.',
};

export type ErrorCounts = Partial<Record<ErrorClass, number>>;

export const totalErrors = (errors: ErrorCounts): number =>
  Object.values(errors).reduce((sum, count) => sum + count, 0);

/** A result file may have any number of classes of another version. */
const maxUnknownClasses = 20;

/** The most frequent first; unknown classes beyond {@link maxUnknownClasses} are counted as `other`. */
export function sortErrorCounts(errors: ErrorCounts): [ErrorClass, number][] {
  const byCount = (a: [string, number], b: [string, number]): number => b[1] - a[1];
  const all = (Object.entries(errors) as [ErrorClass, number][])
    .filter(([, count]) => count > 0)
    .sort(byCount);
  const unknown = all.filter(([name]) => !Object.hasOwn(errorClasses, name));
  const rest = new Set(unknown.slice(maxUnknownClasses));
  if (rest.size === 0) return all;
  const more = [...rest].reduce((sum, [, count]) => sum + count, errors.other ?? 0);
  const named = all.filter((each) => each[0] !== 'other' && !rest.has(each));
  return [...named, ['other', more] as [ErrorClass, number]].sort(byCount);
}

export function addErrors(counts: ErrorCounts, more: ErrorCounts): void {
  for (const [name, count] of Object.entries(more) as [ErrorClass, number][])
    counts[name] = (counts[name] ?? 0) + count;
}
