import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { listenOnLoopback, type Peer } from './loadPeers';
import { certificate, certificateKey } from './rawHub';

export { certificate as testCertificate } from './rawHub';

/** Something before a hub that hands on what comes, and keeps what clients said first. */
export interface Front extends Peer {
  /** First bytes of each connection: the request with its headers. */
  readonly requests: readonly string[];
}

/** Starts a front before the hub; with `tls` clients have to speak TLS to it. */
export async function startFront(hubUrl: string, { tls = false } = {}): Promise<Front> {
  const requests: string[] = [];
  const { port, pathname } = new URL(hubUrl);
  const handOn = (client: Socket): void => {
    const hub = connect(Number(port), '127.0.0.1');
    client.once('data', (chunk: Buffer) => requests.push(chunk.toString('latin1')));
    for (const socket of [client, hub]) socket.on('error', () => undefined);
    client.once('close', () => hub.destroy());
    hub.once('close', () => client.destroy());
    client.pipe(hub).pipe(client);
  };
  const server: Server = tls
    ? createTlsServer({ cert: certificate, key: certificateKey }, handOn)
    : createServer(handOn);
  // A client that does not trust the certificate is no failure of the test.
  server.on('tlsClientError', () => undefined);
  const peer = await listenOnLoopback(server, pathname);
  const url = tls ? peer.url.replace('http:', 'https:') : peer.url;
  return { ...peer, url, requests };
}
