import assert from 'node:assert/strict';
import { once } from 'node:events';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import {
  startAzureSignalr,
  type AzureSignalr,
} from '../../../../src/servers/azureSignalr/serviceEmulator';
import { serviceType } from '../../../../src/wire/service/serviceMessage';
import { EmulatorPeer } from '../../../fakes/emulatorPeer';
import { ScriptedAppServer } from '../../../fakes/scriptedAppServer';
import { hubClient } from './hubClients';

const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));
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
  const handshake = '{"protocol":"messagepack","version":1}\x1e';

  it('hands anything from clients on to their app server, byte for byte', async () => {
    const server = await ScriptedAppServer.connect(peer, 'chat');
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          bytes.filter(({ length }) => length > 0),
          { minLength: 1, maxLength: 5 },
        ),
        async (pieces) => {
          await throwAt(client, [Buffer.from(handshake), ...pieces]);
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
});
