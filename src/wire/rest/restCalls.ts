import type { Endpoint, ServiceAccess, SigningKey } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { services, type AzureService } from '../../base/serviceTraits';
import { AccessTokens, tokenLifeS, type ClientTokens } from '../connect/accessTokens';
import {
  errorClassForStatus,
  ConnectFailure,
  failureFromSocketError,
  retryAfterMs,
  shownText,
} from '../connectFailure';
import { jsonCodec } from '../message/hubCodec';
import {
  JsonLayoutBuilder,
  type MessageShape,
  type HoleLengths,
  type MessageLayout,
} from '../message/messageLayout';
import { parseObject, type JsonObject } from '../message/jsonScan';
import { holeLengths, MessageTemplate } from '../message/messageTemplate';
import { SocketAgents } from '../socket/socket';

export type RestReceiver =
  | { readonly kind: 'all' }
  | { readonly kind: 'user'; readonly index: number }
  | { readonly kind: 'connection'; readonly id: string }
  | { readonly kind: 'group'; readonly group: string };

/** Per worker. HTTP/1.1 has one call at a time on each, so this many calls run in a round trip. */
export const maximumSockets = 256;
const maximumWaiting = 10_000;
const answerTimeoutMs = 10_000;
const maximumPauseMs = 60_000;
/** Lifetime of our tokens, and `ttl` of "Add a user to the target group". */
const membershipS = 24 * 3600;
const maximumAnswerBytes = 64 * 1024;

const runIsOver: ServiceFailure = { errorClass: 'closed', text: 'REST: the run is over' };

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  readonly path: string;
  readonly query?: string;
  readonly body?: Buffer | (() => Buffer);
  readonly settle: (outcome: Outcome) => void;
}

/**
 * REST calls to one hub over a pool of sockets. A call is never repeated: a refused message is a lost message. After
 * 429 the next call waits as long as the service asks. Source: "Azure SignalR Service data plane REST API reference"
 * and "Azure Web PubSub REST API reference".
 */
export class RestCalls {
  private readonly agents: SocketAgents;
  private readonly base: URL;
  private readonly query: string;
  private readonly hubPath: string;
  private readonly waiting: Call[] = [];
  private inFlight = 0;
  private pausedUntilMs = 0;
  private throttled = false;
  private pauseTimer: NodeJS.Timeout | undefined;
  private closed = false;
  private readonly settled = ({ failure }: Outcome): void => {
    if (failure !== undefined) this.refused(failure);
  };

  /** @param refused gets the error of a message @param freed is called when {@link takesMessages} has become true */
  constructor(
    endpoint: Endpoint,
    private readonly access: ServiceAccess,
    private readonly tokens = new AccessTokens(access),
    private readonly refused: (failure: ServiceFailure) => void = () => undefined,
    private readonly freed: () => void = () => undefined,
  ) {
    this.base = new URL(access.restUrl);
    this.query = `api-version=${services[access.kind].apiVersion}`;
    this.hubPath = `/api/hubs/${encodeURIComponent(access.hub)}`;
    this.agents = new SocketAgents(endpoint, maximumSockets);
  }

  template(shape: MessageShape): MessageTemplate {
    const codec = { ...jsonCodec, layout: restBodyLayout(this.access.kind) };
    return MessageTemplate.of(shape, holeLengths(undefined), codec, false);
  }

  /**
   * Whether a socket is free. After a 429 messages are taken all the same, since that wait is the service's doing.
   */
  get takesMessages(): boolean {
    return this.throttled || this.inFlight < maximumSockets;
  }

  /** Accepted does not mean delivered. @param body makes the body when the call leaves, if it does */
  send(receiver: RestReceiver, body: () => Buffer): void {
    this.begin({ ...this.sendingTo(receiver), body, settle: this.settled });
  }

  sendAndWait(receiver: RestReceiver, body: Buffer): Promise<Refusal> {
    return this.done({ ...this.sendingTo(receiver), body });
  }

  /** @param member connection id, or the index of a user; the service forgets users after a day instead of a year */
  changeGroup(method: 'PUT' | 'DELETE', member: string | number, group: string): Promise<Refusal> {
    const groupPath = `groups/${encodeURIComponent(group)}`;
    const path =
      typeof member === 'number'
        ? `${this.receiverPath({ kind: 'user', index: member })}/${groupPath}`
        : `${this.hubPath}/${groupPath}/connections/${encodeURIComponent(member)}`;
    const isRemembered = services[this.access.kind].remembersUsers && typeof member === 'number';
    const query = isRemembered && method === 'PUT' ? `ttl=${membershipS}&` : undefined;
    return this.done({ method, path, ...(query !== undefined && { query }) });
  }

  health(): Promise<Refusal> {
    return this.done({ method: 'HEAD', path: '/api/health' });
  }

  /** `notFound` says that the group is empty. */
  groupExists(group: string): Promise<Refusal> {
    const path = this.receiverPath({ kind: 'group', group });
    return this.done({ method: 'HEAD', path });
  }

  /** A token that the service issues. @param signal ends the wait for it */
  async clientToken(index: number, signal?: AbortSignal): Promise<string | ServiceFailure> {
    const query = new URLSearchParams({
      userId: this.tokens.userOf(index),
      minutesToExpire: String(tokenLifeS / 60),
    });
    for (const role of this.tokens.roles) query.append('role', role);
    const path = `${this.hubPath}/:generateToken`;
    const asked = await this.answer(
      { method: 'POST', path, query: `${query.toString()}&` },
      signal,
    );
    if ('failure' in asked) return asked.failure;
    const { token } = asked.answer;
    return typeof token === 'string' && token !== '' ? token : unreadable('token');
  }

  /** A key that Azure SignalR Service lends for 90 minutes, to sign tokens of clients. */
  async signingKey(): Promise<SigningKey | ServiceFailure> {
    const asked = await this.answer({ method: 'GET', path: '/api/v1/auth/accessKey' });
    if ('failure' in asked) return asked.failure;
    const { keyId, accessKey, KeyId: id = keyId, AccessKey: text = accessKey } = asked.answer;
    const isKey = typeof id === 'string' && typeof text === 'string' && text !== '';
    return isKey ? { id, text } : unreadable('key');
  }

  /** Only emulators have this call. */
  registerHandler(url: string): Promise<Refusal> {
    const { handlerEvents } = services[this.access.kind];
    const body = Buffer.from(JSON.stringify({ url, ...handlerEvents }), 'utf8');
    return this.done({ method: 'PUT', path: this.handlerPath, body });
  }

  unregisterHandler(): Promise<Refusal> {
    return this.done({ method: 'DELETE', path: this.handlerPath });
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.pauseTimer);
    this.agents.destroy();
    for (const call of this.waiting.splice(0)) call.settle({ failure: runIsOver });
  }

  private outcome(call: Omit<Call, 'settle'>, signal?: AbortSignal): Promise<Outcome> {
    return new Promise((settle) => {
      const asked = { ...call, settle };
      signal?.addEventListener('abort', () => this.giveUp(asked), { once: true });
      if (signal?.aborted === true) this.giveUp(asked);
      else this.begin(asked);
    });
  }

  private async done(call: Omit<Call, 'settle'>): Promise<Refusal> {
    return (await this.outcome(call)).failure;
  }

  private async answer(
    call: Omit<Call, 'settle'>,
    signal?: AbortSignal,
  ): Promise<{ readonly failure: ServiceFailure } | { readonly answer: JsonObject }> {
    const { failure, answer: text = '' } = await this.outcome(call, signal);
    if (failure !== undefined) return { failure };
    const answer = parseObject(text);
    return answer === undefined ? { failure: unreadable('JSON object') } : { answer };
  }

  private get handlerPath(): string {
    return `/emulator/hubs/${encodeURIComponent(this.access.hub)}/handler`;
  }

  private sendingTo(receiver: RestReceiver): Pick<Call, 'method' | 'path'> {
    return { method: 'POST', path: `${this.receiverPath(receiver)}/:send` };
  }

  private receiverPath(receiver: RestReceiver): string {
    switch (receiver.kind) {
      case 'all':
        return this.hubPath;
      case 'user':
        return `${this.hubPath}/users/${this.tokens.userOf(receiver.index)}`;
      case 'connection':
        return `${this.hubPath}/connections/${encodeURIComponent(receiver.id)}`;
      case 'group':
        return `${this.hubPath}/groups/${encodeURIComponent(receiver.group)}`;
    }
  }

  private begin(call: Call): void {
    if (this.closed) {
      call.settle({ failure: runIsOver });
    } else if (this.waiting.length >= maximumWaiting) {
      const text = `${maximumWaiting} REST calls were waiting for the service to answer`;
      call.settle({ failure: { errorClass: 'blocked', text } });
    } else {
      this.waiting.push(call);
      this.pump();
    }
  }

  private giveUp(call: Call): void {
    const at = this.waiting.indexOf(call);
    if (at >= 0) this.waiting.splice(at, 1);
    const name = call.path.slice(call.path.lastIndexOf('/') + 1);
    const text = `REST: ${name} was not answered in time`;
    call.settle({ failure: { errorClass: 'timeout', text } });
  }

  private pump(): void {
    if (this.pauseTimer !== undefined) return;
    const pauseMs = this.pausedUntilMs - performance.now();
    if (pauseMs > 0) {
      this.pauseTimer = setTimeout(() => {
        this.pauseTimer = undefined;
        this.pump();
      }, pauseMs);
      return;
    }
    while (this.inFlight < maximumSockets && !this.closed) {
      const call = this.waiting.shift();
      if (call === undefined) {
        this.throttled = false;
        return;
      }
      this.inFlight += 1;
      const end = (outcome: Outcome): void => {
        this.inFlight -= 1;
        call.settle(outcome);
        this.pump();
        if (this.inFlight === maximumSockets - 1) this.freed();
      };
      this.carryOut(call).then(end, (error: unknown) => end(failed(error)));
    }
  }

  private async carryOut(call: Call): Promise<Outcome> {
    const token = await this.tokens.forRest(call.path);
    // A new socket would outlive the others.
    if (this.closed) return { failure: runIsOver };
    const { base } = this;
    const { method, query = '' } = call;
    const body = typeof call.body === 'function' ? call.body() : call.body;
    const { response, body: said } = await this.agents.exchange(base, {
      // The audience of tokens is the path at the service, not at a gateway.
      path: `${base.pathname.replace(/\/$/, '')}${call.path}?${query}${this.query}`,
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Length': body?.length ?? 0,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body,
      timeoutMs: answerTimeoutMs,
      maximumBytes: maximumAnswerBytes,
    });
    const status = response.statusCode ?? 0;
    const answer = said.toString('utf8');
    if (status >= 200 && status < 300) return { answer };
    if (status === 429) this.pause(response.headers['retry-after']);
    const text = `REST: ${method} answered ${status}${reasonIn(answer)}`;
    return { failure: { errorClass: errorClassForStatus(status, 'request'), text, status } };
  }

  /** One second where the service does not say: it promises no Retry-After. */
  private pause(retryAfter: string | undefined): void {
    const pauseMs = Math.min(maximumPauseMs, retryAfterMs(retryAfter, Date.now()) ?? 1000);
    this.throttled = true;
    this.pausedUntilMs = Math.max(this.pausedUntilMs, performance.now() + pauseMs);
  }
}

function failed(error: unknown): Outcome {
  const { errorClass, message } = failureFromSocketError(error);
  return { failure: { errorClass, text: `REST: ${message}` } };
}

interface Outcome {
  readonly failure?: ServiceFailure;
  readonly answer?: string;
}

const unreadable = (what: string): ServiceFailure => ({
  errorClass: 'protocol',
  text: `REST: the answer holds no ${what}`,
});

function reasonIn(answer: string): string {
  const message = parseObject(answer)?.['message'];
  return typeof message === 'string' && message !== '' ? `: ${shownText(message)}` : '';
}

/** An invocation of the callback where clients speak a hub protocol, else the payload. */
export const restBodyLayout =
  (kind: AzureService) =>
  (shape: MessageShape, lengths: HoleLengths): MessageLayout => {
    const pieces = new JsonLayoutBuilder(lengths);
    const { speaksHub } = services[kind];
    if (speaksHub) pieces.raw(`{"target":${JSON.stringify(shape.method)},"arguments":[`);
    pieces.list(shape.arguments);
    if (speaksHub) pieces.raw(']}');
    return pieces.layout();
  };

type Refusal = ServiceFailure | undefined;

export interface ServiceFailure {
  readonly errorClass: ErrorClass;
  readonly text: string;
  readonly status?: number;
}

/** Azure Web PubSub issues tokens itself for a signed-in application, which has no key. */
export class IssuedTokens implements ClientTokens {
  readonly areIssued = true;

  constructor(private readonly calls: Pick<RestCalls, 'clientToken'>) {}

  async forClient(index: number, signal: AbortSignal): Promise<string> {
    const issued = await this.calls.clientToken(index, signal);
    if (typeof issued === 'string') return issued;
    throw new ConnectFailure(issued.errorClass, issued.text);
  }
}
