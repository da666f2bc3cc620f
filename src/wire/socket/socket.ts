/** Sockets: direct or by a proxy, with TLS, HTTP agents, and the frames of WebSockets on them. */
import * as dns from 'node:dns';
import * as net from 'node:net';
import * as tls from 'node:tls';
import type { ConnectPhase, PhaseTimes, Endpoint } from '../../base/endpoint';
import { proxyFor, TunnelStream } from './proxy';
import * as http from 'node:http';
import * as https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { ConnectFailure, switchedProtocols } from '../connectFailure';

export type WaySettings = Pick<
  Endpoint,
  'proxies' | 'ca' | 'clientCertificate' | 'insecureTls' | 'localAddresses'
>;

export interface SocketOwner {
  /** Bytes from the socket lie in `buffer[0…length)` and are valid only during the call. */
  onBytes(buffer: Buffer, length: number): void;
  onSocketError(error: Error): void;
  onSocketClose(): void;
}

const owner = Symbol('owner');
type OwnedSocket = net.Socket & { [owner]: SocketOwner };

/** All sockets of a thread read into this one buffer: no Buffer object per read, no memory per idle connection. */
const receiveBuffer = Buffer.allocUnsafeSlow(256 * 1024);

// Functions shared by all sockets, so that a connection costs no closures. Node calls them on the socket.
function onRead(this: OwnedSocket, length: number, buffer: Uint8Array): boolean {
  this[owner].onBytes(buffer as Buffer, length);
  return true;
}
function onError(this: OwnedSocket, error: Error): void {
  this[owner].onSocketError(error);
}
function onClose(this: OwnedSocket): void {
  this[owner].onSocketClose();
}

/** Connects to the host of a `http:` or `https:` URL; `connected` is called once, when bytes may be sent. */
export function connectSocket(
  url: URL,
  endpoint: Endpoint,
  who: SocketOwner,
  connected: () => void,
  stopwatch?: ConnectStopwatch,
): net.Socket {
  const onread = { buffer: receiveBuffer, callback: onRead };
  const socket = openSocket(url, endpoint, stopwatch, { onread });
  (socket as OwnedSocket)[owner] = who;
  // `onread` is for sockets of the system only.
  if (proxyFor(url, endpoint.proxies) !== undefined) socket.on('data', onData);
  socket.on('error', onError);
  socket.on('close', onClose);
  socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected);
  return socket;
}

/** A socket to the host of a `http:` or `https:` URL, through the proxy where there is one. */
export function openSocket(
  url: URL,
  way: WaySettings,
  stopwatch?: ConnectStopwatch,
  reading: Pick<net.TcpSocketConnectOpts, 'onread'> = {},
): net.Socket {
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (secure ? 443 : 80));
  const direct = { host, port, noDelay: true, lookup: cachedLookup, ...source(way), ...reading };
  const proxy = proxyFor(url, way.proxies);
  const tunnel = proxy === undefined ? undefined : new TunnelStream(proxy, url);
  // In place of a socket a tunnel has all of one that connections use.
  const socket = secure
    ? tls.connect({
        ...(tunnel === undefined ? direct : { socket: tunnel }),
        ...tlsOptions(host, way),
      })
    : ((tunnel as unknown as net.Socket | undefined) ?? net.connect(direct));
  if (secure) tunnel?.on('error', (error) => socket.destroy(error));
  if (stopwatch !== undefined) timeSocket(socket, tunnel, secure, stopwatch);
  return socket;
}

let sourced = 0;

/** Where the next socket comes from. */
function source({ localAddresses }: WaySettings): { localAddress?: string; family?: number } {
  if (localAddresses === undefined) return {};
  const localAddress = localAddresses[sourced++ % localAddresses.length]!;
  return { localAddress, family: net.isIP(localAddress) };
}

/** Reports the phases of a socket. An address that is no name is not looked up, and leaves no listener behind. */
function timeSocket(
  socket: net.Socket,
  tunnel: TunnelStream | undefined,
  secure: boolean,
  stopwatch: ConnectStopwatch,
): void {
  const lookedUp = (): void => stopwatch.done('dns');
  socket.once('lookup', lookedUp);
  // With a proxy the way to it, and its own to the target, are one phase.
  (tunnel ?? socket).once('connect', () => {
    socket.off('lookup', lookedUp);
    stopwatch.done('tcp');
  });
  if (secure) socket.once('secureConnect', () => stopwatch.done('tls'));
}

function onData(this: OwnedSocket, chunk: Buffer): void {
  this[owner].onBytes(chunk, chunk.length);
}

function tlsOptions(host: string, way: WaySettings): tls.ConnectionOptions {
  const { ca, clientCertificate, insecureTls } = way;
  return {
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...clientCertificate,
    rejectUnauthorized: !insecureTls,
    ALPNProtocols: ['http/1.1'],
  };
}

/** How long an address is believed: thousands of connects must not be thousands of look-ups. */
const lookupLifetimeMs = 10_000;
const lookups = new Map<string, { untilMs: number; addresses: Promise<dns.LookupAddress[]> }>();

const cachedLookup: net.LookupFunction = (host, options, callback) => {
  const nowMs = performance.now();
  let entry = lookups.get(host);
  if (entry === undefined || entry.untilMs < nowMs) {
    for (const [name, { untilMs }] of lookups) if (untilMs < nowMs) lookups.delete(name);
    entry = {
      untilMs: nowMs + lookupLifetimeMs,
      addresses: dns.promises.lookup(host, { all: true }),
    };
    lookups.set(host, entry);
  }
  entry.addresses.then(
    (all) => {
      const { family } = options;
      const isUsable = (address: dns.LookupAddress): boolean =>
        (family !== 4 && family !== 6) || address.family === family;
      const addresses = all.filter(isUsable);
      const [first] = addresses;
      if (first === undefined)
        callback(
          Object.assign(new Error(`no address of ${host} in IPv${family}`), { code: 'ENOTFOUND' }),
          '',
          0,
        );
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    },
    (error: unknown) => {
      lookups.delete(host);
      callback(error as NodeJS.ErrnoException, '', 0);
    },
  );
};

/** Splits the time of one try to connect: each phase lasts from the end of the one before it. */
export class ConnectStopwatch {
  readonly us: PhaseTimes = {};
  private sinceMs = performance.now();

  done(phase: ConnectPhase): void {
    const nowMs = performance.now();
    this.us[phase] = (nowMs - this.sinceMs) * 1000;
    this.sinceMs = nowMs;
  }
}

/** Servers close a socket that was idle for seconds; one that was in use is not closed for that. */
const leastIdleMs = 1000;
const freeSinceMs = new WeakMap<object, number>();
/** Requests whose socket had really been idle before. */
const afterIdle = new WeakSet<http.ClientRequest>();

/**
 * Whether a request, of whose answer nothing has come, met a socket closed while idle: then it is sent once more, as
 * browsers do (RFC 9112, 9.3.1). One that sends messages only where the socket really was idle: else the server may have
 * had them, and they would come twice by our own doing.
 */
export function metClosedSocket(
  request: http.ClientRequest,
  { code }: NodeJS.ErrnoException,
  sendsMessages: boolean,
): boolean {
  const isGone = code === 'ECONNRESET' || code === 'EPIPE';
  return isGone && request.reusedSocket && (!sendsMessages || afterIdle.has(request));
}

type SocketOptions = http.ClientRequestArgs & { readonly stopwatch?: ConnectStopwatch | undefined };

/**
 * Makes HTTP requests, and keeps their sockets open between them. Its sockets are those of
 * {@link openSocket}, which knows proxies, certificates and authorities.
 */
export class SocketAgents {
  private readonly agents = new Map<string, http.Agent>();

  constructor(
    private readonly way: WaySettings,
    private readonly maximumSockets: number,
  ) {}

  /**
   * Begins a request; an answer in another protocol is an error, unless somebody listens for `upgrade`.
   * @throws ConnectFailure when a header cannot be sent
   */
  request(url: URL, options: SocketOptions): http.ClientRequest {
    const { protocol } = url;
    let agent = this.agents.get(protocol);
    if (agent === undefined) {
      agent = this.agentOf(protocol);
      this.agents.set(protocol, agent);
    }
    let request: http.ClientRequest;
    try {
      // Not by `http.request`: VS Code has one of its own for extensions, with other agents and without https here.
      request = new http.ClientRequest({ ...urlToHttpOptions(url), ...options, agent });
    } catch (error) {
      throw unsendable(error);
    }
    request.once('socket', (socket) => {
      const freeMs = freeSinceMs.get(socket) ?? Infinity;
      if (performance.now() - freeMs >= leastIdleMs) afterIdle.add(request);
    });
    // Without a listener the request would end without a word.
    request.once('upgrade', (_answer, socket) => {
      if (request.listenerCount('upgrade') > 0) return;
      socket.destroy();
      const error = new Error('the server switches to another protocol');
      request.emit('error', Object.assign(error, { code: switchedProtocols }));
    });
    return request;
  }

  destroy(): void {
    for (const agent of this.agents.values()) agent.destroy();
  }

  private agentOf(protocol: string): http.Agent {
    const agent = new (protocol === 'https:' ? https : http).Agent({
      keepAlive: true,
      maxSockets: this.maximumSockets,
      maxFreeSockets: this.maximumSockets,
      scheduling: 'lifo',
    });
    agent.on('free', (socket: object) => freeSinceMs.set(socket, performance.now()));
    agent.createConnection = ({ host, port, stopwatch }: SocketOptions) => {
      const name = host ?? 'localhost';
      const url = new URL(`${protocol}//${name.includes(':') ? `[${name}]` : name}:${port ?? ''}`);
      return openSocket(url, this.way, stopwatch);
    };
    return agent;
  }
}

/** What Node says before it sends anything: headers and tokens come from outside, so it is no defect. */
function unsendable(error: unknown): Error {
  const { code } = error as { code?: unknown };
  if (code !== 'ERR_INVALID_CHAR' && code !== 'ERR_INVALID_HTTP_TOKEN') {
    return error instanceof Error ? error : new Error(String(error));
  }
  return new ConnectFailure(
    'negotiate',
    'negotiate: a configured header or token contains a line break or control character',
  );
}

/** The whole body of an answer. @throws ConnectFailure as `tooLong` when it is longer than `limit` bytes */
export async function bodyOf(
  response: http.IncomingMessage,
  limit: number,
  tooLong: () => ConnectFailure,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
