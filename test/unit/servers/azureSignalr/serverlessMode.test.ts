import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jsonProtocol, messagePackProtocol } from '../../../../src/servers/hubProtocol/protocols';
import { framePayload } from '../../../../src/servers/hubProtocol/serverProtocol';
import type { AzureSignalrOptions } from '../../../../src/servers/service/emulatorOptions';
import {
  startAzureSignalr,
  type AzureSignalr,
} from '../../../../src/servers/azureSignalr/serviceEmulator';
import { EmulatorPeer } from '../../../fakes/emulatorPeer';
import { ScriptedAppServer } from '../../../fakes/scriptedAppServer';
import { hubClient, kinds, notesOf, type HubClient, type Kind } from './hubClients';

interface Seen {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What a webhook answers: status and body. */
type Answer = (seen: Seen) => readonly [status: number, body: Buffer | string];

describe('the Azure SignalR emulator in serverless mode', () => {
  let service: AzureSignalr;
  let peer: EmulatorPeer;
  const clients: HubClient[] = [];
  const webhooks: Server[] = [];

  async function start(options: AzureSignalrOptions = {}): Promise<void> {
    service = await startAzureSignalr(options);
    peer = new EmulatorPeer(service.connectionString);
  }
  afterEach(async () => {
    await service.dispose();
    await Promise.all(clients.splice(0).map(({ connection }) => connection.stop()));
    for (const webhook of webhooks.splice(0)) webhook.close();
  });

  async function connected(claims: Record<string, unknown> = {}, kind?: Kind): Promise<HubClient> {
    const made = await hubClient(peer, 'chat', kind, claims);
    clients.push(made);
    await made.connection.start();
    return made;
  }

  /** Status and code of the answer to a request behind the hub. */
  async function rest(method: string, path: string, body?: string | object): Promise<string> {
    const response = await peer.rest(method, `/api/hubs/chat${path}`, body);
    const code = response.headers.get('x-ms-error-code');
    return code === null ? String(response.status) : `${response.status} ${code}`;
  }

  async function webhook(seen: Seen[], answer: Answer): Promise<string> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { url = '', headers } = request;
        const one = { url, headers, body: Buffer.concat(chunks) };
        seen.push(one);
        const [status, body] = answer(one);
        response.writeHead(status).end(body);
      });
    });
    webhooks.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('delivers what REST sends to clients of every kind, each in its own protocol', async () => {
    await start();
    const all: HubClient[] = [];
    for (const [index, kind] of kinds.entries()) {
      all.push(await connected({ 'asrs.s.uid': index < 2 ? 'ann' : 'bob' }, kind));
    }
    const [first, second] = all as [HubClient, HubClient];
    const id = first.connection.connectionId!;
    const send = (text: string): object => ({
      target: 'note',
      arguments: [text, { n: 1.5 }, [null]],
    });
    assert.equal(await rest('POST', '/:send', send('all')), '202');
    assert.equal(await rest('POST', `/:send?excluded=${id}&excluded=x`, send('rest')), '202');
    assert.equal(await rest('POST', '/users/ann/:send', send('user')), '202');
    assert.equal(await rest('PUT', `/groups/g%20%2F/connections/${id}`), '200');
    assert.equal(await rest('POST', '/groups/g%20%2F/:send', send('group')), '202');
    assert.equal(await rest('POST', `/connections/${id}/:send`, send('one')), '202');
    assert.equal(await rest('POST', '/users/nobody/:send', send('none')), '202');
    const text = '{"Arguments":["old form"],"Target":"note"}';
    assert.equal((await peer.rest('POST', '/api/v1/hubs/chat/users/ann', text)).status, 202);
    assert.equal((await peer.rest('POST', '/api/v1/hubs/Chat', text)).status, 202);
    const whole = (name: string): unknown[] => [name, { n: 1.5 }, [null]];
    const old = [['old form'], ['old form']];
    const forFirst = [...['all', 'user', 'group', 'one'].map(whole), ...old];
    assert.deepEqual(await notesOf(first, 6), forFirst);
    assert.deepEqual(await notesOf(second, 5), [...['all', 'rest', 'user'].map(whole), ...old]);
    for (const other of all.slice(2)) {
      assert.deepEqual(await notesOf(other, 3), [...['all', 'rest'].map(whole), ['old form']]);
    }
  });

  it('keeps groups of connections and of users, and says who is there', async () => {
    await start();
    const ann = await connected({ nameid: 'ann' });
    const id = ann.connection.connectionId!;
    const there = '200';
    assert.equal(await rest('HEAD', `/connections/${id}`), there);
    assert.equal(await rest('HEAD', '/users/ann'), there);
    assert.equal(await rest('HEAD', '/connections/x'), '404 Warning.Connection.NotExisted');
    assert.equal(await rest('HEAD', '/users/x'), '404 Warning.User.NotExisted');
    assert.equal(await rest('HEAD', '/groups/g'), '404 Warning.Group.NotExisted');
    assert.equal(await rest('PUT', '/groups/g/connections/x'), '404 Error.Connection.NotExisted');
    assert.equal(await rest('PUT', `/groups/g/connections/${id}`), there);
    assert.equal(await rest('GET', '/groups/g'), there);
    assert.equal(await rest('DELETE', `/groups/g/connections/${id}`), there);
    // Who cleans up after connections that are gone hears of no error.
    assert.equal(await rest('DELETE', `/groups/g/connections/${id}`), there);
    assert.equal(await rest('DELETE', '/groups/g/connections/x'), there);
    assert.equal(await rest('PUT', `/groups/g/connections/${id}`), there);
    assert.equal(await rest('DELETE', `/connections/${id}/groups`), there);
    assert.equal(await rest('HEAD', '/groups/g'), '404 Warning.Group.NotExisted');

    assert.equal(await rest('HEAD', '/users/ann/groups/u'), '404 Info.User.NotInGroup');
    assert.equal(await rest('PUT', '/users/ann/groups/u?ttl=60'), there);
    assert.equal(await rest('HEAD', '/users/ann/groups/u'), there);
    const later = await connected({ nameid: 'ann' });
    await rest('POST', '/groups/u/:send', { target: 'note' });
    assert.deepEqual([await notesOf(ann, 1), await notesOf(later, 1)], [[[]], [[]]]);
    assert.equal(await rest('PUT', '/users/ann/groups/u?ttl=0'), there);
    assert.equal(await rest('HEAD', '/users/ann/groups/u'), '404 Info.User.NotInGroup');
    await rest('PUT', '/users/ann/groups/v');
    assert.equal(await rest('DELETE', '/users/ann/groups'), '204');
    assert.equal(await rest('HEAD', '/users/ann/groups/v'), '404 Info.User.NotInGroup');
    assert.equal(await rest('DELETE', '/users/ann/groups/v'), '204');
    assert.equal(await rest('PUT', '/users/ann/groups/u?ttl=x'), '400 Error.Request.Invalid');
  });

  it('closes connections with a reason, all but the excluded', async () => {
    await start();
    const [ann, bob, eve] = await Promise.all(
      ['ann', 'bob', 'eve'].map((nameid) => connected({ nameid })),
    );
    assert.ok(ann && bob && eve);
    assert.equal(
      await rest('DELETE', `/connections/${ann.connection.connectionId}?reason=go`),
      '200',
    );
    assert.match(String(await ann.closed), /go/);
    assert.equal(await rest('POST', '/users/bob/:closeConnections'), '204');
    assert.equal(await bob.closed, undefined);
    const id = eve.connection.connectionId!;
    assert.equal(await rest('POST', `/:closeConnections?reason=why?&excluded=${id}`), '204');
    assert.equal(await rest('PUT', `/groups/g/connections/${id}`), '200');
    assert.equal(await rest('POST', '/groups/g/:closeConnections?reason=all'), '204');
    assert.match(String(await eve.closed), /all/);
  });

  it('makes tokens for clients', async () => {
    await start();
    const path = '/api/hubs/chat/:generateToken?userId=ann&role=r&minutesToExpire=5';
    const response = await peer.rest('POST', path);
    const { token } = (await response.json()) as { token: string };
    const answer = await fetch(`${peer.url}/client/negotiate?hub=chat&negotiateVersion=1`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
    });
    assert.equal(answer.status, 200);
    assert.equal((await fetch(`${peer.url}/api/health`, { method: 'HEAD' })).status, 200);
  });

  for (const kind of kinds.slice(0, 2)) {
    it(`sends invocations in ${kind.protocol} to a webhook and the answers back`, async () => {
      const protocol = kind.protocol === 'json' ? jsonProtocol : messagePackProtocol;
      const seen: Seen[] = [];
      const url = await webhook(seen, ({ headers }) => {
        const name = headers['x-asrs-event'];
        if (name === 'Fine') return [200, framePayload(protocol.resultFrame('0', 'good'))];
        if (name === 'Odd') return [200, 'odd'];
        return name === 'Bad' ? [503, ''] : [204, ''];
      });
      const keys = ['primary', 'secondary'];
      await start({ upstreams: [{ url: `${url}/{hub}/{category}/{event}` }], accessKeys: keys });
      const { connection } = await connected({ 'asrs.s.uid': 'änn' }, kind);
      assert.equal(await connection.invoke('Fine', 1), 'good');
      assert.equal(await connection.invoke('Empty'), undefined);
      await assert.rejects(connection.invoke('Bad'), /Invocation failed, status code 503/);
      await assert.rejects(connection.invoke('Odd'), /not a completion/);
      const id = connection.connectionId!;
      await connection.stop();
      while (seen.length < 6) await new Promise((resolve) => setTimeout(resolve, 5));
      const events = seen.map(({ url: path }) => path);
      const names = ['Fine', 'Empty', 'Bad', 'Odd'].map((name) => `/chat/messages/${name}`);
      const whole = ['/chat/connections/connected', ...names, '/chat/connections/disconnected'];
      assert.deepEqual(events, whole);
      const bodies = [seen[0], seen[5]].map((one) => one?.body.toString());
      assert.deepEqual(bodies, ['{"type":10}', '{"type":11}']);
      const { headers, body } = seen[1]!;
      const hmac = (key: string): string => createHmac('sha256', key).update(id).digest('hex');
      const signature = keys.map((key) => `sha256=${hmac(key)}`).join(',');
      assert.equal(headers['x-asrs-signature'], signature);
      assert.equal(headers['x-asrs-connection-id'], id);
      assert.equal(headers['x-asrs-hub'], 'chat');
      assert.equal(headers['x-asrs-category'], 'messages');
      assert.equal(headers['x-asrs-user-id'], '%C3%A4nn');
      assert.match(String(headers['x-asrs-user-claims']), /asrs\.s\.uid: %C3%A4nn/);
      assert.match(String(headers['x-asrs-client-query']), /^\?hub=chat&id=/);
      const isJson = kind.protocol === 'json';
      assert.equal(headers['content-type'], isJson ? 'application/json' : 'application/x-msgpack');
      if (isJson) assert.equal((JSON.parse(body.toString()) as { target: string }).target, 'Fine');
      else assert.deepEqual([...body.subarray(0, 2)], [0x95, 1]);
    });
  }

  it('answers an invocation itself whose name is not a segment of a path, or whose answer is not a text', async () => {
    const seen: Seen[] = [];
    const bad = Buffer.from('{"type":3,"invocationId":"0","result":"\xff"}\x1e', 'latin1');
    const url = await webhook(seen, () => [200, bad]);
    await start({
      upstreams: [{ url: `${url}/{hub}/{category}/{event}`, categories: 'messages' }],
    });
    const { connection } = await connected();
    await assert.rejects(
      connection.invoke('..'),
      /Invocation failed. The upstream has no URL for the event '..': it is not a segment of a path./,
    );
    assert.equal(seen.length, 0);
    await assert.rejects(connection.invoke('Bytes'), /not a completion/);
    assert.equal(seen[0]?.url, '/chat/messages/Bytes');
  });

  it('says so when a webhook cannot be reached, and takes its address from a client of its key', async () => {
    await start({ upstreams: [{ url: 'http://127.0.0.1:1/', events: 'Gone' }] });
    const { connection } = await connected();
    await assert.rejects(
      connection.invoke('Gone'),
      /Invocation failed. The upstream handler could not be reached \(ECONNREFUSED\)/,
    );
    await connection.send('Unwanted');
    const url = await webhook([], () => [204, '']);
    const put = async (body: object, token?: string): Promise<number> =>
      (await peer.rest('PUT', '/emulator/hubs/chat/handler', body, token)).status;
    assert.equal(await put({ url: 'http://example.org/' }), 400);
    assert.equal(await put({ url: url.replace('//', '//{event}.') }), 400);
    for (const [hub, status] of [
      ['chat%2ceu%5b1%5d', 204],
      ['chat%2feu', 400],
      ['chat%2', 400],
    ] as const) {
      const path = `/emulator/hubs/${hub}/handler`;
      assert.equal((await peer.rest('PUT', path, { url })).status, status, hub);
    }
    assert.equal(await put({ url }, 'none'), 401);
    assert.equal(await put({ url }), 204);
    assert.equal(await connection.invoke('Unwanted'), undefined);
    const seen: Seen[] = [];
    const other = await webhook(seen, () => [204, '']);
    const handlers = [
      { url: `${other}/first/{hub}/{event}`, categories: 'messages', events: 'One, two' },
      { url: `${other}/rest/{category}/{event}` },
      { url: `${other}/never` },
    ];
    assert.equal(await put({ handlers: [...handlers, { url: 'http://example.org/' }] }), 400);
    assert.equal(await put({ handlers: [{ url: other, events: 7 }] }), 400);
    assert.equal(await put({ handlers }), 204);
    for (const name of ['one', 'Two', 'Three']) await connection.invoke(name);
    await connection.stop();
    while (seen.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(
      seen.map((one) => one.url),
      [
        '/first/chat/one',
        '/first/chat/Two',
        '/rest/messages/Three',
        '/rest/connections/disconnected',
      ],
    );
  });

  it('takes no app servers when it is forced to be serverless, but those that only send', async () => {
    await start({ mode: 'serverless' });
    const refused = await ScriptedAppServer.open(peer, 'chat');
    refused.shakeHands();
    assert.match((await refused.next(2)).errorMessage ?? '', /serverless mode/);
    assert.equal(await refused.closed, 1000);
    const sender = await ScriptedAppServer.connect(peer, 'chat', 'sender', 2);
    const ann = await connected();
    const note = Buffer.from('{"type":1,"target":"note","arguments":["weak"]}\x1e');
    sender.send({ type: 10, payloads: [['json', note]] });
    assert.deepEqual(await notesOf(ann, 1), [['weak']]);
    const connectionId = ann.connection.connectionId!;
    sender.send({ type: 5, connectionId, errorMessage: 'enough' });
    assert.match(String(await ann.closed), /enough/);
    await sender.close();
  });
});
