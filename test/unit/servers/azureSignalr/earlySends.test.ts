import assert from 'node:assert/strict';
import {
  startAzureSignalr,
  type AzureSignalr,
} from '../../../../src/servers/azureSignalr/serviceEmulator';
import { framePayload } from '../../../../src/servers/hubProtocol/serverProtocol';
import { jsonProtocol, messagePackProtocol } from '../../../../src/servers/hubProtocol/protocols';
import {
  serviceType,
  type Payloads,
  type ServiceMessage,
} from '../../../../src/wire/service/serviceMessage';
import { EmulatorPeer } from '../../../fakes/emulatorPeer';
import { ScriptedAppServer } from '../../../fakes/scriptedAppServer';
import { handshake, RawClient } from '../rawClient';
import { hubClient, kinds, notesOf, type HubClient } from './hubClients';

const { connectionData, groupBroadcastData, joinGroup, multiConnectionData } = serviceType;
const {
  ack,
  broadcastData,
  checkConnectionExistenceWithAck,
  closeConnection,
  openConnection,
  userData,
} = serviceType;

/** An invocation of `note`, in both hub protocols. */
function note(text: string): Payloads {
  return [jsonProtocol, messagePackProtocol].map(
    (protocol) => [protocol.name, framePayload(protocol.callbackFrame('note', text))] as const,
  );
}

const answer = (connectionId: string, text = '{}\x1e'): ServiceMessage => ({
  type: connectionData,
  connectionId,
  payload: Buffer.from(text),
  dataType: 1,
  isPartial: false,
});

describe('what a hub sends before a client has the answer to its handshake', () => {
  let service: AzureSignalr;
  let peer: EmulatorPeer;
  let server: ScriptedAppServer;
  const clients: HubClient[] = [];
  const raw: RawClient[] = [];

  async function start(maxUnreadBytes?: number): Promise<void> {
    service = await startAzureSignalr(maxUnreadBytes === undefined ? {} : { maxUnreadBytes });
    peer = new EmulatorPeer(service.connectionString);
    server = await ScriptedAppServer.connect(peer, 'chat');
  }
  afterEach(async () => {
    await Promise.all(clients.splice(0).map(({ connection }) => connection.stop()));
    for (const { socket } of raw.splice(0)) socket.terminate();
    await service.dispose();
    server.socket.terminate();
  });

  /** A client that has sent its hub handshake, and its id. */
  async function waiting(): Promise<{ client: RawClient; id: string }> {
    const token = await peer.token('/client/?hub=chat', { 'asrs.s.uid': 'ann' });
    const client = await RawClient.open(`${peer.url}/client/?hub=chat&access_token=${token}`);
    raw.push(client);
    client.socket.send(handshake);
    return { client, id: (await server.next(openConnection)).connectionId };
  }

  // As the SDK of .NET does with `Clients.Caller` in `OnConnectedAsync`.
  it('reaches every client, over every transport and in both protocols', async () => {
    await start();
    for (let count = 0; count < kinds.length; count++) {
      const client = await hubClient(peer, 'chat', kinds[count]);
      clients.push(client);
      const starting = client.connection.start();
      const { connectionId } = await server.next(openConnection);
      server.send(
        { type: multiConnectionData, connectionIds: [connectionId], payloads: note('hello') },
        answer(connectionId),
        { type: multiConnectionData, connectionIds: [connectionId], payloads: note('again') },
      );
      await starting;
    }
    const notes = await Promise.all(clients.map((client) => notesOf(client, 2)));
    assert.deepEqual(notes, Array(kinds.length).fill([['hello'], ['again']]));
  });

  it('waits behind the answer, in its order, however it was sent', async () => {
    await start();
    const { client, id } = await waiting();
    server.send(
      { type: joinGroup, connectionId: id, groupName: 'g' },
      { type: multiConnectionData, connectionIds: [id], payloads: note('connection') },
      { type: groupBroadcastData, groupName: 'g', payloads: note('group') },
      { type: userData, userId: 'ann', payloads: note('user') },
      { type: broadcastData, payloads: note('all') },
      { type: checkConnectionExistenceWithAck, connectionId: id, ackId: 1 },
    );
    assert.equal((await server.next(ack)).status, 1);
    const rest = { target: 'note', arguments: ['rest'] };
    assert.equal((await peer.rest('POST', '/api/hubs/chat/:send', rest)).status, 202);
    assert.deepEqual(client.texts, []);
    // The answer may have company, which was written after all of these.
    const own = framePayload(jsonProtocol.resultFrame('1', 'own')).toString();
    server.send(answer(id, `{}\x1e${own}`), { type: broadcastData, payloads: note('last') });
    const texts: string[] = [];
    for (let count = 0; count < 8; count++) texts.push(await client.text());
    assert.equal(texts[0], '{}');
    assert.equal(`${texts[6]}\x1e`, own);
    const values = [...texts.slice(1, 6), ...texts.slice(7)].map(
      (text) => (JSON.parse(text) as { arguments: string[] }).arguments[0],
    );
    assert.deepEqual(values, ['connection', 'group', 'user', 'all', 'rest', 'last']);
  });

  it('is forgotten when the hub refuses the handshake', async () => {
    await start();
    const { client, id } = await waiting();
    server.send(
      { type: broadcastData, payloads: note('early') },
      answer(id, '{"error":"no"}\x1e'),
      { type: closeConnection, connectionId: id, errorMessage: '' },
    );
    await client.closed;
    assert.deepEqual(client.texts, ['{"error":"no"}']);
  });

  for (const [bound, maxUnreadBytes, sends] of [
    ['bytes', 1000, 1000],
    ['messages', 1_000_000, 1001],
  ] as const) {
    it(`is bounded in ${bound}: a client that is never answered learns why it is closed`, async () => {
      await start(maxUnreadBytes);
      const { client, id } = await waiting();
      const message = { type: broadcastData, payloads: note('x'.repeat(80)) } as const;
      server.send(...Array<typeof message>(sends).fill(message));
      assert.equal(await client.closed, 1008);
      const { error = '' } = await client.message();
      assert.match(error, new RegExp(`1000 messages or ${maxUnreadBytes} bytes were waiting`));
      const closed = await server.next(closeConnection);
      assert.deepEqual([closed.connectionId, closed.errorMessage], [id, error]);
      assert.deepEqual(client.texts, []);
    });
  }
});
