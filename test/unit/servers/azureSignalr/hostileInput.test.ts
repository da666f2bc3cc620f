import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import {
  startAzureSignalr,
  type AzureSignalr,
} from '../../../../src/servers/azureSignalr/serviceEmulator';
import { serviceType } from '../../../../src/wire/service/serviceMessage';
import { framed } from '../../../../src/wire/message/messagePack';
import { EmulatorPeer } from '../../../fakes/emulatorPeer';
import { ScriptedAppServer } from '../../../fakes/scriptedAppServer';
import { hubClient } from './hubClients';

const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));
/** Beginnings that lead deeper: an array with the type of a service message, with its length before it. */
const serviceBytes = fc
  .tuple(fc.integer({ min: 1, max: 45 }), fc.integer({ min: 1, max: 15 }), bytes)
  .map(([type, length, rest]) => framed([Buffer.from([0x90 | length, type]), rest]));
const hubBytes = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 7 }), bytes)
  .map(([type, length, rest]) => framed([Buffer.from([0x90 | length, type]), rest]));
const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.json({ maxDepth: 2 }),
  fc
    .dictionary(
      fc.constantFrom('type', 'target', 'arguments', 'invocationId', 'protocol'),
      fc.jsonValue(),
    )
    .map((value) => JSON.stringify(value)),
);
const bounded = { numRuns: 40 };

describe('the Azure SignalR emulator with garbage', () => {
  let service: AzureSignalr;
  let peer: EmulatorPeer;

  beforeEach(async () => {
    service = await startAzureSignalr({ upstreams: [{ url: 'http://127.0.0.1:1/' }] });
    peer = new EmulatorPeer(service.connectionString);
  });
  afterEach(async () => {
    // Whatever came before: it still serves.
    const { connection } = await hubClient(peer, 'other');
    await connection.start();
    await connection.stop();
    await service.dispose();
  });

  /** Sends all pieces over one WebSocket and leaves. */
  async function throwAt(path: string, pieces: readonly (Buffer | string)[]): Promise<void> {
    const token = await peer.token(path);
    const socket = new WebSocket(`${peer.url.replace('http', 'ws')}${path}&access_token=${token}`);
    socket.on('error', () => undefined);
    await once(socket, 'open');
    for (const piece of pieces) socket.send(piece);
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  }

  const client = '/client/?hub=chat';
  const handshakes = ['json', 'messagepack'].map(
    (protocol) => `{"protocol":"${protocol}","version":1}\x1e`,
  );

  it('takes anything from app servers', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(serviceBytes, bytes), { maxLength: 12 }),
        async (pieces) => {
          const handshake = Buffer.from('0796010100a00080', 'hex');
          await throwAt('/server/?hub=chat', [handshake, ...pieces]);
          await throwAt('/server/?hub=chat', pieces);
        },
      ),
      bounded,
    ));

  it('takes anything from clients without app server', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...handshakes, ''),
        fc.array(
          fc.oneof(
            hubBytes,
            bytes,
            text.map((json) => `${json}\x1e`),
          ),
          { maxLength: 12 },
        ),
        (handshake, pieces) => throwAt(client, [handshake, ...pieces]),
      ),
      bounded,
    ));

  it('takes anything that clients post', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...handshakes, ''),
        fc.array(fc.oneof(hubBytes, bytes), { maxLength: 5 }),
        async (handshake, pieces) => {
          const headers = { Authorization: `Bearer ${await peer.token(client)}` };
          const query = '?hub=chat&negotiateVersion=1';
          const init = { method: 'POST', headers };
          const answer = await fetch(`${peer.url}/client/negotiate${query}`, init);
          const { connectionToken } = (await answer.json()) as { connectionToken: string };
          const url = `${peer.url}${client}&id=${connectionToken}`;
          assert.equal((await fetch(url, { headers })).status, 200);
          for (const body of [handshake, ...pieces]) {
            // Who has sent nonsense is gone by the next piece.
            const { status } = await fetch(url, { ...init, body });
            assert.ok([200, 404].includes(status), String(status));
          }
          await fetch(url, { method: 'DELETE', headers });
        },
      ),
      { numRuns: 20 },
    ));

  it('hands anything from clients on to their app server, byte for byte', async () => {
    const server = await ScriptedAppServer.connect(peer, 'chat');
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          bytes.filter(({ length }) => length > 0),
          { minLength: 1, maxLength: 5 },
        ),
        async (pieces) => {
          await throwAt(client, [Buffer.from(handshakes[1]!), ...pieces]);
          const received: Buffer[] = [];
          for (const type of [serviceType.openConnection, ...pieces.map(() => 0), 0]) {
            if (type !== 0) await server.next(serviceType.openConnection);
            else received.push((await server.next(serviceType.connectionData)).payload);
          }
          await server.next(serviceType.closeConnection);
          assert.deepEqual(Buffer.concat(received.slice(1)), Buffer.concat(pieces));
        },
      ),
      bounded,
    );
    await server.close();
  });

  it('answers any REST request', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH'),
        fc.array(
          fc.oneof(fc.constantFrom('groups', 'users', ':send', 'connections'), fc.webSegment()),
          { maxLength: 5 },
        ),
        fc.oneof(
          text,
          bytes.map((raw) => raw.toString('latin1')),
        ),
        async (method, parts, body) => {
          const path = `/api/hubs/chat/${parts.join('/')}`.replace(/[?#]/g, '');
          const withBody = method === 'GET' || method === 'HEAD' ? undefined : body;
          const { status } = await peer.rest(method, path, withBody);
          assert.ok(status >= 200 && status < 500, `${status} for ${path}`);
        },
      ),
      bounded,
    ));

  it('refuses any token', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom('eyJhbGciOiJIUzI1NiJ9', 'eyJhbGciOiJub25lIn0', 'e30', ''),
        fc.oneof(
          fc.base64String({ maxLength: 40 }),
          fc.json().map((json) => Buffer.from(json).toString('base64url')),
        ),
        fc.base64String({ maxLength: 48 }),
        async (head, body, signature) => {
          const token = [head, body, signature].join('.').replace(/=/g, '');
          const { status } = await peer.rest('POST', '/api/hubs/chat/:send', '{}', token);
          assert.equal(status, 401);
          const query = `?hub=chat&access_token=${encodeURIComponent(token)}`;
          const negotiated = await fetch(`${peer.url}/client/negotiate${query}`, {
            method: 'POST',
          });
          assert.equal(negotiated.status, 401);
        },
      ),
      bounded,
    ));

  it('survives bytes that are no HTTP at all', () =>
    fc.assert(
      fc.asyncProperty(bytes, fc.boolean(), async (raw, asUpgrade) => {
        const port = Number(new URL(peer.url).port);
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => undefined);
        const head =
          'GET /client/?hub=chat HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
        const closed = once(socket, 'close');
        socket.end(asUpgrade ? Buffer.concat([Buffer.from(head), raw]) : raw);
        socket.resume();
        await closed;
      }),
      bounded,
    ));
});
