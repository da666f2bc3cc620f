import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { listenOnLoopback, type Peer } from './loadPeers';

/** Certificate of nobody but these tests, for 127.0.0.1 and localhost; valid until 2126. */
export const testCertificate = `-----BEGIN CERTIFICATE-----
MIIBrjCCAVOgAwIBAgIUKLSTtqZFGu8VGUmkSNiubc+IPkowCgYIKoZIzj0EAwIw
HTEbMBkGA1UEAwwSc2lnbmFsci1iZW5jaCB0ZXN0MCAXDTI2MTEyMTE1NTUyM1oY
DzIxMjYxMDI4MTU1NTIzWjAdMRswGQYDVQQDDBJzaWduYWxyLWJlbmNoIHRlc3Qw
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQzeuOjIBxIOIxzvwgAdo99QEXVIwmm
DLI6bZwAAvWBAplzlU1XqElYxOwrdR/da148I0kOIKTSXehJZ+uqJTjro28wbTAd
BgNVHQ4EFgQUqRMStERpJW0tnbq4QBOVU4Y8d70wHwYDVR0jBBgwFoAUqRMStERp
JW0tnbq4QBOVU4Y8d70wDwYDVR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAAB
gglsb2NhbGhvc3QwCgYIKoZIzj0EAwIDSQAwRgIhAJwPOW/hWD0ZolzD6/HaHzst
0fjJeS2VUuwKy0fQL+hsAiEAirwAegu3Ph5zbFRgs+BVeLpR+7WhrCQrsDDcSWtA
sMQ=
-----END CERTIFICATE-----
`;
const testKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPUpIMQFngiPZUPOz
ISsMKHnT8dh5y+3EDA405Bq65EOhRANCAAQzeuOjIBxIOIxzvwgAdo99QEXVIwmm
DLI6bZwAAvWBAplzlU1XqElYxOwrdR/da148I0kOIKTSXehJZ+uqJTjr
-----END PRIVATE KEY-----
`;

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
    ? createTlsServer({ cert: testCertificate, key: testKey }, handOn)
    : createServer(handOn);
  // A client that does not trust the certificate is no failure of the test.
  server.on('tlsClientError', () => undefined);
  const peer = await listenOnLoopback(server, pathname);
  const url = tls ? peer.url.replace('http:', 'https:') : peer.url;
  return { ...peer, url, requests };
}
