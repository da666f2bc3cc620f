import type { HttpTransport } from '../../base/endpoint';
import { HttpRequests } from '../http/httpChannel';
import type { HubCodec } from '../message/hubCodec';
import type { Negotiated } from '../socket/upgrade';
import { requestUrl, type ClassicTerms } from './classicNegotiation';
import type { ClassicState } from './classicState';

/** Where a connection is, and what for. */
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

/** The requests of one connection: each has its command, and in its query what the server has to know. */
export class ClassicRequests extends HttpRequests {
  /** What the next request that brings messages asks for. */
  receiving: Command = 'connect';

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
    return { ...super.stream(), path: pathOf(this.url(this.receiving)) };
  }

  override poll(): ReturnType<HttpRequests['poll']> {
    const path = pathOf(this.url(this.receiving));
    return { method: 'POST', path, headers: [...this.headers(), 'Content-Length', '0'] };
  }

  /** One call, in the one field of a form that servers read. */
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
