import { maxHeaderSize, type IncomingMessage } from 'node:http';
import type { ErrorClass } from '../base/errorClass';
import { visibleLine } from '../base/text';

export class ConnectFailure extends Error {
  constructor(
    readonly errorClass: ErrorClass,
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
    this.name = 'ConnectFailure';
  }
}

type Request = 'negotiate' | 'upgrade' | 'request';

export class StatusFailure extends ConnectFailure {
  /** Another request of this connection had got a connection id before. */
  hasNegotiated = false;

  constructor(
    status: number,
    readonly request: Request,
    message: string,
    retryAfter: string | undefined,
  ) {
    super(errorClassForStatus(status, request), message, retryAfterMs(retryAfter, Date.now()));
  }
}

/** A response with an unwanted status. @param what the request, for the message */
export function failureFromResponse(
  what: string,
  { statusCode = 0, statusMessage = '', headers }: IncomingMessage,
  url: URL,
  request: Request = 'request',
): ConnectFailure {
  const text = `${what}: ${shownUrl(url.href)} answered ${statusCode} ${shownText(statusMessage)}`;
  return new StatusFailure(statusCode, request, text.trimEnd(), headers['retry-after']);
}

export class RedirectNotAllowed extends ConnectFailure {
  readonly host: string;

  constructor(host: string) {
    const shown = shownText(host);
    super(
      'negotiate',
      `negotiate: the server redirects to ${shown}, which gets no load: nobody has agreed to it`,
    );
    this.name = 'LeavesHosts';
    this.host = shown;
  }
}

/** Another try would fail too, until the identity is requested again. */
export class MissingIdentity extends ConnectFailure {}

const passing: ReadonlySet<ErrorClass> = new Set<ErrorClass>([
  'refused',
  'unreachable',
  'timeout',
  'reset',
  'throttled',
  'negotiate',
  'upgrade',
  'request',
  'closed',
]);

export function mayRetry(failure: ConnectFailure): boolean {
  // A connection id may have been too old, or of another instance.
  if (failure.errorClass === 'notFound')
    return failure instanceof StatusFailure && failure.hasNegotiated;
  if (failure instanceof RedirectNotAllowed || failure instanceof MissingIdentity) return false;
  return passing.has(failure.errorClass);
}

const bySystemCode: Readonly<Record<string, ErrorClass>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'ports',
  EADDRINUSE: 'ports',
  EMFILE: 'descriptors',
  ENFILE: 'descriptors',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  ETIMEDOUT: 'timeout',
  UND_ERR_SOCKET: 'reset',
};

export const switchedProtocols = 'SWITCHED_PROTOCOLS';

function classOfSystemError(error: unknown, unreadable: ErrorClass = 'protocol'): ErrorClass {
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (isCut(error)) return 'closed';
  if (typeof code === 'string') {
    const known = bySystemCode[code];
    if (known !== undefined) return known;
    if (code.startsWith('HPE_') || code === switchedProtocols) return unreadable;
    if (/^(ERR_SSL|ERR_TLS|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO)/.test(code))
      return 'tls';
  }
  if (Array.isArray(errors) && errors.length > 0) return classOfSystemError(errors[0], unreadable);
  return 'other';
}

/** Node's error for a response that is cut off. */
const isCut = (error: unknown): boolean => (error as { message?: unknown }).message === 'aborted';

function textOfSystemError(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'the port does not speak TLS';
  if (code === 'HPE_HEADER_OVERFLOW')
    return `the headers of the answer are longer than the ${maxHeaderSize / 1024} KB that are read`;
  if (typeof code === 'string' && code.startsWith('HPE_'))
    return `the answer is not valid HTTP (${shownText(String(message))})`;
  if (isCut(error)) return 'the server ended the connection in the middle of an answer';
  if (message === 'socket hang up') return 'the server closed the connection without an answer';
  const text = typeof message === 'string' ? message : String(error);
  // From version 24 on Node adds advice about a flag of its own.
  return shownText(text.replace(/; if the root CA is installed locally.*/, ''));
}

export function errorClassForStatus(status: number, fallback: Request): ErrorClass {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404) return 'notFound';
  if (status === 429) return 'throttled';
  return fallback;
}

const slowConsumer =
  /too slow|slow ?(consumer|client)|send buffer|waiting to be (sent|read)|were waiting/i;

export function failureFromClose(how: string, said: string): ConnectFailure {
  const text = shownText(said);
  const errorClass = slowConsumer.test(text) ? 'slowConsumer' : 'closed';
  return new ConnectFailure(errorClass, text === '' ? how : `${how}: ${text}`);
}

/** Timers allow no more than 24 days, and then fire at once. */
const longestWaitMs = 24 * 3600 * 1000;

/** Seconds or an HTTP date; at most a day. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Math.min(longestWaitMs, Number(header) * 1000);
  // `Date.parse` also accepts texts such as `-5`.
  const date = /^\s*[a-z]{3,9},? .*\d\d:\d\d:\d\d/i.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(date) ? undefined : Math.min(longestWaitMs, Math.max(0, date - nowMs));
}

const longestText = 2000;

/** All text from servers comes in through here: one printable line of at most 200 characters. */
export function shownText(text: string): string {
  const line = visibleLine(text.slice(0, longestText)).trim();
  // {@link hideSecrets} needs to see where a text is cut.
  return line.length > 200 || text.length > longestText ? `${line.slice(0, 200)}…` : line;
}

export function failureFromSocketError(
  error: unknown,
  what?: string,
  unreadable?: ErrorClass,
): ConnectFailure {
  if (error instanceof ConnectFailure) return error;
  const words = textOfSystemError(error);
  const text = what === undefined ? words : `${what}: ${words}`;
  return new ConnectFailure(classOfSystemError(error, unreadable), text);
}

export function failureFromRequestError(
  error: unknown,
  what: string,
  url: URL,
  isLate: boolean,
): ConnectFailure {
  if (!isLate || error instanceof ConnectFailure)
    return failureFromSocketError(error, what, what === 'negotiate' ? what : 'protocol');
  return new ConnectFailure('timeout', `${what}: no answer from ${shownUrl(url.href)} in time`);
}

export const refusedHandshake = (said: string): ConnectFailure =>
  new ConnectFailure('handshake', `handshake refused: ${shownText(said)}`);

export const shownError = (error: unknown): string =>
  shownText(error instanceof Error ? error.message : String(error));

/** Without user info, query and fragment. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return '(not a URL)';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
