/**
 * Why a connection or a message failed. Results count errors by these names, so a name never changes
 * its meaning; new ones may be added.
 */
export const errorClasses = {
  refused: 'connection refused: nothing listens on that port',
  unreachable: 'host or network unreachable',
  dns: 'host name not found',
  tls: 'TLS failed: certificate not trusted, or the port does not speak TLS',
  timeout: 'no answer in time',
  reset: 'connection reset by the other side',
  unauthorized: 'refused with 401 or 403: access token missing, wrong or expired',
  notFound: 'answered 404: wrong hub path, or the connection id expired',
  throttled: 'refused with 429: too many requests',
  negotiate: 'negotiate failed with another HTTP status or an unusable answer',
  upgrade: 'the server did not accept the WebSocket upgrade',
  handshake: 'the hub refused the protocol handshake',
  closed: 'closed by the server',
  slowConsumer: 'closed by the server because this side read too slowly',
  blocked: 'closed by us: the server stopped reading what was sent',
  protocol: 'the server sent something that is no valid WebSocket or hub message',
  invocation: 'the hub answered an invocation with an error',
  descriptors: 'this process ran out of file descriptors',
  ports: 'this machine ran out of local ports',
  other: 'another failure',
} as const;

export type ErrorClass = keyof typeof errorClasses;

/** Occurrences by class; classes that did not occur are absent. */
export type ErrorCounts = Partial<Record<ErrorClass, number>>;

/** Adds `more` to `counts` in place. */
export function addErrors(counts: ErrorCounts, more: ErrorCounts): void {
  for (const [name, count] of Object.entries(more) as [ErrorClass, number][]) {
    counts[name] = (counts[name] ?? 0) + count;
  }
}
