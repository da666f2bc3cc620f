import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { odata, WebPubSubServiceClient } from '@azure/web-pubsub';
import {
  WebPubSubClient,
  WebPubSubJsonProtocol,
  WebPubSubJsonReliableProtocol,
  type OnGroupDataMessageArgs,
} from '@azure/web-pubsub-client';
import {
  WebPubSubEventHandler,
  type WebPubSubEventHandlerOptions,
} from '@azure/web-pubsub-express';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../src/servers/webpubsub/webPubSubEmulator';

const hubName = 'chat';
const everything = ['webpubsub.joinLeaveGroup', 'webpubsub.sendToGroup'];

/** Values in the order they come, and a way to wait for them. */
class Inbox<T> {
  readonly values: T[] = [];
  private wake: () => void = () => undefined;

  readonly put = (value: T): void => {
    this.values.push(value);
    this.wake();
  };

  async take(count: number): Promise<T[]> {
    while (this.values.length < count) await new Promise<void>((wake) => (this.wake = wake));
    return this.values.splice(0, count);
  }
}

describe('the official packages against the emulator of Web PubSub', function () {
  let emulator: WebPubSubEmulator;
  let service: WebPubSubServiceClient;
  const started: WebPubSubClient[] = [];
  const servers: { close(): unknown }[] = [];

  const serve = async (options: Parameters<typeof startWebPubSubEmulator>[0] = {}) => {
    emulator = await startWebPubSubEmulator(options);
    service = new WebPubSubServiceClient(emulator.connectionString, hubName, {
      allowInsecureConnection: true,
      retryOptions: { maxRetries: 0 },
    });
  };

  interface Connected {
    readonly client: WebPubSubClient;
    readonly id: string;
    readonly fromGroup: Inbox<OnGroupDataMessageArgs['message']>;
    readonly fromServer: Inbox<unknown>;
    readonly over: Promise<string | undefined>;
  }

  interface Wishes {
    userId?: string;
    roles?: string[];
    groups?: string[];
    isReliable?: boolean;
    url?: (url: string) => string;
  }

  const join = async ({
    isReliable = false,
    url = (own) => own,
    ...token
  }: Wishes = {}): Promise<Connected> => {
    const access = await service.getClientAccessToken({ roles: everything, ...token });
    const client = new WebPubSubClient(url(access.url), {
      protocol: isReliable ? WebPubSubJsonReliableProtocol() : WebPubSubJsonProtocol(),
      autoReconnect: false,
      messageRetryOptions: { maxRetries: 0 },
    });
    started.push(client);
    const fromGroup = new Inbox<OnGroupDataMessageArgs['message']>();
    const fromServer = new Inbox<unknown>();
    client.on('group-message', ({ message }) => fromGroup.put(message));
    client.on('server-message', ({ message }) => fromServer.put(message.data));
    const connected = new Promise<string>((resolve) => {
      client.on('connected', ({ connectionId }) => resolve(connectionId));
    });
    const over = new Promise<string | undefined>((resolve) => {
      client.on('disconnected', ({ message }) => resolve(message?.message));
    });
    await client.start();
    return { client, id: await connected, fromGroup, fromServer, over };
  };

  afterEach(async () => {
    for (const client of started.splice(0)) client.stop();
    for (const server of servers.splice(0)) server.close();
    await emulator.dispose();
  });

  it('send over REST to all, groups, users and connections', async () => {
    await serve();
    const [ann, bob] = [
      await join({ userId: 'ann', groups: ['g'] }),
      await join({ userId: 'bob' }),
    ];
    await service.sendToAll({ to: 'all' });
    await service.sendToAll('not bob', {
      contentType: 'text/plain',
      excludedConnections: [bob.id],
    });
    await service.sendToAll('for bob', {
      contentType: 'text/plain',
      filter: odata`userId eq ${'bob'} and not ('g' in groups)`,
    });
    await service.group('g').sendToAll('group', { contentType: 'text/plain' });
    await service.sendToUser('bob', new Uint8Array([1, 2, 255]).buffer);
    await service.sendToConnection(ann.id, [1, 'two'], { messageTtlSeconds: 10 });
    assert.deepEqual(await ann.fromServer.take(3), [{ to: 'all' }, 'not bob', [1, 'two']]);
    const [fromGroup] = await ann.fromGroup.take(1);
    assert.deepEqual(
      [fromGroup?.group, fromGroup?.data, fromGroup?.fromUserId],
      ['g', 'group', undefined],
    );
    const bobs = await bob.fromServer.take(3);
    assert.deepEqual(bobs.slice(0, 2), [{ to: 'all' }, 'for bob']);
    assert.deepEqual(Buffer.from(bobs[2] as ArrayBuffer), Buffer.from([1, 2, 255]));
    assert.equal(ann.fromServer.values.length + bob.fromServer.values.length, 0);
    assert.equal(emulator.counts.delivered, 7);
  });

  // As in the tests of the SDK for JavaScript, which were recorded against the service.
  it('are answered about connections that are not there, and refused filters that are none', async () => {
    await serve();
    let status: number | undefined;
    const onResponse = (response: { status: number }): void => void (status = response.status);
    await service.sendToConnection('xxxx', 'hello', { contentType: 'text/plain', onResponse });
    assert.equal(status, 202);
    await service.removeConnectionFromAllGroups('xxx', { onResponse });
    assert.equal(status, 204);
    await service.revokePermission('invalid-id', 'joinLeaveGroup', { targetName: 'x' });
    await service.closeConnection('xxxx', { onResponse });
    assert.equal(status, 204);
    await service.group('group').removeConnection('xxxx', { onResponse });
    assert.equal(status, 204);
    const target = { targetName: 'x' };
    await assert.rejects(service.grantPermission('xxx', 'joinLeaveGroup', target), {
      statusCode: 404,
    });
    assert.equal(await service.hasPermission('xxx', 'joinLeaveGroup', target), false);
    const filter = 'invalid filter';
    const refused = [
      service.sendToAll('hello', { contentType: 'text/plain', filter }),
      service.sendToUser('brian', 'hello', { contentType: 'text/plain', filter }),
      service.group('group').sendToAll('hello', { contentType: 'text/plain', filter }),
      service.addConnectionsToGroups(['group1', 'group2'], filter),
    ];
    for (const call of refused) {
      await assert.rejects(call, (error: { statusCode: number; message: string }) => {
        assert.equal(error.statusCode, 400);
        const { message } = JSON.parse(error.message) as { message: string };
        assert.equal(
          message,
          "Invalid syntax for 'invalid filter': Syntax error at position 14 in 'invalid filter'. (Parameter 'filter')",
        );
        return true;
      });
    }
  });

  it('manage groups, users and permissions over REST', async () => {
    await serve();
    const group = service.group('a/b ü');
    const [ann, bob] = [
      await join({ userId: 'ann', roles: [] }),
      await join({ userId: 'bob', roles: [] }),
    ];
    assert.equal(await service.groupExists('a/b ü'), false);
    await group.addConnection(ann.id);
    await group.addUser('bob');
    assert.equal(await service.groupExists('a/b ü'), true);
    const listed = [];
    for await (const member of await group.listConnections({ maxPageSize: 1 }))
      listed.push(member.userId);
    assert.deepEqual(listed, ['ann', 'bob']);
    await group.removeConnection(ann.id);
    await group.removeUser('bob');
    assert.equal(await service.groupExists('a/b ü'), false);
    await service.addConnectionsToGroups(['x', 'y'], "userId eq 'ann'");
    await service.removeConnectionsFromGroups(['x'], "userId eq 'ann'");
    assert.deepEqual(
      [await service.groupExists('x'), await service.groupExists('y')],
      [false, true],
    );
    await service.removeUserFromAllGroups('ann');
    assert.equal(await service.groupExists('y'), false);
    await group.addConnection(bob.id);
    await service.removeConnectionFromAllGroups(bob.id);
    assert.equal(await service.groupExists('a/b ü'), false);
    await assert.rejects(group.addConnection('nobody'), { statusCode: 404 });

    const target = { targetName: 'g' };
    assert.equal(await service.hasPermission(ann.id, 'sendToGroup', target), false);
    await assert.rejects(ann.client.sendToGroup('g', 'x', 'text'), /Forbidden|fail/i);
    await service.grantPermission(ann.id, 'sendToGroup', target);
    assert.equal(await service.hasPermission(ann.id, 'sendToGroup', target), true);
    await ann.client.sendToGroup('g', 'x', 'text');
    await service.revokePermission(ann.id, 'sendToGroup', target);
    await assert.rejects(ann.client.sendToGroup('g', 'x', 'text'));

    assert.equal(await service.connectionExists(ann.id), true);
    assert.equal(await service.userExists('ann'), true);
    await service.closeConnection(ann.id, { reason: 'enough' });
    assert.equal(await ann.over, 'enough');
    assert.equal(await service.connectionExists(ann.id), false);
    assert.equal(await service.userExists('ann'), false);
    await service.closeUserConnections('bob');
    await bob.over;
    const [cyd, dan] = [await join({ groups: ['z'] }), await join()];
    await service.group('z').closeAllConnections();
    await cyd.over;
    await service.closeAllConnections({ reason: 'night' });
    assert.equal(await dan.over, 'night');
    assert.equal(emulator.connectionCount, 0);
  });

  it('exchange messages in groups, in both JSON subprotocols', async () => {
    await serve();
    const [ann, bob] = [await join({ userId: 'ann' }), await join({ isReliable: true })];
    await ann.client.joinGroup('g');
    await bob.client.joinGroup('g');
    await ann.client.sendToGroup('g', { n: 1 }, 'json');
    await bob.client.sendToGroup('g', 'two', 'text', { noEcho: true });
    await ann.client.sendToGroup('g', new Uint8Array([3]).buffer, 'binary', { noEcho: true });
    const toAnn = await ann.fromGroup.take(2);
    assert.deepEqual(
      toAnn.map(({ data, fromUserId, group }) => [data, fromUserId, group]),
      [
        [{ n: 1 }, 'ann', 'g'],
        ['two', undefined, 'g'],
      ],
    );
    const toBob = await bob.fromGroup.take(2);
    assert.deepEqual(
      toBob.map(({ dataType, sequenceId }) => [dataType, sequenceId]),
      [
        ['json', 1],
        ['binary', 2],
      ],
    );
    const twice = { ackId: 77 };
    await ann.client.sendToGroup('g', 'once', 'text', twice);
    const again = await ann.client.sendToGroup('g', 'once', 'text', twice);
    assert.equal(again.isDuplicated, true);
    await bob.client.leaveGroup('g');
    await ann.client.sendToGroup('g', 'gone', 'text');
    assert.equal((await ann.fromGroup.take(2)).length, 2);
    assert.equal((await bob.fromGroup.take(1)).length, 1);
    assert.equal(bob.fromGroup.values.length, 0);
  });

  it('recover a reliable client after its socket was cut, and lose nothing', async () => {
    await serve();
    const pipes: Socket[] = [];
    const { port } = new URL(emulator.connectionString.slice('Endpoint='.length).split(';')[0]!);
    const proxy = createTcpServer((near) => {
      const far = connect(Number(port), '127.0.0.1');
      for (const socket of [near, far]) socket.on('error', () => undefined);
      near.pipe(far).pipe(near);
      pipes.push(near, far);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    servers.push(proxy);
    const proxyPort = (proxy.address() as AddressInfo).port;
    const bob = await join({
      isReliable: true,
      groups: ['g'],
      url: (own) => own.replace(`:${port}/`, `:${proxyPort}/`),
    });
    const ann = await join();
    for (let n = 0; n < 200; n++) {
      await ann.client.sendToGroup('g', String(n), 'text');
      if (n === 100) for (const pipe of pipes.splice(0)) pipe.destroy();
    }
    const received = await bob.fromGroup.take(200);
    assert.deepEqual(
      received.map(({ data }) => data),
      Array.from({ length: 200 }, (_, n) => String(n)),
    );
    assert.equal(await service.connectionExists(bob.id), true);
    assert.equal(emulator.connectionCount, 2);
  });

  /** The middleware wants little of Express. */
  const handle = async (options: WebPubSubEventHandlerOptions): Promise<string> => {
    const handler = new WebPubSubEventHandler(hubName, { path: '/events', ...options });
    // Without the types of Express.
    const middleware = handler.getMiddleware() as unknown as (
      request: IncomingMessage & { baseUrl: string; path: string },
      response: ServerResponse,
      notHandled: () => void,
    ) => void;
    const server: Server = createServer((request, response) => {
      const asExpress = Object.assign(request, { baseUrl: '', path: request.url ?? '' });
      middleware(asExpress, response, () => response.writeHead(404).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    servers.push({ close: () => server.closeAllConnections() }, server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
  };

  it('hand events to the Express middleware and its answers to the client', async () => {
    const happened = new Inbox<string>();
    const upstream = await handle({
      handleConnect: ({ context, claims, queries, subprotocols }, response) => {
        assert.match(context.signature, /^sha256=[0-9a-f]{64}$/);
        assert.deepEqual([claims?.['sub'], queries?.['access_token']], [['ann'], undefined]);
        assert.deepEqual(subprotocols, ['json.webpubsub.azure.v1']);
        response.setState('seen', 1);
        if (context.userId === 'ann') response.success({ userId: 'anna', groups: ['g'] });
        else response.fail(401, 'no');
      },
      onConnected: ({ context }) => happened.put(`connected ${context.userId}`),
      onDisconnected: ({ context, reason }) =>
        happened.put(`disconnected ${context.userId} ${reason}`),
      handleUserEvent: (request, response) => {
        if (request.context.eventName === 'bad') {
          response.fail(500, 'no');
          return;
        }
        response.setState('seen', Number(request.context.states['seen']) + 1);
        const reported = { state: Number(request.context.states['seen']), got: request.data };
        if (request.dataType === 'json') response.success(JSON.stringify(reported), 'json');
        else if (request.dataType === 'text') response.success(`echo ${request.data}`, 'text');
        else response.success();
      },
    });
    await serve({ upstream });
    const ann = await join({ userId: 'ann' });
    assert.deepEqual(await happened.take(1), ['connected anna']);
    await ann.client.sendEvent('hello', { a: 1 }, 'json');
    await ann.client.sendEvent('hello', 'hi', 'text');
    await ann.client.sendEvent('hello', new Uint8Array([1]).buffer, 'binary');
    await ann.client.sendEvent('hello', 2, 'json');
    const answers = await ann.fromServer.take(3);
    assert.deepEqual(answers, [{ state: 2, got: { a: 1 } }, 'echo hi', { state: 5, got: 2 }]);
    const invoked = await ann.client.invokeEvent('hello', 'direct', 'text');
    assert.equal(invoked.data, 'echo direct');
    assert.equal(await service.userExists('anna'), true);
    await assert.rejects(join({ userId: 'ann2' }));
    await assert.rejects(ann.client.sendEvent('bad', 'x', 'text'));
    assert.equal(await ann.over, 'The event handler answered with 500.');
    assert.match((await happened.take(1))[0]!, /^disconnected anna The event handler answered/);
  });
});
