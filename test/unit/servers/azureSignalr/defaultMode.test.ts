import {
  startAzureSignalr,
  type AzureSignalr,
} from '../../../../src/servers/azureSignalr/serviceEmulator';
import {
  flowOperation,
  serviceType,
  type Payloads,
  type ServiceMessage,
} from '../../../../src/wire/service/serviceMessage';
import { EmulatorPeer } from '../../../fakes/emulatorPeer';
import { ScriptedAppServer } from '../../../fakes/scriptedAppServer';
import { handshake, RawClient } from '../rawClient';
import { hubClient, kinds, notesOf, type HubClient } from './hubClients';
import { ServiceFaults } from '../../../fakes/serviceFaults';
import { framePayload } from '../../../../src/servers/hubProtocol/serverProtocol';
import { jsonProtocol, messagePackProtocol } from '../../../../src/servers/hubProtocol/protocols';
import assert from 'node:assert/strict';

const json = (...values: unknown[]): Buffer =>
  Buffer.from(`${JSON.stringify({ type: 1, target: 'note', arguments: values })}\x1e`);

describe('the Azure SignalR emulator in default mode', () => {
  let service: AzureSignalr;
  let peer: EmulatorPeer;
  const clients: HubClient[] = [];
  const servers: ScriptedAppServer[] = [];

  beforeEach(async () => {
    service = await startAzureSignalr();
    peer = new EmulatorPeer(service.connectionString);
  });
  afterEach(async () => {
    await service.dispose();
    await Promise.all(clients.splice(0).map(({ connection }) => connection.stop()));
    for (const { socket } of servers.splice(0)) socket.terminate();
  });

  async function appServer(serverId = 'server', kind = 0): Promise<ScriptedAppServer> {
    const server = await ScriptedAppServer.connect(peer, 'chat', serverId, kind);
    servers.push(server);
    return server;
  }

  async function client(
    claims: Readonly<Record<string, unknown>> = {},
    kind = kinds[0] as (typeof kinds)[number],
  ): Promise<HubClient> {
    const made = await hubClient(peer, 'chat', kind, claims);
    clients.push(made);
    return made;
  }

  /** A client and its id, welcomed by an app server. */
  async function joined(
    server: ScriptedAppServer,
    claims: Readonly<Record<string, unknown>> = {},
  ): Promise<{ client: HubClient; id: string }> {
    const made = await client(claims);
    const starting = made.connection.start();
    const { connectionId } = await server.welcome();
    await starting;
    return { client: made, id: connectionId };
  }

  async function ack(server: ScriptedAppServer): Promise<readonly [number, number]> {
    const { ackId, status } = await server.next(serviceType.ack);
    return [ackId, status];
  }

  it('says to the app server who the client is', async () => {
    const server = await appServer();
    const { client: one, id } = await joined(server, { 'asrs.s.uid': 'ann', role: ['a', 'b'] });
    assert.notEqual(one.connection.connectionId, null);
    const second = await client({ nameid: 'bob' });
    const starting = second.connection.start();
    const opened = await server.welcome();
    await starting;
    assert.notEqual(opened.connectionId, id);
    assert.equal(opened.protocol, 'json');
    assert.match(opened.queryString ?? '', /^\?hub=chat&id=[\w-]+$/);
    const name = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/nameidentifier';
    assert.ok(opened.claims.some(([type, value]) => type === name && value === 'bob'));
    const headers = new Map(opened.headers);
    assert.deepEqual(headers.get('X-Forwarded-For'), ['127.0.0.1']);
    assert.equal(headers.has('authorization'), false);
    assert.ok(headers.has('user-agent'));
  });

  it('delivers to all, groups, users and connections, and knows who is excluded', async () => {
    const server = await appServer();
    const { client: ann, id: annId } = await joined(server, { 'asrs.s.uid': 'ann' });
    const { client: bob, id: bobId } = await joined(server, { 'asrs.s.uid': 'bob' });
    const said = (text: string) => ({ payloads: [['json', json(text)]] as const });
    const { broadcastData, joinGroupWithAck, leaveGroupWithAck, groupBroadcastData } = serviceType;
    const g = { groupName: 'g' };
    server.send(
      { type: joinGroupWithAck, connectionId: annId, ...g, ackId: 1 },
      { type: joinGroupWithAck, connectionId: 'nobody', ...g, ackId: 2 },
      { type: serviceType.userJoinGroup, userId: 'bob', ...g },
      { type: broadcastData, ...said('all') },
      { type: broadcastData, excludedConnectionIds: [annId], ...said('not ann') },
      { type: groupBroadcastData, ...g, ...said('group') },
      { type: groupBroadcastData, ...g, excludedUserIds: ['bob'], ...said('group without bob') },
      { type: serviceType.multiGroupBroadcastData, groupNames: ['g', 'x'], ...said('groups') },
      { type: serviceType.userData, userId: 'bob', ...said('user') },
      { type: serviceType.multiUserData, userIds: ['ann', 'bob'], ...said('users') },
      {
        type: serviceType.multiConnectionData,
        connectionIds: [bobId, 'nobody'],
        ...said('connections'),
      },
      { type: broadcastData, payloads: [['messagepack', Buffer.from('none')]] },
      { type: leaveGroupWithAck, connectionId: annId, ...g, ackId: 3 },
      { type: groupBroadcastData, ...g, ...said('group again') },
      { type: broadcastData, ...said('end') },
    );
    assert.deepEqual(
      [await ack(server), await ack(server), await ack(server)],
      [
        [1, 1],
        [2, 2],
        [3, 1],
      ],
    );
    const forAnn = ['all', 'group', 'group without bob', 'groups', 'users', 'end'];
    assert.deepEqual((await notesOf(ann, 6)).flat(), forAnn);
    const forBob = ['all', 'not ann', 'group', 'groups', 'user', 'users', 'connections'];
    assert.deepEqual((await notesOf(bob, 9)).flat(), [...forBob, 'group again', 'end']);
  });

  it('keeps a bounded number of groups of a client, and no name that is too long', async () => {
    const server = await appServer();
    const { id: connectionId } = await joined(server);
    const { joinGroup, joinGroupWithAck, leaveGroup, userJoinGroupWithAck } = serviceType;
    const names = Array.from({ length: 10_000 }, (_, index) => `g${index}`);
    const long = 'x'.repeat(1025);
    server.send(
      ...names.map((groupName) => ({ type: joinGroup, connectionId, groupName }) as const),
      { type: joinGroupWithAck, connectionId, groupName: 'more', ackId: 1 },
      { type: joinGroupWithAck, connectionId, groupName: 'g0', ackId: 2 },
      { type: userJoinGroupWithAck, userId: long, groupName: 'g', ackId: 3 },
      { type: userJoinGroupWithAck, userId: 'ann', groupName: long, ackId: 4 },
      { type: userJoinGroupWithAck, userId: long.slice(1), groupName: long.slice(1), ackId: 5 },
    );
    const statuses: number[] = [];
    for (let count = 0; count < 5; count++) statuses.push((await ack(server))[1]);
    assert.deepEqual(statuses, [4, 1, 2, 2, 1]);
    const path = `/api/hubs/chat/groups/more/connections/${connectionId}`;
    assert.equal((await peer.rest('PUT', path)).status, 400);
    assert.equal((await peer.rest('PUT', `/api/hubs/chat/users/${long}/groups/g`)).status, 400);
    server.send(
      { type: leaveGroup, connectionId, groupName: 'g0' },
      { type: joinGroupWithAck, connectionId, groupName: 'more', ackId: 6 },
    );
    assert.deepEqual(await ack(server), [6, 1]);
  });

  it('answers questions about who is there, and closes whom it is asked to', async () => {
    const server = await appServer();
    const { client: ann, id } = await joined(server, { 'asrs.s.uid': 'ann' });
    const { client: bob } = await joined(server, { 'asrs.s.uid': 'bob' });
    const { client: eve, id: eveId } = await joined(server, { 'asrs.s.uid': 'eve' });
    server.send(
      { type: serviceType.checkConnectionExistenceWithAck, connectionId: id, ackId: 1 },
      { type: serviceType.checkUserExistenceWithAck, userId: 'nobody', ackId: 2 },
      { type: serviceType.userJoinGroupWithAck, userId: 'ann', groupName: 'g', ackId: 3 },
      { type: serviceType.checkUserInGroupWithAck, userId: 'ann', groupName: 'g', ackId: 4 },
      { type: serviceType.checkGroupExistenceWithAck, groupName: 'g', ackId: 5 },
      { type: serviceType.userLeaveGroupWithAck, userId: 'ann', ackId: 6 },
      { type: serviceType.checkGroupExistenceWithAck, groupName: 'g', ackId: 7 },
      { type: serviceType.closeUserConnectionsWithAck, userId: 'ann', reason: 'bye', ackId: 8 },
    );
    const statuses: number[] = [];
    for (let count = 0; count < 8; count++) statuses.push((await ack(server))[1]);
    assert.deepEqual(statuses, [1, 2, 1, 1, 1, 1, 2, 1]);
    assert.match(String(await ann.closed), /bye/);
    await bob.connection.stop();
    await server.next(serviceType.closeConnection);
    server.data(eveId, '{"type":7,"error":"out"}\x1e');
    server.send({ type: serviceType.closeConnection, connectionId: eveId, errorMessage: '' });
    assert.match(String(await eve.closed), /out/);
  });

  it('closes any client of the hub for a connection that only sends, and informs its app server', async () => {
    const [server, manager] = [await appServer(), await appServer('manager', 2)];
    const { client: ann, id: annId } = await joined(server);
    const { client: bob, id: bobId } = await joined(server);
    const { closeConnection, broadcastData } = serviceType;
    manager.send(
      { type: closeConnection, connectionId: 'nobody', errorMessage: 'x' },
      { type: closeConnection, connectionId: annId, errorMessage: 'enough' },
      { type: broadcastData, payloads: [['json', json('still here')]] },
    );
    assert.match(String(await ann.closed), /enough/);
    const reported = await server.next(closeConnection);
    assert.deepEqual([reported.connectionId, reported.errorMessage], [annId, 'enough']);
    assert.deepEqual(await notesOf(bob, 1), [['still here']]);
    manager.send({ type: closeConnection, connectionId: bobId, errorMessage: '' });
    assert.equal(await bob.closed, undefined);
    assert.equal((await server.next(closeConnection)).connectionId, bobId);
  });

  it('delivers several messages of megabytes in a row, over every transport', async () => {
    const server = await appServer();
    const big = 'x'.repeat(1_200_000);
    for (const kind of kinds.filter(({ protocol }) => protocol === 'json')) {
      const made = await client({}, kind);
      const starting = made.connection.start();
      const { connectionId } = await server.welcome();
      await starting;
      const message = { type: serviceType.connectionData, connectionId, payload: json(big) };
      server.send(...Array<typeof message>(3).fill(message));
      assert.equal((await notesOf(made, 3)).filter(([text]) => text === big).length, 3);
      await made.connection.stop();
    }
  });

  it('puts a message together that comes in parts', async () => {
    const server = await appServer();
    const { client: ann, id } = await joined(server);
    const bytes = json('whole');
    server.data(id, bytes.subarray(0, 7), true);
    server.data(id, bytes.subarray(7, 20), true);
    server.data(id, bytes.subarray(20));
    assert.deepEqual(await notesOf(ann, 1), [['whole']]);
  });

  it('spreads clients, sticks where the token says, and spares who leaves', async () => {
    const [one, two, weak] = [
      await appServer('one'),
      await appServer('two'),
      await appServer('weak', 2),
    ];
    for (const server of [one, two, weak]) server.echoes = true;
    const start = async (claims: object = {}): Promise<unknown> => {
      const { connection } = await client(claims as Record<string, unknown>);
      return connection.start().catch((error: unknown) => error);
    };
    for (let count = 0; count < 4; count++) await start();
    const opened = ({ messages }: ScriptedAppServer): number =>
      messages.filter(({ type }) => type === serviceType.openConnection).length;
    assert.deepEqual([one, two, weak].map(opened), [2, 2, 0]);
    await start({ 'asrs.s.sn': 'two', 'asrs.s.ssticky': 'Required' });
    await start({ 'asrs.s.sn': 'two', 'asrs.s.ssticky': 'Preferred' });
    assert.deepEqual([one, two, weak].map(opened), [2, 4, 0]);
    two.send({ type: serviceType.ping, messages: ['shutdown', 'fin:0'] });
    assert.deepEqual((await two.next(serviceType.ping)).messages, ['shutdown', 'finack']);
    await start({ 'asrs.s.sn': 'two', 'asrs.s.ssticky': 'Preferred' });
    assert.equal(opened(one), 3);
    const refused = await start({ 'asrs.s.sn': 'two', 'asrs.s.ssticky': 'Required' });
    assert.match(String(refused), /No app server/);
  });

  it('leaves clients where they are in a shutdown with migration, and lets them come back at its end', async () => {
    const leaving = await appServer('leaving');
    leaving.echoes = true;
    const token = await peer.token('/client/?hub=chat');
    const open = async (): Promise<RawClient> => {
      const raw = await RawClient.open(`${peer.url}/client/?hub=chat&access_token=${token}`);
      raw.socket.send(handshake);
      assert.equal(await raw.text(), '{}');
      return raw;
    };
    const ann = await open();
    const staying = await appServer('staying');
    staying.echoes = true;
    leaving.send({ type: serviceType.ping, messages: ['shutdown', 'fin:1'] });
    assert.deepEqual((await leaving.next(serviceType.ping)).messages, ['shutdown', 'finack']);
    assert.equal((await ann.invoke('Echo', 'still')).result, 'still');
    const bob = await open();
    await staying.next(serviceType.openConnection);
    await leaving.close();
    assert.deepEqual(await ann.message(), { type: 7, allowReconnect: true });
    assert.equal(await ann.closed, 1000);
    assert.equal((await bob.invoke('Echo', 'here')).result, 'here');
    bob.socket.terminate();
  });

  it('closes the clients of a lost server connection, who may come back', async () => {
    const server = await appServer();
    const { client: ann } = await joined(server);
    server.socket.terminate();
    await ann.closed;
    const two = await appServer();
    const { client: bob } = await joined(two);
    new ServiceFaults(service).closeServers('chat');
    assert.equal(await two.closed, 1001);
    await bob.closed;
    assert.equal(service.counts.serverConnections, 0);
  });

  it('lets app servers ask clients of each other', async () => {
    const [one, two] = [await appServer('one'), await appServer('two')];
    const { client: ann, id } = await joined(one);
    ann.connection.on('ask', (text: string) => `${text}!`);
    const ask = Buffer.from('{"type":1,"invocationId":"i1","target":"ask","arguments":["q"]}\x1e');
    const question = { invocationId: 'i1', connectionId: id, callerServerId: 'two' };
    two.send({ type: serviceType.clientInvocation, ...question, payloads: [['json', ask]] });
    assert.equal((await two.next(serviceType.serviceMapping)).connectionId, id);
    assert.equal((await one.next(serviceType.clientInvocation)).invocationId, 'i1');
    const { payload } = await one.next(serviceType.connectionData);
    assert.deepEqual(JSON.parse(payload.toString().slice(0, -1)), {
      type: 3,
      invocationId: 'i1',
      result: 'q!',
    });
    const answer = { ...question, callerServerId: 'one', protocol: 'json', payload };
    one.send({ type: serviceType.clientCompletion, ...answer });
    assert.equal((await two.next(serviceType.clientCompletion)).callerServerId, 'two');
    const nobody = { ...question, connectionId: 'nobody' };
    two.send({ type: serviceType.clientInvocation, ...nobody, payloads: [['json', ask]] });
    const { error } = await two.next(serviceType.errorCompletion);
    assert.equal(error, 'Connection does not exist');
  });

  it('does on demand what a real service does now and then', async () => {
    const server = await appServer();
    const { id } = await joined(server);
    const faults = new ServiceFaults(service);
    faults.ping('chat', 'target', 'inst-2');
    faults.ping('chat', 'offline', 'inst-1');
    faults.serviceError('chat', 'Maximum message count limit reached: 100000');
    faults.flowControl('chat', id, flowOperation.pause);
    assert.deepEqual((await server.next(serviceType.ping)).messages, ['target', 'inst-2']);
    assert.deepEqual((await server.next(serviceType.ping)).messages, ['offline', 'inst-1']);
    const { errorMessage } = await server.next(serviceType.serviceError);
    assert.equal(errorMessage, 'Maximum message count limit reached: 100000');
    assert.equal((await server.next(serviceType.connectionFlowControl)).connectionId, id);
    server.send({ type: serviceType.ping, messages: ['status', '1'] });
    const status = (await server.next(serviceType.ping)).messages;
    assert.deepEqual(status, ['status', '1', 'clientcount', '1', 'servercount', '1']);
    server.send({ type: serviceType.ping, messages: ['servers', ''] });
    assert.match((await server.next(serviceType.ping)).messages[1] ?? '', /^6\d{17}:server$/);
  });
});

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
