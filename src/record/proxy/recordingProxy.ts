import { createServer, ServerResponse, type IncomingMessage, type Server } from 'node:http';
import { isIP, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ExpectedError } from '../../base/expectedError';
import { isLoopbackHost } from '../../base/endpoint';
import { failureFromSocketError } from '../../wire/connectFailure';
import {
  connectSocket,
  SocketAgents,
  type SocketOwner,
  type SocketSettings,
} from '../../wire/socket/socket';
import type { RecordedEvent, RecordedKind } from '../recording';
import { HttpClients } from './httpClients';
import { answerHeaders, preflightAnswer, requestHeaders, upgradeHeaders } from './passedHeaders';
import { ProxiedServers, type RoutedRequest } from './proxiedServers';
import { Recorder, type RecordedCounts } from './recorder';
import { forwardSockets, tapWebSocket } from './webSocketTap';
import { parseObject } from '../../wire/message/jsonScan';
import { PendingBytes } from '../../wire/socket/frameReader';

export interface RecordingProxyOptions {
  /** The hub, or an endpoint that tells clients where theirs is. */
  readonly target: URL;
  readonly port: number;
  readonly way: SocketSettings;
  readonly trustAdvice?: string;
  readonly onEvent: (event: RecordedEvent, kind: RecordedKind) => void;
  /** `target-unreachable` or {@link unknownCertificateCode}. */
  readonly onProblem: (problem: ExpectedError) => void;
}

export const unknownCertificateCode = 'target-certificate';
export interface Trust extends Pick<SocketSettings, 'ca' | 'insecureTls'> {
  readonly caFile?: string;
}

const connectTimeoutMs = 10_000;
const portRefusals: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'is already in use. Stop what listens there, or choose another port (0 takes any free one).',
  EACCES: 'may not be listened on by this account. Choose a port from 1024, or 0 for any free one.',
};

/**
 * Stands on loopback in place of a hub: passes everything on unchanged, and reads it afterwards, so that reading holds up
 * nothing.
 */
export class RecordingProxy {
  /** The second listens on ::1, which some programs use for `localhost`. */
  private readonly servers: readonly Server[];
  private readonly places: ProxiedServers;
  private readonly recorder: Recorder;
  private readonly way: SocketSettings;
  private readonly agents: SocketAgents;
  private readonly clients: HttpClients;
  private readonly endings = new Set<() => void>();
  private port = 0;
  private isOver = false;

  private constructor(private readonly options: RecordingProxyOptions) {
    this.places = new ProxiedServers(options.target);
    this.recorder = new Recorder(options.onEvent, options.target);
    this.way = { ...options.way };
    this.agents = new SocketAgents(this.way, Infinity);
    this.clients = new HttpClients(this.recorder);
    this.servers = [0, 1].map(() => {
      const server = createServer({ keepAliveTimeout: 130_000, requestTimeout: 0 });
      server.on('request', (request, response) => this.answer(request, response));
      server.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
      return server;
    });
  }

  /** @throws ExpectedError `target-unreachable`, {@link unknownCertificateCode}, `port-taken`, `port-refused` */
  static async start(options: RecordingProxyOptions): Promise<RecordingProxy> {
    await reach(options);
    const proxy = new RecordingProxy(options);
    const [first, second] = proxy.servers;
    proxy.port = await listen(first!, options.port);
    await listenToo(second!, proxy.port);
    return proxy;
  }

  /** Has the target's name where that is on this machine: browsers separate cookies of `localhost` and `127.0.0.1`. */
  get url(): string {
    const { hostname, pathname, search } = this.options.target;
    const host = isLoopbackHost(hostname) && isIP(hostname) !== 6 ? hostname : 'localhost';
    const isV6 = hostname.startsWith('[');
    return `http://${isV6 ? 'localhost' : host}:${this.port}${pathname}${search}`;
  }

  counts(): RecordedCounts {
    return this.recorder.counts();
  }

  trust(trust: Trust): void {
    Object.assign(this.way, trust);
  }

  async dispose(): Promise<void> {
    this.isOver = true;
    const closed = this.servers.map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    );
    for (const end of [...this.endings]) end();
    this.clients.dispose();
    for (const server of this.servers) server.closeAllConnections();
    this.agents.destroy();
    await Promise.all(closed);
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    const wanted = this.wantedBy(request, response);
    const preflight = wanted && preflightAnswer(request, this.options.target.origin);
    if (preflight !== undefined) response.writeHead(204, preflight).end();
    else if (wanted !== undefined) this.ask(wanted, request, response);
  }

  /** Undefined when it was refused. */
  private wantedBy(request: IncomingMessage, response: ServerResponse): RoutedRequest | undefined {
    const refusal = refusalOf(request);
    const wanted = refusal === undefined ? this.places.find(request.url ?? '') : undefined;
    if (wanted === undefined)
      refuse(response, refusal === undefined ? 404 : 403, refusal ?? 'There is nothing here.');
    return wanted;
  }

  private ask(wanted: RoutedRequest, request: IncomingMessage, response: ServerResponse): void {
    const { url, isHub } = wanted;
    const isRead = isHub || isNegotiate(url);
    if (isNegotiate(url)) this.recorder.negotiated(Object.keys(request.headers), url);
    const way = { url, target: this.options.target.origin, isRead };
    const { method } = request;
    const upstream = this.agents.request(url, { method, headers: requestHeaders(request, way) });
    upstream.setNoDelay(true);
    const tap = isHub ? this.clients.tapOf(request, url) : undefined;
    upstream.on('error', (error) => this.failed(response, url, error));
    upstream.on('response', (answer) => {
      const headers = this.headersOf(request, answer, wanted);
      if (isRead) this.recorder.answered(url.pathname, answer.statusCode ?? 502);
      answer.on('error', () => response.destroy());
      if (isRead && tap === undefined && isShortText(answer)) {
        this.answerRead(request, response, { answer, headers });
        return;
      }
      begin(response, answer, headers);
      tap?.answered?.(answer);
      pass(answer, response, (chunk) => tap?.received?.(chunk));
      answer.on('end', () => tap?.ended?.());
    });
    response.on('close', () => {
      if (response.writableFinished) return;
      upstream.destroy();
      tap?.abandoned?.();
    });
    pass(request, upstream, (chunk) => tap?.sent?.(chunk));
    request.on('end', () => tap?.allSent?.());
  }

  private headersOf(request: IncomingMessage, answer: IncomingMessage, { place }: RoutedRequest) {
    const own = request.headers.host ?? '';
    return answerHeaders(request, answer, {
      place,
      target: this.options.target.origin,
      addressOf: (text) => this.places.addressOf(text, own, false),
    });
  }

  /** An answer that may tell the client another address. */
  private answerRead(
    request: IncomingMessage,
    response: ServerResponse,
    { answer, headers }: { answer: IncomingMessage; headers: string[] },
  ): void {
    const body = new PendingBytes();
    const take = (chunk: Buffer): void => {
      body.append(chunk);
      if (body.length <= maximumAnswerBytes) return;
      answer.off('data', take);
      answer.off('end', end);
      begin(response, answer, headers);
      response.write(body.take());
      pass(answer, response);
    };
    const end = (): void => {
      const own = request.headers.host ?? '';
      const whole = body.take();
      const read = readNamedAddresses(whole, (text) => this.places.addressOf(text, own, true));
      if (read.connectionId !== undefined) this.clients.expect(read.connectionId);
      const passed = read.body ?? whole;
      const lengthAt = headers.findIndex(
        (name, at) => at % 2 === 0 && name.toLowerCase() === 'content-length',
      );
      if (lengthAt >= 0) headers[lengthAt + 1] = String(passed.length);
      begin(response, answer, headers);
      response.end(passed);
    };
    answer.on('data', take);
    answer.on('end', end);
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    response.assignSocket(socket as Socket);
    // Node forwards it no more after the upgrade.
    socket.on('drain', () => response.emit('drain'));
    response.on('finish', () => socket.end(() => socket.destroy()));
    response.on('error', () => undefined);
    const wanted = this.wantedBy(request, response);
    if (wanted === undefined) return;
    const { url, isHub } = wanted;
    const way = { url, target: this.options.target.origin };
    const headers = upgradeHeaders(request, way, isHub);
    const upstream = this.agents.request(url, { method: 'GET', headers });
    upstream.on('error', (error) => this.failed(response, url, error));
    upstream.on('response', (answer) => {
      this.recorder.answered(url.pathname, answer.statusCode ?? 502);
      answer.on('error', () => socket.destroy());
      const passed = this.headersOf(request, answer, wanted);
      begin(response, answer, [...passed, 'Connection', 'close']);
      pass(answer, response);
    });
    upstream.on('upgrade', (answer, server: Duplex, serverHead: Buffer) => {
      response.detachSocket(socket as Socket);
      socket.write(switchText(answer, this.headersOf(request, answer, wanted)));
      const { recorder } = this;
      const tap = isHub ? tapWebSocket(request, answer, { url, recorder }) : undefined;
      const endBoth = forwardSockets(
        { client: socket, server, clientHead: head, serverHead },
        {
          bytes: (direction, chunk) => tap?.bytes(direction, chunk),
          ended: () => {
            this.endings.delete(endBoth);
            tap?.ended();
          },
        },
      );
      this.endings.add(endBoth);
    });
    socket.on('close', () => upstream.destroy());
    upstream.end();
  }

  private failed(response: ServerResponse, url: URL, error: Error): void {
    if (response.destroyed) return;
    if (response.headersSent) response.destroy();
    else refuse(response, 502, this.problemOf(url, error));
  }

  private problemOf(url: URL, error: Error): string {
    const problem = failureAt(url, error, this.options.trustAdvice);
    if (!this.isOver) this.options.onProblem(problem);
    return problem.message;
  }
}

const isNegotiate = (url: URL): boolean => /\/negotiate\/?$/i.test(url.pathname);

/** Uncompressed JSON, or text that may be a URL. */
function isShortText({ headers, statusCode }: IncomingMessage): boolean {
  return (
    statusCode === 200 &&
    /^(?:application\/json|text\/plain)\b/i.test(headers['content-type'] ?? '') &&
    headers['content-encoding'] === undefined &&
    Number(headers['content-length'] ?? 0) <= maximumAnswerBytes
  );
}

/** Shows bytes only after passing them on. */
function pass(
  from: IncomingMessage,
  to: NodeJS.WritableStream,
  shown: (chunk: Buffer) => void = () => undefined,
): void {
  to.on('drain', () => from.resume());
  from.on('data', (chunk: Buffer) => {
    if (!to.write(chunk)) from.pause();
    shown(chunk);
  });
  from.on('end', () => to.end());
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' });
  response.end(text);
}

function begin(
  response: ServerResponse,
  { statusCode = 502, statusMessage }: IncomingMessage,
  headers: string[],
): void {
  response.writeHead(statusCode, statusMessage, headers);
  response.flushHeaders();
}

function switchText({ statusMessage = '' }: IncomingMessage, headers: readonly string[]): string {
  const all = [...headers, 'Connection', 'Upgrade', 'Upgrade', 'websocket'];
  const lines = all.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : []));
  return `HTTP/1.1 101 ${statusMessage}\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/**
 * Refuses host names other than localhost: a page could point a name of its own at this machine (DNS rebinding). Addresses are
 * allowed: emulators of phones have their own for this machine.
 */
function refusalOf({ headers: { host } }: IncomingMessage): string | undefined {
  const hostname =
    host !== undefined && /^[\w.:[\]-]+$/.test(host) && URL.canParse(`http://${host}`)
      ? new URL(`http://${host}`).hostname
      : '';
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || isLoopbackHost(hostname)) return undefined;
  return 'This proxy is for programs on this machine: the Host of a request has to be localhost or an address.';
}

/** Codes of Node and OpenSSL (Node.js documentation, "X509 certificate error codes" of TLS). */
const certificateProblem = /^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_CERT_)/;

function failureAt({ origin }: URL, cause: Error, trustAdvice = ''): ExpectedError {
  const { message, errorClass } = failureFromSocketError(cause);
  const isUnknown = certificateProblem.test((cause as NodeJS.ErrnoException).code ?? '');
  const todo = isUnknown
    ? trustAdvice
    : errorClass === 'refused' || errorClass === 'dns'
      ? 'Start the hub, or correct the address.'
      : '';
  const text = `Cannot connect to ${origin}: ${message}. ${todo}`.trimEnd();
  return new ExpectedError(isUnknown ? unknownCertificateCode : 'target-unreachable', text, {
    cause,
  });
}

/** Connects once, so that a wrong name, port or certificate shows at the start. */
async function reach({ target, way, trustAdvice }: RecordingProxyOptions): Promise<void> {
  const nothing = (): void => undefined;
  const probe: SocketOwner = { onBytes: nothing, onSocketError: nothing, onSocketClose: nothing };
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const late = new Error(`no answer in ${connectTimeoutMs / 1000} s`);
      timer = setTimeout(() => reject(late), connectTimeoutMs);
      probe.onSocketError = reject;
      connectSocket(target, way, probe, resolve);
    });
  } catch (cause) {
    throw failureAt(target, cause as Error, trustAdvice);
  } finally {
    clearTimeout(timer);
    probe.socket?.destroy();
  }
}

async function listen(server: Server, port: number): Promise<number> {
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, resolve);
  });
  await listening.catch((cause: unknown) => {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const why = portRefusals[code];
    if (why === undefined) throw cause;
    const name = code === 'EADDRINUSE' ? 'port-taken' : 'port-refused';
    throw new ExpectedError(name, `Port ${port} on 127.0.0.1 ${why}`, { cause });
  });
  return (server.address() as AddressInfo).port;
}

/** Optional: the machine may have no IPv6, or the port may be taken there. */
async function listenToo(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve) => {
    server.once('error', () => resolve());
    server.listen({ host: '::1', port, ipv6Only: true }, resolve);
  });
}

/** Answers of negotiate are much shorter. */
const maximumAnswerBytes = 64 * 1024;

interface ReadAnswer {
  readonly body?: Buffer;
  /** Id that clients over HTTP put into their requests. */
  readonly connectionId?: string;
}

/**
 * Finds addresses in an answer: `url` of SignalR's negotiate (transport protocols, "POST endpoint-base/negotiate request"), or
 * a client URL of Azure Web PubSub anywhere in the text.
 * @param addressOf its address at the proxy
 */
function readNamedAddresses(
  body: Buffer,
  addressOf: (url: string) => string | undefined,
): ReadAnswer {
  const text = body.toString('utf8');
  const fields = parseObject(text);
  const url = fields?.['url'];
  const address = typeof url === 'string' ? addressOf(url) : undefined;
  if (address !== undefined)
    return { body: Buffer.from(JSON.stringify({ ...fields, url: address })) };
  const id = fields?.['connectionToken'] ?? fields?.['connectionId'];
  if (typeof id === 'string') return { connectionId: id };
  const replaced = text.replace(
    clientUrl,
    (start) => addressOf(start)?.replace(/\/$/, '') ?? start,
  );
  return replaced === text ? {} : { body: Buffer.from(replaced) };
}

/** The beginning of a client URL; JSON may escape its slashes. */
const clientUrl = /wss?:\/\/[\w.:[\]-]+(?=\/clients?\/)/gi;
