import assert from 'node:assert/strict';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../../../src/servers/webpubsub/webPubSubEmulator';
import {
  endpointOf,
  everything,
  Peer,
  rest,
  restText,
  tokenFor,
  type JsonMessage,
} from '../../../fakes/pubSubPeer';

describe('REST calls to the emulator of Web PubSub', () => {
  let emulator: WebPubSubEmulator;
  before(async () => (emulator = await startWebPubSubEmulator()));
  after(() => emulator.dispose());

  const text = { body: 'x', contentType: 'text/plain' };
  const refused = async (
    method: string,
    path: string,
    options?: Parameters<typeof rest>[3],
  ): Promise<unknown[]> => {
    const { status, errorCode, body } = await rest(emulator, method, path, options);
    assert.deepEqual([body['code'], typeof body['message']], [errorCode, 'string']);
    return [status, errorCode];
  };

  it('need a token for their URL, with or without port and query', async () => {
    const path = '/api/hubs/chat/:send?api-version=2024-12-01';
    const endpoint = endpointOf(emulator);
    const send = (token: string | null): Promise<unknown[]> =>
      refused('POST', path, { ...text, token });
    assert.deepEqual(await send(null), [401, 'Unauthorized']);
    assert.deepEqual(await send('x'), [401, 'Unauthorized']);
    const elsewhere = ['/api/hubs/other/:send', '/api/hubs/chat', '/client/hubs/chat'];
    for (const audience of elsewhere) {
      assert.deepEqual(await send(tokenFor(emulator, endpoint + audience)), [401, 'Unauthorized']);
    }
    const foreign = tokenFor(emulator, `http://example.com${path}`);
    assert.deepEqual(await send(foreign), [401, 'Unauthorized']);
    const good = [
      `${endpoint}${path}`,
      `${endpoint}/api/hubs/chat/:send`,
      'http://127.0.0.1/api/hubs/chat/:send',
      'http://localhost/api/hubs/chat/:send',
    ];
    for (const audience of good) {
      const { status } = await rest(emulator, 'POST', path, {
        ...text,
        token: tokenFor(emulator, audience),
      });
      assert.equal(status, 202, audience);
    }
    assert.equal((await rest(emulator, 'HEAD', '/api/health', { token: null })).status, 200);
  });

  it('are refused with a code and a sentence', async () => {
    assert.deepEqual(await refused('POST', '/nothing'), [404, 'NotFound']);
    assert.deepEqual(await refused('POST', ':nothing'), [404, 'NotFound']);
    assert.deepEqual(await refused('PATCH', ':send'), [405, 'MethodNotAllowed']);
    assert.deepEqual(await refused('POST', '/api/hubs/chat/:send', text), [
      400,
      'InvalidApiVersion',
    ]);
    const version = '?api-version=2024-12-01';
    assert.deepEqual(await refused('POST', `/api/hubs/1/:send${version}`, text), [
      400,
      'InvalidRequest',
    ]);
    assert.deepEqual(await refused('POST', ':send', { body: 'x' }), [415, 'UnsupportedMediaType']);
    const xml = { body: 'x', contentType: 'application/xml' };
    assert.deepEqual(await refused('POST', ':send', xml), [415, 'UnsupportedMediaType']);
    const json = { body: '{', contentType: 'application/json' };
    assert.deepEqual(await refused('POST', ':send', json), [400, 'InvalidRequest']);
    const latin = { body: Buffer.from([0xe4]), contentType: 'text/plain' };
    assert.deepEqual(await refused('POST', ':send', latin), [400, 'InvalidRequest']);
    const long = { body: 'x'.repeat(1024 * 1024 + 1), contentType: 'text/plain' };
    assert.deepEqual(await refused('POST', ':send', long), [413, 'PayloadTooLarge']);
    assert.deepEqual(await refused('POST', ':send?filter=x', text), [400, 'InvalidFilter']);
    assert.deepEqual(await refused('POST', ':send?messageTtlSeconds=301', text), [
      400,
      'InvalidRequest',
    ]);
    assert.deepEqual(await refused('POST', 'groups/%20/:send', text), [400, 'InvalidRequest']);
    const notExisted = [404, 'Error.Connection.NotExisted'];
    for (const path of ['connections/x/:send', 'groups/g/connections/x', 'connections/x']) {
      const method = path.includes('send') ? 'POST' : path.includes('groups') ? 'PUT' : 'DELETE';
      assert.deepEqual(await refused(method, path, method === 'DELETE' ? {} : text), notExisted);
    }
    assert.deepEqual(await refused('POST', ':addToGroups', { body: '{"groups":[1]}' }), [
      400,
      'InvalidRequest',
    ]);
    assert.deepEqual(await refused('GET', 'groups/g/connections?maxpagesize=0'), [
      400,
      'InvalidRequest',
    ]);
    assert.deepEqual(await refused('PUT', 'permissions/fly/connections/x'), notExisted);
    assert.deepEqual(await refused('POST', ':generateToken?minutesToExpire=0'), [
      400,
      'InvalidRequest',
    ]);
    assert.deepEqual(await refused('POST', ':generateToken?clientType=MQTT'), [
      400,
      'InvalidRequest',
    ]);
    for (const [path, code] of [
      ['connections/x', 'Warning.Connection.NotExisted'],
      ['users/x', 'Warning.User.NotExisted'],
      ['groups/x', 'Warning.Group.NotExisted'],
    ] as const) {
      const { status, errorCode } = await rest(emulator, 'HEAD', path);
      assert.deepEqual([status, errorCode], [404, code]);
    }
  });

  it('put a client into a bounded number of groups, as it may itself', async () => {
    const peer = await Peer.connect(emulator, { claims: { sub: 'eve', role: everything } });
    const groups = Array.from({ length: 10_000 }, (_, index) => `g${index}`);
    const filter = "userId eq 'eve'";
    const add = (names: readonly string[]): object => ({
      body: JSON.stringify({ groups: names, filter }),
      contentType: 'application/json',
    });
    assert.equal((await rest(emulator, 'POST', ':addToGroups', add(groups))).status, 200);
    const full = [400, 'InvalidRequest'];
    assert.deepEqual(await refused('POST', ':addToGroups', add(['more'])), full);
    const id = String(peer.connected['connectionId']);
    assert.deepEqual(await refused('PUT', `groups/more/connections/${id}`), full);
    assert.deepEqual(await refused('PUT', 'users/eve/groups/more'), full);
    const join = (group: string): Promise<JsonMessage> =>
      peer.ask({ type: 'joinGroup', group, ackId: group.length });
    assert.deepEqual(
      [(await join('more'))['success'], (await join('g0'))['success']],
      [false, true],
    );
    await rest(emulator, 'POST', ':closeConnections');
  });

  it('send to whom they name, and to nobody twice', async () => {
    const peers = await Promise.all(
      ['ann', 'ann', 'bob'].map((sub, index) =>
        Peer.connect(emulator, { claims: { sub, 'webpubsub.group': ['g', `own${index}`] } }),
      ),
    );
    const [first, second, third] = peers.map(({ connected }) => String(connected['connectionId']));
    const before = emulator.counts.delivered;
    for (const path of [
      ':send',
      `:send?excluded=${first}&excluded=${second}`,
      'groups/g/:send?filter=' + encodeURIComponent("userId eq 'ann'"),
      `users/ann/:send?filter=${encodeURIComponent("'own1' in groups")}`,
      `connections/${third}/:send`,
      'users/nobody/:send',
    ]) {
      assert.equal((await restText(emulator, path, path)).status, 202, path);
    }
    assert.equal(emulator.counts.delivered - before, 3 + 1 + 2 + 1 + 1);
    for (const peer of peers) await peer.settled();
    assert.deepEqual(
      peers.map(({ received }) => received.length),
      [2, 3, 3],
    );
    const close = await rest(
      emulator,
      'POST',
      `groups/g/:closeConnections?reason=r?&excluded=${third}`,
    );
    assert.deepEqual([close.status, emulator.connectionCount], [204, 1]);
    await rest(emulator, 'POST', ':closeConnections');
  });

  it('make tokens, and list the members of a group by pages', async () => {
    const reply = await rest(
      emulator,
      'POST',
      ':generateToken?userId=ann&role=webpubsub.sendToGroup.a&role=webpubsub.joinLeaveGroup&group=g&minutesToExpire=1',
    );
    const socketUrl = endpointOf(emulator).replace('http', 'ws');
    const url = `${socketUrl}/client/hubs/chat?access_token=${String(reply.body['token'])}`;
    const made = await Promise.all(
      Array.from({ length: 5 }, () => Peer.connect(emulator, { url })),
    );
    const ids = made.map(({ connected }) => String(connected['connectionId'])).sort();
    assert.equal(
      (await made[0]!.ask({ type: 'joinGroup', group: 'h', ackId: 1 }))['success'],
      true,
    );
    const listed: string[] = [];
    const pages: number[] = [];
    let path: string | undefined = 'groups/g/connections?maxpagesize=2';
    while (path !== undefined) {
      const { body } = await rest(emulator, 'GET', path);
      const value = body['value'] as { connectionId: string; userId: string }[];
      assert.ok(value.every(({ userId }) => userId === 'ann'));
      listed.push(...value.map(({ connectionId }) => connectionId));
      pages.push(value.length);
      path = (body['nextLink'] as string | undefined)?.slice(endpointOf(emulator).length);
    }
    assert.deepEqual([pages, listed.sort()], [[2, 2, 1], ids]);
    const { body } = await rest(emulator, 'GET', 'groups/g/connections?top=3');
    assert.deepEqual([(body['value'] as unknown[]).length, body['nextLink']], [3, undefined]);
  });
});
