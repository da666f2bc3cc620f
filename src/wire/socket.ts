import * as dns from 'node:dns';
import * as net from 'node:net';
import * as tls from 'node:tls';
import type { Endpoint } from './endpoint';

/** Who gets what a socket receives. */
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
): net.Socket {
  const secure = url.protocol === 'https:';
  const options = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (secure ? 443 : 80)),
    noDelay: true,
    lookup: cachedLookup,
    onread: {
      buffer: receiveBuffer,
      callback: onRead,
    },
  };
  const socket = secure
    ? tls.connect({ ...options, ...tlsOptions(options.host, endpoint) })
    : net.connect(options);
  (socket as OwnedSocket)[owner] = who;
  socket.on('error', onError);
  socket.on('close', onClose);
  socket.once(secure ? 'secureConnect' : 'connect', connected);
  return socket;
}

function tlsOptions(host: string, endpoint: Endpoint): tls.ConnectionOptions {
  return {
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ...(endpoint.ca === undefined ? {} : { ca: endpoint.ca }),
    rejectUnauthorized: !endpoint.insecureTls,
    ALPNProtocols: ['http/1.1'],
  };
}

/** How long an address is believed: thousands of connects must not be thousands of look-ups. */
const lookupLifetimeMs = 10_000;
const lookups = new Map<string, { untilMs: number; addresses: Promise<dns.LookupAddress[]> }>();

/** Looks a host up once for all connects of the next seconds. */
const cachedLookup: net.LookupFunction = (host, options, callback) => {
  const nowMs = performance.now();
  let entry = lookups.get(host);
  if (entry === undefined || entry.untilMs < nowMs) {
    entry = {
      untilMs: nowMs + lookupLifetimeMs,
      addresses: dns.promises.lookup(host, { all: true }),
    };
    lookups.set(host, entry);
  }
  entry.addresses.then(
    (addresses) => {
      const first = addresses[0]!;
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    },
    (error: unknown) => {
      lookups.delete(host);
      callback(error as NodeJS.ErrnoException, '', 0);
    },
  );
};
