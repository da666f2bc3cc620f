import { HubMessageError } from '../message/hubMessage';
import {
  hasMessagesOnly,
  isAnswer,
  usualCursorAt,
  usualCursorEnd,
  walkFrame,
} from './classicCodec';
import type { HttpTransport } from '../../base/endpoint';
import { HttpRequests } from '../http/httpChannel';
import type { HubCodec } from '../message/hubCodec';
import type { Negotiated } from '../socket/upgrade';
import { requestUrl, type ClassicTerms } from './classicNegotiation';

export interface FrameControl {
  /** `S`: the server knows the connection now. */
  readonly initialized: boolean;
  /** `T`: the client has to reconnect. */
  readonly reconnects: boolean;
  /** `D`, of servers before 2.0: the connection is over. */
  readonly disconnects: boolean;
  /** `E` without an id: an error of the whole connection. */
  readonly error?: string;
  /** `L`: pause before the next poll. */
  readonly pollDelayMs: number;
}

/** Both go into URLs: what is longer could not be sent anyway. */
const longestCursor = 8192;
const longestGroupsToken = 16_384;
const longestDelayMs = 60_000;

/**
 * What a client of ASP.NET SignalR needs to reconnect: how far it has read, and a token for its groups. Source: the
 * clients of SignalR/SignalR, `ClientTransportBase.ProcessResponse` and `UrlBuilder`.
 */
export class ClassicState {
  private cursor = Buffer.alloc(0);
  private cursorLength = 0;
  private groups = '';

  get messageId(): string | undefined {
    return this.cursorLength === 0 ? undefined : this.cursor.toString('utf8', 0, this.cursorLength);
  }

  get groupsToken(): string | undefined {
    return this.groups === '' ? undefined : this.groups;
  }

  /**
   * @returns undefined for a frame of messages alone @throws HubMessageError when the frame is no JSON object, or a
   * token is too long
   */
  note(buffer: Buffer, start: number, end: number): FrameControl | undefined {
    const cursorEnd = usualCursorEnd(buffer, start, end);
    if (hasMessagesOnly(buffer, cursorEnd, end)) {
      this.keep(buffer, start + usualCursorAt, cursorEnd);
      return undefined;
    }
    if (isAnswer(buffer, start) || isKeepAlive(buffer, start, end)) return undefined;
    return this.noteRare(buffer, start, end);
  }

  private noteRare(buffer: Buffer, start: number, end: number): FrameControl | undefined {
    const found = new Map<string, unknown>();
    const behind = walkFrame(buffer, start, end, (key, from, to) => {
      // Completions of any length begin with other letters, too.
      if (names.has(key)) found.set(key, valueIn(buffer, from, to));
    });
    if (behind < 0) throw new HubMessageError('a frame is not a JSON object');
    if (found.has('I')) return undefined;
    const { C: cursor, G: groups, S, T, D, E: error, L } = Object.fromEntries(found);
    if (typeof cursor === 'string') {
      const bytes = Buffer.from(cursor, 'utf8');
      this.keep(bytes, 0, bytes.length);
    }
    if (typeof groups === 'string') this.keepGroups(groups);
    return {
      initialized: S === 1,
      reconnects: T === 1,
      disconnects: D === 1,
      ...(typeof error === 'string' && { error }),
      pollDelayMs: typeof L === 'number' && L > 0 ? Math.min(L, longestDelayMs) : 0,
    };
  }

  /** Byte by byte: a cursor is short, and comes with every frame. */
  private keep(from: Buffer, start: number, end: number): void {
    const length = end - start;
    if (length > longestCursor)
      throw new HubMessageError(`a message id is longer than ${longestCursor} bytes`);
    if (length > this.cursor.length) this.cursor = Buffer.alloc(Math.max(48, 2 * length));
    const { cursor } = this;
    for (let at = 0; at < length; at++) cursor[at] = from[start + at]!;
    this.cursorLength = length;
  }

  private keepGroups(token: string): void {
    if (token.length > longestGroupsToken)
      throw new HubMessageError(`a groups token is longer than ${longestGroupsToken} characters`);
    this.groups = token;
  }
}

const isKeepAlive = (buffer: Buffer, start: number, end: number): boolean =>
  end - start === 2 && buffer[start] === 0x7b && buffer[start + 1] === 0x7d;

const names = new Set(['C', 'G', 'S', 'T', 'D', 'E', 'L', 'I']);

function valueIn(buffer: Buffer, start: number, end: number): unknown {
  if (end - start > 2 * longestGroupsToken)
    throw new HubMessageError('a frame has too long a member');
  try {
    return JSON.parse(buffer.toString('utf8', start, end)) as unknown;
  } catch {
    throw new HubMessageError('a frame is not a JSON object');
  }
}

export interface ClassicPlace {
  readonly where: Negotiated;
  readonly terms: ClassicTerms;
  readonly hub: string;
}

const transportNames = {
  WebSockets: 'webSockets',
  ServerSentEvents: 'serverSentEvents',
  LongPolling: 'longPolling',
} as const;

export type Command = 'connect' | 'reconnect' | 'poll' | 'start' | 'send' | 'abort';
const receives: ReadonlySet<Command> = new Set<Command>(['reconnect', 'poll']);

export class ClassicRequests extends HttpRequests {
  nextCommand: Command = 'connect';

  constructor(
    private readonly place: ClassicPlace,
    codec: HubCodec,
    private readonly memory: ClassicState,
    private readonly transport: HttpTransport | undefined,
  ) {
    super(place.where, codec);
  }

  url(command: Command): URL {
    const { place, memory, transport = 'WebSockets' } = this;
    const url = requestUrl(this.where.url, command, place.hub);
    url.searchParams.set('transport', transportNames[transport]);
    url.searchParams.set('connectionToken', place.terms.connectionToken);
    if (receives.has(command)) {
      const { messageId, groupsToken } = memory;
      if (messageId !== undefined) url.searchParams.set('messageId', messageId);
      if (groupsToken !== undefined) url.searchParams.set('groupsToken', groupsToken);
    }
    return url;
  }

  override stream(): ReturnType<HttpRequests['stream']> {
    return { ...super.stream(), path: pathOf(this.url(this.nextCommand)) };
  }

  override poll(): ReturnType<HttpRequests['poll']> {
    const path = pathOf(this.url(this.nextCommand));
    return { method: 'POST', path, headers: [...this.headers(), 'Content-Length', '0'] };
  }

  override post(call: Buffer): ReturnType<HttpRequests['post']> {
    const body = Buffer.from(`data=${encodeURIComponent(call.toString('utf8'))}`, 'latin1');
    const headers = [...this.headers(), 'Content-Type', formType];
    headers.push('Content-Length', String(body.length));
    return { method: 'POST', path: pathOf(this.url('send')), headers, body };
  }

  override next(waiting: Buffer[]): Buffer {
    return waiting.shift()!;
  }

  override remove(): ReturnType<HttpRequests['remove']> {
    const headers = [...this.headers(), 'Content-Length', '0'];
    return { method: 'POST', path: pathOf(this.url('abort')), headers };
  }
}

const formType = 'application/x-www-form-urlencoded; charset=UTF-8';
const pathOf = ({ pathname, search }: URL): string => pathname + search;
