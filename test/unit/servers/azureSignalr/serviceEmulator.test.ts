import { once } from 'node:events';
import { WebSocket } from 'ws';
import { ConnectionQuota } from '../../../../src/servers/service/emulator';
import {
  parseAzureSignalrFlags,
  type AzureSignalrOptions,
} from '../../../../src/servers/service/emulatorOptions';
import {
  startAzureSignalr,
  type AzureSignalr,
  ServiceEmulator,
} from '../../../../src/servers/azureSignalr/serviceEmulator';
import { EmulatorPeer } from '../../../fakes/emulatorPeer';
import { ScriptedAppServer } from '../../../fakes/scriptedAppServer';
import { VirtualTime } from '../../../fakes/virtualTime';
import { handshake, RawClient } from '../rawClient';
import { hubClient } from './hubClients';
import { UserGroups } from '../../../../src/servers/azureSignalr/serviceHub';
import { until } from '../../../fakes/until';
import assert from 'node:assert/strict';

describe('what the Azure SignalR emulator refuses', () => {
  let service: AzureSignalr;
  let peer: EmulatorPeer;
  let url: string;

  async function start(options: AzureSignalrOptions = {}): Promise<void> {
    service = await startAzureSignalr(options);
    peer = new EmulatorPeer(service.connectionString);
    ({ url } = peer);
  }
  afterEach(() => service.dispose());

  async function negotiate(query = '?hub=chat', token?: string, init = {}): Promise<Response> {
    const own = token ?? (await peer.token('/client/?hub=chat'));
    const headers = { Authorization: `Bearer ${own}` };
    const address = `${url}/client/negotiate${query}&negotiateVersion=1`;
    return fetch(address, { method: 'POST', headers, ...init });
  }

  /** The status that refuses a WebSocket, or 101. */
  async function upgrade(path: string, token?: string): Promise<number> {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const socket = new WebSocket(url.replace('http', 'ws') + path, { headers });
    const refused = new Promise<number>((resolve) => {
      socket.on('unexpected-response', (request, { statusCode = 0 }) => {
        resolve(statusCode);
        request.destroy();
      });
      socket.on('error', () => undefined);
      socket.on('open', () => {
        resolve(101);
        socket.terminate();
      });
    });
    return refused;
  }

  it('refuses what has no hub, no token, or a token for something else', async () => {
    await start();
    const forServer = await peer.token('/server/?hub=chat');
    for (const [query, status, own] of [
      ['?x=1', 400],
      ['?hub=chat&hub=chat', 400],
      ['?hub=1', 400],
      ['?hub=chat', 401, ''],
      ['?hub=other', 401],
      ['?hub=chat', 401, forServer],
      ['?hub=chat', 413, 'a'.repeat(5000)],
    ] as const)
      assert.equal((await negotiate(query, own)).status, status, query);
    const expired = await peer.token('/client/?hub=chat', { exp: 1_700_000_000 });
    const answer = await negotiate('?hub=chat', expired);
    assert.deepEqual([answer.status, await answer.text()], [401, 'The access token has expired.']);
    assert.equal((await negotiate('?hub=chat', undefined, { method: 'GET' })).status, 405);
    assert.equal((await fetch(`${url}/elsewhere`)).status, 404);
    assert.equal((await fetch(`${url}/server/?hub=chat`)).status, 400);
    const token = await peer.token('/client/?hub=chat');
    for (const [path, status, own] of [
      ['/client/?hub=chat', 401],
      ['/client/?hub=chat&id=unknown', 404, token],
      [`/client/?hub=chat&access_token=${token}`, 101],
      ['/server/?hub=chat', 401, token],
      ['/server/', 400, token],
      ['/elsewhere', 404, token],
    ] as const)
      assert.equal(await upgrade(path, own), status, path);
    const query = `?hub=chat&id=unknown&access_token=${token}`;
    assert.equal((await fetch(`${url}/client/${query}`)).status, 404);
  });

  it('refuses REST requests as the service does', async () => {
    await start();
    const send = '/api/hubs/chat/:send';
    const code = async (method: string, path: string, body?: string, token?: string) => {
      const response = await peer.rest(method, path, body, token);
      const header = response.headers.get('x-ms-error-code');
      if (method !== 'HEAD') {
        assert.equal(((await response.json()) as { code: string }).code, header);
      }
      return `${response.status} ${header}`;
    };
    const bad = '400 Error.Request.Invalid';
    for (const body of ['', '{', '[]', '{}', '{"target":""}', '{"target":7}', 'null', '7']) {
      assert.equal(await code('POST', send, body), bad, body);
    }
    assert.equal(await code('POST', send, '{"target":"a","arguments":7}'), bad);
    assert.equal(await code('POST', send, '{"target":"a","arguments":["\x1e"]}'), bad);
    assert.equal(await code('POST', send, `{"target":"a","arguments":${'['.repeat(200)}`), bad);
    const deep = `{"target":"a","arguments":${'['.repeat(100)}${']'.repeat(100)}}`;
    assert.equal(await code('POST', send, deep), bad);
    assert.equal(await code('POST', '/api/hubs/1/:send', '{}'), bad);
    assert.equal(await code('PUT', '/api/hubs/chat/users/u/groups/%20'), bad);
    assert.equal(await code('POST', send, '{}', 'none'), '401 Error.Unauthorized');
    const other = await peer.token('/api/hubs/other/:send');
    assert.equal(await code('POST', send, '{}', other), '401 Error.Unauthorized');
    const large = JSON.stringify({ target: 'a', arguments: ['x'.repeat(1024 * 1024)] });
    assert.equal(await code('POST', send, large), '413 Error.Request.TooLarge');
    assert.equal(await code('POST', '/api/hubs/chat/x/y/z/:send'), '404 Error.Path.NotFound');
    const stream = '/api/hubs/chat/connections/one/streams/1';
    for (const end of [':send', ':complete'])
      assert.equal(await code('POST', `${stream}/${end}`), '404 Error.Path.NotFound');
    assert.equal(await code('PUT', send), '405 Error.Method.NotAllowed');
    assert.equal(await code('POST', '/api/elsewhere'), '404 Error.Path.NotFound');
  });

  it('forgets who negotiated and did not connect in time', async () => {
    const time = new VirtualTime().install();
    await start();
    const { connectionToken } = (await (await negotiate()).json()) as { connectionToken: string };
    await time.to(5000);
    const token = await peer.token('/client/?hub=chat');
    assert.equal(await upgrade(`/client/?hub=chat&id=${connectionToken}`, token), 404);
    time.restore();
  });

  it('offers the transports that the token allows, and no others', async () => {
    await start();
    const token = await peer.token('/client/?hub=chat', { 'asrs.s.htt': 2 });
    const answer = (await (await negotiate('?hub=chat', token)).json()) as {
      availableTransports: { transport: string }[];
      connectionToken: string;
    };
    const offered = answer.availableTransports.map(({ transport }) => transport);
    assert.deepEqual(offered, ['ServerSentEvents']);
    assert.equal(await upgrade(`/client/?hub=chat&id=${answer.connectionToken}`, token), 404);
  });

  it('has room for the connections of its size, app servers included', async () => {
    await start({ unit: 'free' });
    const token = await peer.token('/client/?hub=chat');
    const server = await ScriptedAppServer.connect(peer, 'chat', 'weak', 2);
    const clients = await Promise.all(
      Array.from({ length: 19 }, () =>
        RawClient.open(`${url}/client/?hub=chat&access_token=${token}`),
      ),
    );
    assert.equal((await negotiate()).status, 429);
    assert.equal(await upgrade('/client/?hub=chat', token), 429);
    const serverToken = await peer.token('/server/?hub=chat');
    assert.equal(await upgrade('/server/?hub=chat', serverToken), 429);
    await server.close();
    while (service.counts.serverConnections > 0) await new Promise(setImmediate);
    assert.equal((await negotiate()).status, 200);
    assert.equal(service.counts.refused, 3);
    for (const { socket } of clients) socket.terminate();
  });

  it('lets in as many per second as its size takes, when asked', () => {
    const quota = new ConnectionQuota({ unit: 2, limitConnectRate: true });
    let taken = 0;
    const take = (nowMs: number): void => {
      while (quota.refusal(nowMs) === undefined) {
        quota.take();
        taken++;
      }
    };
    take(1000);
    assert.equal(taken, 400);
    take(1500);
    assert.equal(taken, 600);
    assert.deepEqual(quota.refusal(1500)?.headers, { 'Retry-After': '1' });
    take(9000);
    assert.equal(taken, 1000);
  });

  it('closes a client that leaves more than its bound unread, in either mode', async () => {
    await start({ maxUnreadBytes: 64 * 1024 });
    const token = await peer.token('/client/?hub=chat', { nameid: 'slow' });
    const big = 'x'.repeat(512 * 1024);
    // From its close on it is nobody's client, and has a few seconds to read what was sent before and to answer.
    const isThere = async (): Promise<boolean> =>
      (await peer.rest('HEAD', '/api/hubs/chat/users/slow')).status === 200;
    for (const mode of ['serverless', 'default']) {
      const isDefault = mode === 'default';
      const server = isDefault ? await ScriptedAppServer.connect(peer, 'chat') : undefined;
      if (server) server.echoes = true;
      const client = await RawClient.open(`${url}/client/?hub=chat&access_token=${token}`);
      client.socket.send(handshake);
      await client.text();
      client.socket.pause();
      assert.ok(await isThere());
      for (let sends = 0; sends < 40 && (await isThere()); sends++) {
        await peer.rest('POST', '/api/hubs/chat/:send', { target: 'note', arguments: [big] });
      }
      client.socket.resume();
      assert.equal(await client.closed, 1008, mode);
      await server?.close();
    }
  });

  it('closes connections when their token says so', async () => {
    await start();
    const aeo = Math.floor(Date.now() / 1000);
    const claims = { 'asrs.s.coae': 'True', 'asrs.s.aeo': aeo };
    const { connection, closed } = await hubClient(peer, 'chat', undefined, claims);
    await connection.start();
    assert.match(String(await closed), /token has expired/);
  });

  it('closes an app server that speaks no service protocol', async () => {
    await start();
    const open = (): Promise<ScriptedAppServer> => ScriptedAppServer.open(peer, 'chat');
    const early = await open();
    early.send({ type: 3, messages: [] });
    assert.match((await early.next(2)).errorMessage ?? '', /handshake/);
    assert.equal(await early.closed, 1000);
    const newer = await open();
    newer.send({ type: 1, version: 2, connectionType: 0, target: '', migrationLevel: 0 });
    assert.match((await newer.next(2)).errorMessage ?? '', /Version 2/);
    const text = await open();
    text.socket.send('text');
    assert.equal(await text.closed, 1002);
    const endless = await open();
    endless.socket.send(Buffer.from('ffffffff07', 'hex'));
    assert.equal(await endless.closed, 1002);
    const silent = new WebSocket(`${url.replace('http', 'ws')}/server/?hub=chat`, {
      headers: { Authorization: `Bearer ${await peer.token('/server/?hub=chat')}` },
    });
    await once(silent, 'open');
    silent.terminate();
  });

  it('reads its flags', () => {
    const read = (flags: object): unknown =>
      JSON.parse(JSON.stringify(parseAzureSignalrFlags(flags)));
    assert.deepEqual(read({ unit: '5', mode: 'default', limitConnectRate: true }), {
      unit: 5,
      mode: 'default',
      limitConnectRate: true,
    });
    assert.deepEqual(read({ unit: 'free', upstream: 'http://localhost:7071/{hub}' }), {
      unit: 'free',
      upstreams: [{ url: 'http://localhost:7071/{hub}' }],
    });
    for (const bad of [
      { unit: '0' },
      { unit: '1001' },
      { unit: 'x' },
      { mode: 'x' },
      { upstream: 'ftp://x' },
      { upstream: 'http://name:word@x' },
      { upstream: 'http://{event}.localhost:9/' },
      { upstream: 'http:{event}/' },
      { limitConnectRate: true },
    ]) {
      assert.throws(() => read(bad), { code: 'bad-option' });
    }
  });
});

describe('hubs of the Azure SignalR emulator', () => {
  it('are forgotten once nobody is there and no user is remembered', async () => {
    const service = new ServiceEmulator({});
    await service.listen();
    try {
      const peer = new EmulatorPeer(service.connectionString);
      await peer.rest('HEAD', '/api/hubs/asked/users/ann');
      await peer.rest('PUT', '/api/hubs/kept/users/ann/groups/g?ttl=100');
      await peer.rest('PUT', '/api/hubs/brief/users/ann/groups/g?ttl=0');
      assert.deepEqual([...service.hubs.keys()], ['asked', 'kept', 'brief']);
      await until('the forgetting', () => service.hubs.size === 1);
      assert.deepEqual([...service.hubs.keys()], ['kept']);
    } finally {
      await service.dispose();
    }
  });

  it('remember a bounded number of users in groups', () => {
    const memberships = { used: 999_998 };
    const [groups, ofOtherHub] = [new UserGroups(memberships), new UserGroups(memberships)];
    for (let index = 0; index < 2; index++) assert.ok(groups.add('ann', String(index), Infinity));
    assert.ok(!groups.add('bob', '0', Infinity));
    assert.ok(!ofOtherHub.add('bob', '0', Infinity), 'it is one bound for all hubs');
    assert.ok(groups.add('ann', '0', Infinity), 'who is in it already may stay longer');
    groups.remove('ann', '0');
    assert.ok(groups.add('bob', '0', Infinity));
    groups.removeAll('ann');
    assert.ok(!groups.isEmpty);
    groups.remove('bob', '0');
    assert.ok(groups.isEmpty);
  });
});
