import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { getOrCreate } from '../../base/collect';
import { hubMessageType } from '../../wire/message/hubMessage';
import {
  isHubMessage,
  type Direction,
  type OpenEvent,
  type RecordedEvent,
  type RecordedKind,
  type RecordedMessage,
  type RecordedTransport,
} from '../recording';
import { mostOwnHeaders, ownHeaders } from '../recording';
import type { TrafficListener } from './traffic';

export interface RecordedCounts {
  readonly clients: number;
  readonly everSeen: number;
  readonly messages: { readonly out: number; readonly in: number };
  readonly bytes: { readonly out: number; readonly in: number };
  readonly unknown: number;
  readonly refused?: Refusal;
  readonly calls: readonly CountedName[];
  readonly callbacks: readonly CountedName[];
}

export interface Refusal {
  readonly path: string;
  readonly status: number;
}

export interface CountedName {
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
}

const maximumNames = 200;
const others = '(others)';
const mostTokens = 10_000;

class NameCounts {
  private readonly counts = new Map<string, { count: number; bytes: number }>();

  add(name: string, bytes: number): void {
    const isFull = !this.counts.has(name) && this.counts.size >= maximumNames;
    const entry = getOrCreate(this.counts, isFull ? others : name, () => ({ count: 0, bytes: 0 }));
    entry.count += 1;
    entry.bytes += bytes;
  }

  list(): CountedName[] {
    const all = [...this.counts].map(([name, counted]) => ({ name, ...counted }));
    return all.sort((a, b) => b.count - a.count);
  }
}

type Opening = Pick<OpenEvent, 'transport' | 'path' | 'query' | 'headers' | 'token' | 'cookies'>;

export interface RecordedClient extends TrafficListener {
  /** @param code of the web socket, 1005 for none */
  closed(code?: number, reason?: string): void;
}

export class Recorder {
  private clients = 0;
  private everSeen = 0;
  private unknown = 0;
  private readonly messages = { out: 0, in: 0 };
  readonly bytes = { out: 0, in: 0 };
  private latestRefusal: Refusal | undefined;
  private readonly negotiatedWith = new Set<string>();
  private negotiatedWithToken = false;
  /** By digest: tokens are not kept. */
  private readonly tokens = new Map<string, number>();
  private readonly calls = new NameCounts();
  private readonly callbacks = new NameCounts();

  /** @param onEvent `kind` is what the client speaks @param target the hub, or a service */
  constructor(
    private readonly onEvent: (event: RecordedEvent, kind: RecordedKind) => void,
    private readonly target?: URL,
    private readonly nowUs = clockFromNow(),
  ) {}

  /** Browsers send headers of the application with negotiate alone: they count for later clients. */
  negotiated(headerNames: readonly string[], url: URL): void {
    // With a service a client negotiates a second time, with the token it was given.
    if (headerNames.includes('authorization') && !this.isOfService(url))
      this.negotiatedWithToken = true;
    for (const name of ownHeaders(headerNames))
      if (this.negotiatedWith.size < mostOwnHeaders) this.negotiatedWith.add(name);
  }

  private tokenOf({ headers }: IncomingMessage, url: URL): Pick<OpenEvent, 'tokenNumber'> {
    const token = headers.authorization ?? url.searchParams.get(accessToken);
    if (token === null || this.isOfService(url)) return {};
    const digest = createHash('sha256')
      .update(token.replace(/^Bearer\s+/i, ''))
      .digest('base64');
    const known = this.tokens.get(digest);
    if (known === undefined && this.tokens.size >= mostTokens) return {};
    const tokenNumber = known ?? this.tokens.size + 1;
    this.tokens.set(digest, tokenNumber);
    return { tokenNumber };
  }

  /** A hub of an application may have such a path, too. */
  private isOfService(url: URL): boolean {
    const { target } = this;
    const isTarget = target !== undefined && url.origin === target.origin && !isServicePath(target);
    return isServicePath(url) && !isTarget;
  }

  answered(path: string, status: number): void {
    if (status >= 400) this.latestRefusal = { path: path.slice(0, 200), status };
  }

  client(
    request: IncomingMessage,
    url: URL,
    transport: RecordedTransport,
    kind: RecordedKind,
  ): RecordedClient {
    const opening = openingOf(request, url, transport);
    const came = {
      ...(this.isOfService(url) ? withoutToken(opening, this.negotiatedWithToken) : opening),
      ...this.tokenOf(request, url),
    };
    const headers = [...new Set([...(came.headers ?? []), ...this.negotiatedWith])];
    return this.add(kind, headers.length === 0 ? came : { ...came, headers });
  }

  add(kind: RecordedKind, opening: Omit<OpenEvent, 't' | 'client' | 'ev' | 'protocol'>) {
    const client = (this.everSeen += 1);
    this.clients += 1;
    let isOpen = true;
    let endingReason: string | undefined;
    const report = (event: RecordedEvent): void => this.onEvent(event, kind);
    const added: RecordedClient = {
      opened: (protocol) => report({ t: this.nowUs(), client, ev: 'open', protocol, ...opening }),
      message: (direction, message, bytes) => {
        this.count(direction, nameOf(message), bytes);
        report({ t: this.nowUs(), client, ev: direction, m: message, bytes });
      },
      raw: (direction, bytes, why) => {
        this.countBytes(direction, bytes);
        this.unknown += 1;
        report({ t: this.nowUs(), client, ev: direction, raw: bytes, why });
      },
      ending: (reason) => (endingReason = reason),
      closed: (code, reason = endingReason) => {
        if (!isOpen) return;
        isOpen = false;
        this.clients -= 1;
        const said = endingReason || reason;
        report({
          t: this.nowUs(),
          client,
          ev: 'close',
          ...(code !== undefined && { code }),
          ...(said && { reason: said }),
        });
      },
    };
    return added;
  }

  counts(): RecordedCounts {
    return {
      clients: this.clients,
      everSeen: this.everSeen,
      messages: { ...this.messages },
      bytes: { ...this.bytes },
      unknown: this.unknown,
      refused: this.latestRefusal,
      calls: this.calls.list(),
      callbacks: this.callbacks.list(),
    };
  }

  private countBytes(direction: Direction, bytes: number): void {
    this.messages[direction] += 1;
    this.bytes[direction] += bytes;
  }

  private count(direction: Direction, name: string | undefined, bytes: number): void {
    this.countBytes(direction, bytes);
    if (name !== undefined) (direction === 'out' ? this.calls : this.callbacks).add(name, bytes);
  }
}

const clockFromNow = (): (() => number) => {
  const startMs = performance.now();
  return () => Math.round((performance.now() - startMs) * 1000);
};

/** Undefined for answers and pings. */
function nameOf(message: RecordedMessage): string | undefined {
  if (isHubMessage(message)) {
    const { type } = message;
    return type === hubMessageType.invocation || type === hubMessageType.streamInvocation
      ? message.target
      : undefined;
  }
  const { type, event, group, from } = message;
  switch (type) {
    case 'event':
    case 'invoke':
      return `${type} ${event ?? ''}`;
    case 'sendToGroup':
    case 'joinGroup':
    case 'leaveGroup':
      return type;
    case 'message':
      return group === undefined ? `message from ${from ?? 'the server'}` : 'message of a group';
    default:
      return undefined;
  }
}

const accessToken = 'access_token';

/** A service makes a token for each client. */
const isServicePath = ({ pathname }: URL): boolean => /^\/clients?(?:\/|$)/.test(pathname);

/** @param hadOwn the application sent its own token with negotiate */
function withoutToken({ token: _token, query, ...others }: Opening, hadOwn: boolean): Opening {
  return {
    ...others,
    query: query.filter((name) => name !== accessToken),
    ...(hadOwn && { token: true }),
  };
}

/** Names only: values of headers and query parameters are not kept. */
function openingOf({ headers }: IncomingMessage, url: URL, transport: RecordedTransport): Opening {
  const query = [...new Set(url.searchParams.keys())].slice(0, 50);
  const own = ownHeaders(Object.keys(headers));
  const hasToken = headers.authorization !== undefined || query.includes(accessToken);
  return {
    transport,
    path: url.pathname,
    query,
    ...(own.length > 0 && { headers: own }),
    ...(hasToken && { token: true }),
    ...(headers.cookie !== undefined && { cookies: true }),
  };
}
