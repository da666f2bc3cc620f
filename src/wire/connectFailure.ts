import { maxHeaderSize, type IncomingMessage } from 'node:http';
import type { ErrorClass } from '../base/errorClass';
import { visibleLine } from '../base/text';

export class ConnectFailure extends Error {
  /** @param retryAfterMs pause the server asked for */
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
  /** Whether another request had got a connection id before. */
  hasNegotiated = false;

  constructor(
    status: number,
    readonly request: Request,
    message: string,
    retryAfter: string | undefined,
  ) {
    super(classOfStatus(status, request), message, retryAfterMs(retryAfter, Date.now()));
  }
}

/** What an answer with an unwanted status means. @param what was asked for, in the text */
export function failureOfAnswer(
  what: string,
  { statusCode = 0, statusMessage = '', headers }: IncomingMessage,
  url: URL,
  request: Request = 'request',
): ConnectFailure {
  const text = `${what}: ${shownUrl(url.href)} answered ${statusCode} ${shownText(statusMessage)}`;
  return new StatusFailure(statusCode, request, text.trimEnd(), headers['retry-after']);
}

/** A hub redirects to a host that nobody has agreed to put load on. */
export class LeavesHosts extends ConnectFailure {
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

/** Nobody has given the connection an identity: another try would find none either, until it is asked for again. */
export class NoIdentity extends ConnectFailure {}

/** Classes that another try may cure. */
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
  // Who does not know a connection id, too old or of another instance, may know the next.
  if (failure.errorClass === 'notFound')
    return failure instanceof StatusFailure && failure.hasNegotiated;
  if (failure instanceof LeavesHosts || failure instanceof NoIdentity) return false;
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

/** Code of the error of a request that was answered with another protocol. */
export const switchedProtocols = 'SWITCHED_PROTOCOLS';

/** Class of an error that Node reported for a socket or a request. */
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

/** What Node says of an answer whose end did not come. */
const isCut = (error: unknown): boolean => (error as { message?: unknown }).message === 'aborted';

/** Words for an error that Node reported, where its own would puzzle people. */
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
  // From version 24 on Node advises a flag of its own.
  return shownText(text.replace(/; if the root CA is installed locally.*/, ''));
}

/** Class of an HTTP status that is not the one wanted; `fallback` says which request it was. */
export function classOfStatus(status: number, fallback: Request): ErrorClass {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404) return 'notFound';
  if (status === 429) return 'throttled';
  return fallback;
}

const slowConsumer =
  /too slow|slow ?(consumer|client)|send buffer|waiting to be (sent|read)|were waiting/i;

/** The end of a connection by the server, with what it said. */
export function failureOfClosing(how: string, said: string): ConnectFailure {
  const text = shownText(said);
  const errorClass = slowConsumer.test(text) ? 'slowConsumer' : 'closed';
  return new ConnectFailure(errorClass, text === '' ? how : `${how}: ${text}`);
}

/** A day: timers bear no more than 24 of them, and then fire at once. */
const longestWaitMs = 24 * 3600 * 1000;

/** Milliseconds of a Retry-After header, seconds or an HTTP date; at most a day, undefined without. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Math.min(longestWaitMs, Number(header) * 1000);
  // Not every text that is taken for a date is one: -5 would be the May of 2001.
  const date = /^\s*[a-z]{3,9},? .*\d\d:\d\d:\d\d/i.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(date) ? undefined : Math.min(longestWaitMs, Math.max(0, date - nowMs));
}

/** What is looked at of a text from a server; more is never shown. */
const longestText = 2000;

/** Text from a server as it may be shown: one line, printable, short. All of it comes in through here. */
export function shownText(text: string): string {
  const line = visibleLine(text.slice(0, longestText)).trim();
  // Who takes secrets out of it has to see where it is cut.
  return line.length > 200 || text.length > longestText ? `${line.slice(0, 200)}…` : line;
}

/**
 * Why a socket was lost; tunnels through proxies say it themselves.
 * @param what was asked for, in the text
 * @param unreadable class of an answer that is no HTTP, or has more headers than are read
 */
export function failureOfSocket(
  error: unknown,
  what?: string,
  unreadable?: ErrorClass,
): ConnectFailure {
  if (error instanceof ConnectFailure) return error;
  const words = textOfSystemError(error);
  const text = what === undefined ? words : `${what}: ${words}`;
  return new ConnectFailure(classOfSystemError(error, unreadable), text);
}

/** The same of a request. @param isLate whether it was given up because it took too long */
export function failureOfRequest(
  error: unknown,
  what: string,
  url: URL,
  isLate: boolean,
): ConnectFailure {
  if (!isLate || error instanceof ConnectFailure)
    return failureOfSocket(error, what, what === 'negotiate' ? what : 'protocol');
  return new ConnectFailure('timeout', `${what}: no answer from ${shownUrl(url.href)} in time`);
}

/** What a server said to a handshake that it does not accept. */
export const refusedHandshake = (said: string): ConnectFailure =>
  new ConnectFailure('handshake', `handshake refused: ${shownText(said)}`);

export const shownError = (error: unknown): string =>
  shownText(error instanceof Error ? error.message : String(error));

/** A URL as it may be shown and stored: no user info, no query, no fragment. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return '(not a URL)';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
