import type { IncomingMessage } from 'node:http';
import type { Endpoint, HttpTransport } from '../../base/endpoint';
import { ConnectFailure, failureOfAnswer } from '../connectFailure';
import { HttpChannel, HttpRequests, type ChannelOwner } from '../http/httpChannel';
import type { HubCodec } from '../message/hubCodec';
import { ByteRest } from '../socket/frameReader';
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

  override remove(): ReturnType<HttpRequests['remove']> {
    const headers = [...this.headers(), 'Content-Length', '0'];
    return { method: 'POST', path: pathOf(this.url('abort')), headers };
  }
}

const formType = 'application/x-www-form-urlencoded; charset=UTF-8';
const pathOf = ({ pathname, search }: URL): string => pathname + search;

interface OutboxOwner {
  /** What the hub has answered to a call. */
  onAnswer(buffer: Buffer): void;
  onSendFailed(failure: ConnectFailure): void;
}

/** Sends one call at a time, so that order is kept; its answer comes with the answer to the request. */
export class ClassicOutbox implements ChannelOwner {
  private readonly channel: HttpChannel;
  private readonly waiting: Buffer[] = [];
  private waitingBytes = 0;
  private readonly answer = new ByteRest();
  private state: 'open' | 'ending' | 'aborting' = 'open';

  constructor(
    private readonly requests: ClassicRequests,
    endpoint: Endpoint,
    private readonly owner: OutboxOwner,
    private readonly maximumBytes: number,
  ) {
    this.channel = new HttpChannel(requests, endpoint, this);
  }

  /** Sends a copy, now or later. @returns bytes that wait for the call that is on its way */
  send(call: Buffer): number {
    const copy = Buffer.from(call);
    if (this.channel.isBusy) {
      this.waiting.push(copy);
      this.waitingBytes += copy.length;
    } else {
      this.post(copy);
    }
    return this.waitingBytes;
  }

  /** Ends the connection at the server, behind the call that is on its way, and lets go. */
  end(): void {
    this.state = 'ending';
    this.waiting.length = 0;
    if (!this.channel.isBusy) this.abort();
  }

  destroy(): void {
    this.waiting.length = 0;
    this.channel.destroy();
  }

  answerBody(bytes: Buffer): void {
    if (this.answer.length + bytes.length <= this.maximumBytes) {
      this.answer.append(bytes);
      return;
    }
    this.destroy();
    const text = `the answer to a call is above the limit of ${this.maximumBytes} bytes`;
    this.owner.onSendFailed(new ConnectFailure('protocol', text));
  }

  answerEnded(head: IncomingMessage): void {
    const { statusCode: status = 0 } = head;
    const whole = this.answer.take();
    if (this.state !== 'open') {
      if (this.state === 'ending') this.abort();
      else this.destroy();
      return;
    }
    if (status !== 200) {
      this.destroy();
      this.owner.onSendFailed(failureOfAnswer('send', head, this.requests.where.url));
      return;
    }
    // What waits leaves before the answer is looked at.
    const next = this.waiting.shift();
    if (next !== undefined) {
      this.waitingBytes -= next.length;
      this.post(next);
    }
    if (whole.length > 0) this.owner.onAnswer(whole);
  }

  requestFailed(failure: ConnectFailure): void {
    if (this.state === 'open')
      this.owner.onSendFailed(new ConnectFailure(failure.errorClass, `send: ${failure.message}`));
  }

  private post(call: Buffer): void {
    this.channel.send(() => this.requests.post(call), true);
  }

  private abort(): void {
    this.state = 'aborting';
    this.channel.send(() => this.requests.remove());
  }
}
