import type { IncomingMessage } from 'node:http';
import { SignJWT } from 'jose';
import { HubTokenCheck, startBenchHub, type BenchHub } from '../../../../src/servers/hub/benchHub';
import type { ExpectedError } from '../../../../src/base/expectedError';
import { VirtualTime } from '../../../fakes/virtualTime';
import { handshake, RawClient, separator, upgradeStatus } from '../rawClient';
import assert from 'node:assert/strict';

const key = 'the key of the hub';
const nowMs = 1_000_000_000_000;

const tokenOf = (changes: { alg?: string; by?: string; expS?: number; sub?: string } = {}) => {
  const { alg = 'HS256', by = key, expS = nowMs / 1000 + 60, sub = 'ann' } = changes;
  return new SignJWT({ sub })
    .setProtectedHeader({ alg })
    .setExpirationTime(expS)
    .sign(new TextEncoder().encode(by.padEnd(64, '.').slice(0, alg === 'HS256' ? by.length : 64)));
};
const asked = (url: string, authorization?: string): IncomingMessage =>
  ({ url, headers: { ...(authorization !== undefined && { authorization }) } }) as IncomingMessage;

describe('a hub that wants tokens', () => {
  const tokens = new HubTokenCheck(key, () => nowMs);

  it('lets in who shows one of its key, in the header or in the query', async () => {
    const [ann, bob] = [await tokenOf(), await tokenOf({ sub: 'bob' })];
    assert.equal(tokens.refusal(asked('/hub', `Bearer ${ann}`)), undefined);
    assert.equal(tokens.refusal(asked(`/hub?access_token=${bob}`)), undefined);
    assert.deepEqual([...tokens.users], ['ann', 'bob']);
  });

  it('refuses all others with 401, and says why', async () => {
    const good = await tokenOf();
    const [head = '', , signature = ''] = good.split('.');
    const other = Buffer.from('{"sub":"eve","exp":9e9}').toString('base64url');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const cases: readonly (readonly [token: string, why: RegExp])[] = [
      ['', /wants an access token/],
      ['opaque', /not a JSON web token/],
      [`${good}.x`, /not a JSON web token/],
      [`${none}.${other}.`, /not a JSON web token/],
      [await tokenOf({ alg: 'HS512' }), /not a JSON web token/],
      [`${head}.${other}.${signature}`, /does not fit/],
      [await tokenOf({ by: 'another key' }), /does not fit/],
      [await tokenOf({ expS: nowMs / 1000 }), /has expired/],
    ];
    for (const [token, why] of cases) {
      const refusal = tokens.refusal(asked('/hub', token === '' ? undefined : `Bearer ${token}`));
      assert.equal(refusal?.status, 401, token);
      assert.match(refusal.text, why);
    }
    assert.ok(!tokens.users.has('eve'));
  });
});

interface Negotiated {
  readonly negotiateVersion: number;
  readonly connectionId: string;
  readonly connectionToken?: string;
  readonly availableTransports: readonly object[];
  readonly error?: string;
}

async function negotiate(url: string, query = '?negotiateVersion=1'): Promise<Negotiated> {
  const response = await fetch(`${url}/negotiate${query}`, { method: 'POST' });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json');
  return (await response.json()) as Negotiated;
}

describe('bench hub', () => {
  let hub: BenchHub;
  beforeEach(async () => (hub = await startBenchHub()));
  afterEach(() => hub.dispose());

  it('listens on loopback and names its whole URL', () => {
    assert.match(hub.url, /^http:\/\/127\.0\.0\.1:\d+\/signalrbench$/);
  });

  it('names a port that is taken and says what to do', async () => {
    const port = Number(new URL(hub.url).port);
    await assert.rejects(startBenchHub({ port }), (error: ExpectedError) => {
      assert.equal(error.code, 'port-taken');
      assert.match(error.message, new RegExp(`Port ${port} .*another port`));
      return true;
    });
  });

  describe('negotiate', () => {
    it('gives version 1 clients a public id and a secret token', async () => {
      const answer = await negotiate(hub.url);
      assert.equal(answer.negotiateVersion, 1);
      assert.match(answer.connectionId, /^[\w-]{22}$/);
      assert.match(answer.connectionToken ?? '', /^[\w-]{22}$/);
      assert.notEqual(answer.connectionId, answer.connectionToken);
      assert.deepEqual(answer.availableTransports, [
        { transport: 'WebSockets', transferFormats: ['Text', 'Binary'] },
        { transport: 'ServerSentEvents', transferFormats: ['Text'] },
        { transport: 'LongPolling', transferFormats: ['Text', 'Binary'] },
      ]);
      const client = await RawClient.connect(`${hub.url}?id=${answer.connectionToken}`);
      assert.equal(client.id, answer.connectionId);
    });

    it('lets version 0 clients connect with the connection id', async () => {
      const answer = await negotiate(hub.url, '');
      assert.equal(answer.negotiateVersion, 0);
      assert.equal(answer.connectionToken, undefined);
      const client = await RawClient.connect(`${hub.url}?id=${answer.connectionId}`);
      assert.equal(client.id, answer.connectionId);
    });

    it('settles on version 1 with newer clients and refuses what is not a number', async () => {
      assert.equal((await negotiate(hub.url, '?negotiateVersion=7')).negotiateVersion, 1);
      assert.match((await negotiate(hub.url, '?negotiateVersion=x')).error ?? '', /non-integer/);
    });

    it('answers an id in use with 409, and one that is unknown or used up with 404', async () => {
      const { connectionToken } = await negotiate(hub.url);
      const url = `${hub.url}?id=${connectionToken}`;
      const client = await RawClient.connect(url);
      assert.equal(await upgradeStatus(url), 409);
      client.socket.close();
      await client.closed;
      while (hub.connectionCount > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(await upgradeStatus(url), 404);
      assert.equal(await upgradeStatus(`${hub.url}?id=never-issued`), 404);
    });

    it('forgets an id that nobody connects with', async () => {
      const time = new VirtualTime().install();
      const { connectionToken } = await negotiate(hub.url);
      await time.to(15_000);
      assert.equal(await upgradeStatus(`${hub.url}?id=${connectionToken}`), 404);
      time.restore();
    });

    it('answers other methods with 405 and other paths with 404', async () => {
      const status = async (path: string, method: string): Promise<number> =>
        (await fetch(new URL(path, hub.url), { method })).status;
      assert.equal(await status('/signalrbench/negotiate', 'GET'), 405);
      assert.equal(await status('/signalrbench', 'PUT'), 405);
      assert.equal(await status('/signalrbench', 'GET'), 400);
      assert.equal(await status('/other/negotiate', 'POST'), 404);
      assert.equal(await status('/', 'GET'), 404);
      assert.equal(await upgradeStatus(hub.url.replace('signalrbench', 'other')), 404);
    });

    it('takes paths in any case, as ASP.NET Core does', async () => {
      const upper = hub.url.replace('signalrbench', 'SignalRBench');
      await negotiate(upper);
      await RawClient.connect(upper);
    });
  });

  describe('methods', () => {
    let a: RawClient;
    let b: RawClient;
    beforeEach(async () => {
      a = await RawClient.connect(hub.url);
      b = await RawClient.connect(hub.url);
    });

    it('Echo gives the payload back to the sender only, byte for byte', async () => {
      const args = '[ {"n":12345678901234567890.10, "f":1.0,"s":"\\u0041ä\\"}","n":null} ]';
      a.socket.send(`{"type":1,"target":"Echo","arguments":${args}}${separator}`);
      const expected = `{"type":1,"target":"RecordLatency","arguments":${args}}`;
      assert.equal(await a.text(), expected);
      a.socket.send(
        `{"arguments":${args},"headers":{"x":"]}"},"target":"eCHO","type":1}${separator}`,
      );
      assert.equal(await a.text(), expected);
      assert.deepEqual(await b.settle(), []);
    });

    it('carries payloads of every frame length, up to the bound', async () => {
      for (const size of [0, 1, 60, 100, 125, 126, 2048, 65_400, 65_536, 1_000_000]) {
        a.send('Echo', { blob: 'x'.repeat(size) });
        const { arguments: args } = await a.message();
        assert.deepEqual(args, [{ blob: 'x'.repeat(size) }]);
      }
    });

    it('SendToClient reaches the connection named in the payload', async () => {
      const payload = {
        x: { 'information.ConnectionId': 'inner' },
        'information.ConnectionId': b.id,
      };
      a.send('SendToClient', payload);
      assert.deepEqual((await b.message()).arguments, [payload]);
      assert.deepEqual(await a.settle(), []);
      const gone = await a.invoke('SendToClient', { 'information.ConnectionId': 'gone' });
      assert.deepEqual(gone, { type: 3, invocationId: 'x', result: null });
    });

    it('groups are joined, served and left, and vanish when empty', async () => {
      a.send('JoinGroup', 'g"1');
      assert.deepEqual(await a.message(), { type: 1, target: 'JoinGroup', arguments: [] });
      const payload = { 'information.GroupName': 'g"1' };
      await b.invoke('SendToGroup', payload);
      assert.deepEqual((await a.message()).arguments, [payload]);
      a.send('JoinGroup', 'g"1');
      assert.equal((await a.message()).target, 'JoinGroup');
      await b.invoke('SendToGroup', payload);
      assert.equal((await a.settle()).length, 1, 'joining twice is joining once');
      a.send('LeaveGroup', 'g"1');
      assert.deepEqual(await a.message(), { type: 1, target: 'LeaveGroup', arguments: [] });
      await b.invoke('SendToGroup', payload);
      assert.deepEqual(await a.settle(), []);
      assert.equal(hub.counts.deliveries, 2);
    });

    it('a closed connection is in no group and gets no broadcast', async () => {
      await b.invoke('JoinGroup', 'g');
      b.socket.close();
      await b.closed;
      await a.invoke('SendToGroup', { 'information.GroupName': 'g' });
      await a.invoke('Broadcast', {});
      assert.equal(hub.counts.deliveries, 1);
    });

    it('answers wrong calls in the words of ASP.NET Core', async () => {
      const cases: [string, unknown[], string][] = [
        [
          'Foo',
          [],
          "Failed to invoke 'Foo' due to an error on the server. HubException: Method does not exist.",
        ],
        ['echo', [{}, {}], "Failed to invoke 'Echo' due to an error on the server."],
        ['Echo', [], "Failed to invoke 'Echo' due to an error on the server."],
        ['Echo', ['text'], "Failed to invoke 'Echo' due to an error on the server."],
        ['JoinGroup', [5], "Failed to invoke 'JoinGroup' due to an error on the server."],
        [
          'JoinGroup',
          ['x'.repeat(2000)],
          "An unexpected error occurred invoking 'JoinGroup' on the server.",
        ],
        [
          'SendToClient',
          [{}],
          "An unexpected error occurred invoking 'SendToClient' on the server.",
        ],
        ['SendToGroup', [{}], "An unexpected error occurred invoking 'SendToGroup' on the server."],
      ];
      for (const [target, args, error] of cases) {
        assert.deepEqual(await a.invoke(target, ...args), { type: 3, invocationId: 'x', error });
      }
      a.sendJson({ type: 4, invocationId: '1', target: 'Echo', arguments: [{}] });
      assert.match((await a.message()).error ?? '', /non-streaming 'Echo' method/);
      a.send('Foo');
      assert.deepEqual(await a.settle(), [], 'without an id nobody hears of it');
    });
  });

  describe('messages', () => {
    it('come several in a WebSocket message, or in pieces over several', async () => {
      const client = await RawClient.open(hub.url);
      const calls = [1, 2, 3].map(
        (id) => `{"type":1,"invocationId":"${id}","target":"GetConnectionId","arguments":[]}`,
      );
      const bytes = Buffer.from(handshake + calls.join(separator) + separator);
      for (let at = 0; at < bytes.length; at += 7) {
        client.socket.send(bytes.subarray(at, at + 7), { binary: at % 2 === 0 });
      }
      assert.equal(await client.text(), '{}');
      assert.equal((await client.message()).target, 'OnConnected');
      for (const id of ['1', '2', '3']) assert.equal((await client.message()).invocationId, id);
      client.socket.send(calls.join(separator) + separator);
      for (const id of ['1', '2', '3']) assert.equal((await client.message()).invocationId, id);
    });

    it('of unknown types, pings, acks and stray stream items are ignored', async () => {
      const client = await RawClient.connect(hub.url);
      client.sendJson(
        { type: 6 },
        { type: 77 },
        { type: 0 },
        { type: 2, invocationId: '1', item: 1 },
      );
      client.sendJson({ type: 3, invocationId: '1' }, { type: 5, invocationId: '1' });
      client.sendJson({ type: 8, sequenceId: 1 });
      assert.deepEqual(await client.settle(), []);
    });

    it('Close is answered with Close and ends the connection', async () => {
      const client = await RawClient.connect(hub.url);
      client.sendJson({ type: 7 });
      assert.equal(await client.text(), '{"type":7}');
      assert.equal(await client.closed, 1000);
    });
  });

  describe('keep-alive', () => {
    let time: VirtualTime;
    beforeEach(() => (time = new VirtualTime().install()));
    afterEach(() => time.restore());

    it('blames no client for what it has not read while it stood still itself', async () => {
      const own = await startBenchHub();
      const client = await RawClient.connect(own.url);
      client.sendJson({ type: 6 });
      await client.invoke('GetConnectionId');
      time.pass(40_000);
      // Read in time, as soon as it goes on.
      await time.to(40_000);
      assert.equal(own.connectionCount, 1);
      client.sendJson({ type: 6 });
      await client.invoke('GetConnectionId');
      await time.to(43_000);
      assert.equal((await client.invoke('GetConnectionId')).result, client.id);
      time.restore();
      await own.dispose();
    });

    it('pings, ends silent clients that have pinged, and ends late handshakes', async () => {
      const short = await startBenchHub();
      const [late, quiet, silent] = await Promise.all([
        RawClient.open(short.url),
        RawClient.connect(short.url),
        RawClient.connect(short.url),
      ]);
      silent.sendJson({ type: 6 });
      await silent.settle();
      await time.to(15_000);
      assert.deepEqual(await late.message(), { error: 'Handshake was canceled.' });
      assert.equal(await late.closed, 1000);
      assert.deepEqual(await quiet.message(), { type: 6 });
      await time.to(31_000);
      assert.equal(await silent.closed, 1000);
      const last = JSON.parse(silent.texts.at(-1) ?? '') as object;
      assert.deepEqual(last, {
        type: 7,
        error: 'Connection closed with an error.',
        allowReconnect: true,
      });
      assert.equal((await quiet.invoke('GetConnectionId')).result, quiet.id);
      time.restore();
      await short.dispose();
    });
  });
});
