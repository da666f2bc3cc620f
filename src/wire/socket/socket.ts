import * as dns from 'node:dns';
import * as net from 'node:net';
import * as tls from 'node:tls';
import type { ConnectPhase, PhaseTimes, Endpoint } from '../../base/endpoint';
import { openTunnel, proxyFor, type SocketCallback } from './proxy';
import * as http from 'node:http';
import * as https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { ConnectFailure, switchedProtocols } from '../connectFailure';
import { type HeldBytes, PendingBytes } from './frameReader';

export type SocketSettings = Pick<
  Endpoint,
  'proxies' | 'ca' | 'clientCertificate' | 'insecureTls' | 'localAddresses'
>;

export interface SocketOwner {
  /** Set by {@link connectSocket}; destroying it ends the attempt to connect, too. */
  socket?: net.Socket;
  onBytes(buffer: Buffer, length: number): void;
  onSocketError(error: Error): void;
  onSocketClose(): void;
}

const owner = Symbol('owner');
type OwnedSocket = net.Socket & { [owner]: SocketOwner };

/** All sockets of a thread read into this one buffer: no Buffer object per read, no memory per idle connection. */
const receiveBuffer = Buffer.allocUnsafeSlow(256 * 1024);

// Shared by all sockets, so that a connection costs no closures. Node calls them with the socket as `this`.
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

export function connectSocket(
  url: URL,
  way: SocketSettings,
  who: SocketOwner,
  connected: () => void,
  stopwatch?: ConnectStopwatch,
): void {
  const opening = proxyFor(url, way.proxies) && new AbortController();
  if (opening !== undefined) who.socket = new net.Socket().once('close', () => opening.abort());
  const opened: SocketCallback = (error, socket) => {
    if (opening?.signal.aborted === true) socket?.destroy();
    else if (socket === undefined) who.onSocketError(error!);
    else {
      who.socket = socket;
      (socket as OwnedSocket)[owner] = who;
      // `onread` is for sockets of the system only.
      if (opening !== undefined) socket.on('data', onData);
      socket.on('error', onError);
      socket.on('close', onClose);
      if (socket.connecting || socket instanceof tls.TLSSocket)
        socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected);
      else connected();
    }
  };
  const onread = { buffer: receiveBuffer, callback: onRead };
  openSocket(url, way, opened, { stopwatch, onread, signals: [opening?.signal] });
}

type Opening = Pick<net.TcpSocketConnectOpts, 'onread'> & {
  readonly stopwatch?: ConnectStopwatch | undefined;
  readonly signals?: readonly (AbortSignal | undefined)[];
};

/** @param opened gets a socket that is connecting; through a proxy, one whose tunnel is open */
export function openSocket(
  url: URL,
  way: SocketSettings,
  opened: SocketCallback,
  { stopwatch, signals = [], ...reading }: Opening = {},
): void {
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (secure ? 443 : 80));
  const proxy = proxyFor(url, way.proxies);
  if (proxy === undefined) {
    const direct = { host, port, noDelay: true, lookup: cachedLookup, ...source(way), ...reading };
    const socket = secure
      ? tls.connect({ ...direct, ...tlsOptions(host, way) })
      : net.connect(direct);
    if (stopwatch !== undefined) timeSocket(socket, secure, stopwatch);
    opened(null, socket);
    return;
  }
  const tunnelled: SocketCallback = (error, tunnel) => {
    if (tunnel === undefined) {
      opened(error);
      return;
    }
    // The connection to the proxy and its tunnel are one phase.
    stopwatch?.done('tcp');
    const socket = secure ? tls.connect({ socket: tunnel, ...tlsOptions(host, way) }) : tunnel;
    if (secure) {
      tunnel.on('error', (broken) => socket.destroy(broken));
      socket.once('secureConnect', () => stopwatch?.done('tls'));
    }
    opened(null, socket);
  };
  openTunnel(proxy, url, tunnelled, AbortSignal.any(signals.filter((each) => each !== undefined)));
}

export const createConnectionWith = (
  open: (opened: SocketCallback) => void,
): typeof net.createConnection =>
  ((_options: unknown, opened: SocketCallback) =>
    open(opened)) as unknown as typeof net.createConnection;

let sourced = 0;

function source({ localAddresses }: SocketSettings): { localAddress?: string; family?: number } {
  if (localAddresses === undefined) return {};
  const localAddress = localAddresses[sourced++ % localAddresses.length]!;
  return { localAddress, family: net.isIP(localAddress) };
}

function timeSocket(socket: net.Socket, secure: boolean, stopwatch: ConnectStopwatch): void {
  const lookedUp = (): void => stopwatch.done('dns');
  socket.once('lookup', lookedUp);
  socket.once('connect', () => {
    socket.off('lookup', lookedUp);
    stopwatch.done('tcp');
  });
  if (secure) socket.once('secureConnect', () => stopwatch.done('tls'));
}

function onData(this: OwnedSocket, chunk: Buffer): void {
  this[owner].onBytes(chunk, chunk.length);
}

function tlsOptions(host: string, way: SocketSettings): tls.ConnectionOptions {
  const { ca, clientCertificate, insecureTls } = way;
  return {
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...clientCertificate,
    rejectUnauthorized: !insecureTls,
    ALPNProtocols: ['http/1.1'],
  };
}

/** Thousands of connects must not be thousands of look-ups. */
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

export class ConnectStopwatch {
  readonly us: PhaseTimes = {};
  private sinceMs = performance.now();

  done(phase: ConnectPhase): void {
    const nowMs = performance.now();
    this.us[phase] = (nowMs - this.sinceMs) * 1000;
    this.sinceMs = nowMs;
  }
}

/** Servers close sockets that were idle for seconds, not those in use. */
const leastIdleMs = 1000;
const freeSinceMs = new WeakMap<object, number>();
const afterIdle = new WeakSet<http.ClientRequest>();

/**
 * Whether a request met a socket closed while idle, so that it may be repeated (RFC 9112, 9.3.1). A request with
 * messages is repeated only if the socket really was idle: otherwise the server may have got them.
 */
export function wasIdleSocketClosed(
  request: http.ClientRequest,
  { code }: NodeJS.ErrnoException,
  sendsMessages: boolean,
): boolean {
  const isGone = code === 'ECONNRESET' || code === 'EPIPE';
  return isGone && request.reusedSocket && (!sendsMessages || afterIdle.has(request));
}

type SocketOptions = http.ClientRequestArgs & {
  readonly stopwatch?: ConnectStopwatch | undefined;
  readonly opening?: AbortSignal | undefined;
};

interface Question extends Pick<http.ClientRequestArgs, 'method' | 'path' | 'signal'> {
  readonly headers: http.OutgoingHttpHeaders;
  readonly body?: Buffer | string | undefined;
  readonly timeoutMs?: number;
  readonly maximumBytes: number;
  readonly tooLong?: () => Error;
  readonly holding?: HeldBytes;
}

interface Answer {
  readonly response: http.IncomingMessage;
  readonly body: Buffer;
}

export class SocketAgents {
  private readonly agents = new Map<string, http.Agent>();
  private over: AbortController | undefined;

  constructor(
    private readonly way: SocketSettings,
    private readonly maximumSockets: number,
  ) {}

  /**
   * A switch to another protocol is an error, unless there is a listener for `upgrade`. @throws ConnectFailure when a
   * header cannot be sent
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
      // Not `http.request`: VS Code replaces it for extensions, with other agents and without https.
      const all = { ...urlToHttpOptions(url), ...options, opening: options.signal, agent };
      request = new http.ClientRequest(all);
    } catch (error) {
      throw unsendable(error);
    }
    request.once('socket', (socket) => {
      const freeMs = freeSinceMs.get(socket) ?? Infinity;
      if (performance.now() - freeMs >= leastIdleMs) afterIdle.add(request);
    });
    // Without a listener the request would end silently.
    request.once('upgrade', (_answer, socket) => {
      if (request.listenerCount('upgrade') > 0) return;
      socket.destroy();
      const error = new Error('the server switches to another protocol');
      request.emit('error', Object.assign(error, { code: switchedProtocols }));
    });
    return request;
  }

  /** Reads the whole response. @throws ConnectFailure `timeout`, or `tooLong`; else an error of Node */
  exchange(url: URL, question: Question): Promise<Answer> {
    const { body, timeoutMs, maximumBytes, tooLong, holding, ...options } = question;
    return new Promise((resolve, reject) => {
      const request = this.request(url, options);
      const giveUp = (): void => {
        const failure = new ConnectFailure('timeout', `no answer within ${timeoutMs! / 1000} s`);
        reject(failure);
        request.destroy(failure);
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
      const fail = (error: Error): void => {
        clearTimeout(timer);
        reject(error);
      };
      let hasBegun = false;
      request.on('error', (error) => {
        if (hasBegun || !wasIdleSocketClosed(request, error, (body?.length ?? 0) > 0)) fail(error);
        else {
          clearTimeout(timer);
          resolve(this.exchange(url, question));
        }
      });
      request.on('response', (response) => {
        hasBegun = true;
        const rest = new PendingBytes(holding);
        let length = 0;
        response.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (length <= maximumBytes) rest.append(chunk);
          else if (tooLong !== undefined) response.destroy(tooLong());
        });
        response.on('error', fail);
        response.on('close', () => rest.take());
        response.on('end', () => {
          clearTimeout(timer);
          resolve({ response, body: rest.take() });
        });
      });
      request.end(body);
    });
  }

  destroy(): void {
    this.over?.abort();
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
    const createConnection = (options: SocketOptions, opened: SocketCallback): void => {
      const { host, port, stopwatch, opening } = options;
      const name = host ?? 'localhost';
      const url = new URL(`${protocol}//${name.includes(':') ? `[${name}]` : name}:${port ?? ''}`);
      const { signal: over } = (this.over ??= new AbortController());
      openSocket(url, this.way, opened, { stopwatch, signals: [opening, over] });
    };
    return Object.assign(agent, { createConnection });
  }
}

/** Headers and tokens come from outside, so this is no defect of ours. */
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
