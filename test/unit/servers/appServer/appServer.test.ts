import { validateHeaderValue } from 'node:http';
import {
  createServerId,
  ServerConnectionPool,
  startAppServer,
} from '../../../../src/servers/appServer/appServer';
import { AppServerHub } from '../../../../src/servers/appServer/appServerHub';
import {
  adviseOnEnd,
  type ServerConnection,
} from '../../../../src/servers/appServer/serviceConnection';
import { serviceType, type ServiceMessage } from '../../../../src/wire/service/serviceMessage';
import { VirtualTime } from '../../../fakes/virtualTime';
import { decodeJwt } from 'jose';
import { TokenCheck } from '../../../../src/servers/service/emulator';
import { encodeMessagePackMessage } from '../../../../src/wire/message/messagePackMessage';
import { startStubService, type StubConnection } from '../../../fakes/stubService';
import { until } from '../../../fakes/until';
import { serviceAt, withAppServer } from './appServerParts';
import assert from 'node:assert/strict';

describe('the id of an app server', () => {
  it('is the name of the machine and 32 hexadecimal digits', () => {
    assert.match(createServerId('build-7.local'), /^build-7\.local_[0-9a-f]{32}$/);
    assert.notEqual(createServerId('a'), createServerId('a'));
  });

  it('can stand in a header whatever the machine is called', () => {
    for (const machine of ['张三的电脑', 'Jürgen PC', 'x'.repeat(1000), '']) {
      const id = createServerId(machine);
      validateHeaderValue('X-ASRS-Server-Id', id);
      assert.match(id, /^[\x21-\x7e]{0,64}_[0-9a-f]{32}$/);
    }
  });
});

/** Connections that get no token. */
function withoutToken(onProblem: (text: string) => void): ServerConnectionPool {
  return new ServerConnectionPool(new AppServerHub({}), {
    ...{ url: 'ws://127.0.0.1:1/server/?hub=h', serverId: 's', signedIn: false, onProblem },
    token: () => Promise.reject(new Error('no key')),
  });
}

describe('connections of an app server to its service', () => {
  it('say why none can be opened where there is no token, and end nothing', async () => {
    const said = await new Promise<string>((resolve) => {
      // The service asks for one more.
      const message = { type: serviceType.ping, messages: ['target', 't'] } as const;
      withoutToken(resolve).onMessage({} as ServerConnection, message);
    });
    assert.equal(said, 'A server connection could not be opened: no key.');
  });

  it('wait twice as long after each failure, up to a minute, and as long as the service asks', async () => {
    const time = new VirtualTime().install();
    const { random } = Math;
    Math.random = () => 0;
    try {
      for (const [retryAfterMs, waits] of [
        [undefined, [1, 2, 4, 8, 16, 32, 60, 60]],
        [3000, [3, 2, 4, 8, 16, 32, 60, 60]],
      ] as const) {
        const beginMs = time.nowMs;
        const triedS = [0];
        const tried = (): unknown => triedS.push((time.nowMs - beginMs) / 1000);
        const lost = { isOnDemand: false } as ServerConnection;
        const connections = withoutToken(tried);
        connections.onEnd(lost, { reason: 'gone', retryAfterMs });
        await time.to(beginMs + 200_000);
        void connections.dispose();
        // What is lost is said at once, before the first wait.
        const atS = triedS.slice(1);
        assert.deepEqual(
          atS.slice(1).map((at, index) => at - atS[index]!),
          waits,
        );
      }
    } finally {
      Math.random = random;
      time.restore();
    }
  });
});

describe('the advice on a server connection that is refused', () => {
  it('distinguishes a key that is wrong from a resource that takes none', () => {
    assert.match(adviseOnEnd({ status: 401 }, false), /^Check the access key/);
    const forbidden = adviseOnEnd({ status: 403 }, false);
    assert.match(forbidden, /Serverless mode.* access keys are disabled.* network access rules/);
    for (const status of [401, 403])
      assert.match(adviseOnEnd({ status }, true), /^Assign the role SignalR App Server/);
  });
});

const json = (...messages: readonly object[]): Buffer =>
  Buffer.from(messages.map((each) => `${JSON.stringify(each)}\x1e`).join(''));

const dataOf = (connectionId: string, payload: Buffer): ServiceMessage => ({
  type: 6,
  connectionId,
  payload,
});

function opening(connectionId: string, protocol = 'json'): ServiceMessage[] {
  return [
    { type: 4, connectionId, claims: [], protocol },
    dataOf(connectionId, json({ protocol, version: 1 })),
  ];
}

/** What of a type a connection has got. */
function typed<Type extends ServiceMessage['type']>(
  { messages }: StubConnection,
  type: Type,
): Extract<ServiceMessage, { type: Type }>[] {
  return messages.filter((each) => each.type === type) as Extract<ServiceMessage, { type: Type }>[];
}

const payload = { 'payload.MessageBlob': 'x' };
const recordLatency = json({ type: 1, target: 'RecordLatency', arguments: [payload] });
const completion = json({ type: 3, invocationId: '1', result: null });
const call = (target: string, ...args: readonly unknown[]): Buffer =>
  json({ type: 1, invocationId: '1', target, arguments: args });

describe('app server', () => {
  it('opens its connections with tokens, and negotiates clients on to the service', async () => {
    await withAppServer({ serverConnections: 3 }, async (server, service) => {
      assert.equal(service.connections.length, 3);
      const ids = new Set<string>();
      for (const { request } of service.connections) {
        const url = new URL(request.url ?? '', service.origin);
        assert.equal(`${url.pathname}?hub=${url.searchParams.get('hub')}`, '/server/?hub=bench');
        ids.add(url.searchParams.get('cid') ?? '');
        const serverId = String(request.headers['x-asrs-server-id']);
        const token = String(request.headers.authorization).replace('Bearer ', '');
        assert.equal(decodeJwt(token)['nameid'], serverId);
        const check = new TokenCheck({ accessKeys: ['made up for tests'] });
        const outcome = await check.check(token, [`${service.origin}/server/?hub=bench`]);
        assert.ok('claims' in outcome);
      }
      assert.equal(ids.size, 3);
      const response = await fetch(`${server.url}/negotiate?negotiateVersion=1&a=b%20c`, {
        method: 'POST',
      });
      const answer = (await response.json()) as { url: string; accessToken: string };
      const expected = `${service.origin}/client/?hub=bench&asrs.op=%2Fsignalrbench&negotiateVersion=1&a=b%20c&asrs_request_id=`;
      assert.ok(answer.url.startsWith(expected), answer.url);
      assert.equal(decodeJwt(answer.accessToken).aud, 'http://127.0.0.1/client/?hub=bench');
      assert.equal((await fetch(`${server.url}/negotiate`)).status, 405);
      assert.equal((await fetch(`${server.url}/other`, { method: 'POST' })).status, 404);
    });
  });

  for (const [stickyMode, claim] of [
    ['disabled', undefined],
    ['preferred', 'Preferred'],
    ['required', 'Required'],
  ] as const)
    it(`says in tokens of clients whether they are kept: ${stickyMode}`, async () => {
      await withAppServer({ serverConnections: 1, stickyMode }, async (server, service) => {
        const response = await fetch(`${server.url}/negotiate`, { method: 'POST' });
        const { accessToken } = (await response.json()) as { accessToken: string };
        const claims = decodeJwt(accessToken);
        const serverId = service.connections[0]!.request.headers['x-asrs-server-id'];
        assert.equal(claims['asrs.s.sn'], claim && serverId);
        assert.equal(claims['asrs.s.ssticky'], claim);
      });
    });

  it('hands what hub code sends to the service, encoded once for each protocol', async () => {
    await withAppServer({ serverConnections: 1 }, async (_server, service) => {
      const connection = service.connections[0]!;
      connection.send(...opening('one'));
      for (const target of ['Echo', 'Broadcast'])
        connection.send(dataOf('one', call(target, payload)));
      const toGroup = { ...payload, 'information.GroupName': 'g' };
      const toClient = { ...payload, 'information.ConnectionId': 'elsewhere' };
      connection.send(dataOf('one', call('SendToGroup', toGroup)));
      connection.send(dataOf('one', call('SendToClient', toClient)));
      await until('all completions', () => typed(connection, 6).length === 5);
      const [connected, echo, direct] = typed(connection, 7);
      assert.deepEqual(connected?.connectionIds, ['one']);
      assert.deepEqual(echo, {
        type: 7,
        connectionIds: ['one'],
        payloads: [['json', recordLatency]],
      });
      const packed = (value: object): Buffer =>
        encodeMessagePackMessage({ type: 1, target: 'RecordLatency', arguments: [value] });
      const inBoth = (value: object): (readonly [string, Buffer])[] => [
        ['json', json({ type: 1, target: 'RecordLatency', arguments: [value] })],
        ['messagepack', packed(value)],
      ];
      assert.deepEqual(direct?.connectionIds, ['elsewhere']);
      assert.deepEqual(direct.payloads, inBoth(toClient));
      assert.deepEqual(typed(connection, 10)[0]?.payloads, inBoth(payload));
      assert.equal(typed(connection, 13)[0]?.groupName, 'g');
      assert.deepEqual(typed(connection, 13)[0]?.payloads, inBoth(toGroup));
      assert.deepEqual(typed(connection, 6)[1], { ...dataOf('one', completion), dataType: 2 });
    });
  });

  it('joins groups once the service has acknowledged it', async () => {
    await withAppServer({ serverConnections: 1 }, async (_server, service) => {
      const connection = service.connections[0]!;
      connection.send(...opening('one', 'messagepack'));
      const join = { type: 1, invocationId: '1', target: 'JoinGroup', arguments: ['g'] } as const;
      connection.send(dataOf('one', encodeMessagePackMessage(join)));
      await until('the join', () => typed(connection, 18).length === 1);
      assert.equal(typed(connection, 6).length, 1);
      const { ackId } = typed(connection, 18)[0]!;
      connection.send({ type: 20, ackId, status: 1, message: '' });
      await until('the completion', () => typed(connection, 6).length === 2);
      const done = encodeMessagePackMessage({ type: 3, invocationId: '1', result: null });
      assert.deepEqual(typed(connection, 6)[1], { ...dataOf('one', done), dataType: 2 });
      const callback = { type: 1, target: 'JoinGroup', arguments: [] } as const;
      assert.deepEqual(typed(connection, 7)[1]?.payloads, [
        ['messagepack', encodeMessagePackMessage(callback)],
      ]);
    });
  });

  it('holds what a paused client would get, and closes one that gets too much', async () => {
    await withAppServer({ serverConnections: 1, maxUnreadBytes: 500 }, async (server, service) => {
      const connection = service.connections[0]!;
      const control = (operation: number): ServiceMessage => ({
        ...{ type: 39, connectionId: 'one' },
        ...{ connectionType: 1, operation },
      });
      connection.send(...opening('one'), control(1), dataOf('one', call('GetConnectionId')));
      connection.send({ type: 3, messages: ['echo', 'a'] });
      await until('the echo', () => typed(connection, 3).length === 1);
      assert.deepEqual(typed(connection, 39), [control(2)]);
      assert.equal(typed(connection, 6).length, 1);
      connection.send(control(3));
      await until('the completion', () => typed(connection, 6).length === 2);
      connection.send(control(1));
      for (let index = 0; index < 20; index++)
        connection.send(dataOf('one', call('GetConnectionId')));
      await until('the end of the client', () => typed(connection, 5).length === 1);
      assert.equal(server.counts.clients, 0);
    });
  });

  it('holds streams back while the service takes nothing, and leaves it when that lasts', async () => {
    const options = { serverConnections: 1, silenceMs: 500 };
    await withAppServer(options, async (server, service) => {
      const connection = service.connections[0]!;
      const item = { 'payload.MessageBlob': 'x'.repeat(20_000) };
      // 400 MB.
      const download = { type: 4, invocationId: '1', target: 'StreamingDownload' };
      const asked = json({ ...download, arguments: [item, 20_000, 0] });
      connection.send(...opening('one'), dataOf('one', asked));
      connection.socket.pause();
      await until('another connection', () => service.connections.length > 1);
      assert.equal(server.counts.clients, 0);
      connection.socket.resume();
      await until('the end', () => connection.isClosed);
      // What it had sent before, and what both systems hold on the way.
      assert.ok(typed(connection, 6).length < 5000, `${typed(connection, 6).length} items`);
    });
  });

  it('ends a client whose message is longer than the hub takes, however it comes', async () => {
    const options = { serverConnections: 1, maxMessageBytes: 1000 };
    await withAppServer(options, async (server, service) => {
      const connection = service.connections[0]!;
      const long = call('Echo', { 'payload.MessageBlob': 'x'.repeat(1000) });
      const halves = [long.subarray(0, 600), long.subarray(600)];
      connection.send(...opening('whole'), dataOf('whole', long));
      connection.send(...opening('pieces'), ...halves.map((half) => dataOf('pieces', half)));
      await until('the end of both', () => typed(connection, 5).length === 2);
      const said = typed(connection, 6).map(({ payload: sent }) => String(sent));
      const ends = said.filter((text) => text.includes('A message is longer than 1000 bytes.'));
      assert.equal(ends.length, 2);
      assert.equal(server.counts.clients, 0);
    });
  });

  it('opens lost connections again, with growing waits after failures', async () => {
    const problems: string[] = [];
    const onProblem = (text: string): void => void problems.push(text);
    await withAppServer({ onProblem }, async (server, service) => {
      service.connections[0]!.send(...opening('one'));
      await until('the client', () => server.counts.clients === 1);
      service.refusals.push(503, 401);
      for (const { socket } of service.connections) socket.terminate();
      await until('the end of the client', () => server.counts.clients === 0);
      const refused = await fetch(`${server.url}/negotiate`, { method: 'POST' });
      assert.equal(refused.status, 500);
      await until('two new connections', () => service.connections.length === 4);
      await until('their handshakes', () => service.connections[3]!.messages.length === 1);
      assert.deepEqual(
        problems.map(
          (text) => /^A server connection (was lost|could not be opened)/.exec(text)?.[1],
        ),
        ['was lost', 'was lost', 'could not be opened', 'could not be opened'],
      );
      assert.match(problems.join(), /HTTP status 503.*HTTP status 401\. Check the access key/);
    });
  });

  it('opens a connection on demand, and leaves a service that is silent', async () => {
    const options = { serverConnections: 1, silenceMs: 1500 };
    const time = new VirtualTime().install();
    await withAppServer(options, async (_server, service) => {
      try {
        service.connections[0]!.send({ type: 3, messages: ['target', 'inst/ü'] });
        await until('the connection', () => service.connections[1]?.messages.length === 1);
        const { request, messages } = service.connections[1]!;
        assert.match(request.url ?? '', /&target=inst%2F%C3%BC$/);
        assert.equal((messages[0] as { connectionType?: number }).connectionType, 1);
        await time.to(1000);
        assert.ok(!service.connections[0]!.isClosed);
        await time.to(2000);
        await until('its end', () => service.connections[0]!.isClosed);
        // A connection comes in place of the first.
        while (service.connections.length < 3) await time.to(time.nowMs + 1);
      } finally {
        time.restore();
      }
    });
  });

  it('writes nothing more after a service error, and reports its text', async () => {
    const problems: string[] = [];
    const options = { serverConnections: 1, onProblem: (text: string) => void problems.push(text) };
    await withAppServer(options, async (_server, service) => {
      const connection = service.connections[0]!;
      const quota = { type: 15, errorMessage: 'Quota reached: 100' } as const;
      const unreadable = Buffer.from('0292c1', 'hex');
      connection.send(unreadable, unreadable, quota, quota, ...opening('one'));
      connection.send({ type: 3, messages: ['echo', 'a'] });
      await until('the echo', () => typed(connection, 3).length === 1);
      assert.equal(connection.messages.length, 2);
      // Each once, however often it comes.
      assert.equal(problems.length, 2);
      assert.match(problems[0]!, /^A message of the service could not be read: /);
      assert.equal(problems[1], 'Azure SignalR Service reports: Quota reached: 100');
    });
  });

  it('says why it cannot start', async () => {
    const service = await startStubService();
    const options = { service: serviceAt(service.origin), hub: 'Bench', serverConnections: 2 };
    service.refusals.push(404, 404);
    await assert.rejects(startAppServer(options), /HTTP status 404\. Check the endpoint/);
    const refusal = { type: 2, errorMessage: 'No serverless, please.' } as const;
    service.handshakes.push(refusal, refusal);
    await assert.rejects(startAppServer(options), /the service said "No serverless, please\."/);
    const ping = { type: 3, messages: [] } as const;
    service.handshakes.push(ping, ping);
    await assert.rejects(
      startAppServer(options),
      /first message of the service is not a handshake/,
    );
    await service.dispose();
    await assert.rejects(startAppServer(options), { code: 'service-unreachable' });
  });
});
