import assert from 'node:assert/strict';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../../../src/servers/webpubsub/webPubSubEmulator';
import { readJsonServerMessage } from '../../../fakes/pubSubFrames';
import { readProtobufServerMessage } from '../../../../src/wire/webpubsub/protobufMessages';
import { subprotocols } from '../../../../src/wire/webpubsub/pubSubMessage';
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
    const typed = (contentType: string, body: string | Buffer) => ({ body, contentType });
    const json = (body: string) => typed('application/json', body);
    const bad = [400, 'Error.BadRequest'];
    const unsupported = [415, 'UnsupportedMediaType'];
    const fly = 'permissions/fly/connections/x';
    const cases: [string, string, unknown[], Parameters<typeof rest>[3]?][] = [
      ['POST', '/nothing', [404, 'NotFound']],
      ['POST', ':nothing', [404, 'NotFound']],
      ['PATCH', ':send', [405, 'MethodNotAllowed']],
      ['POST', '/api/hubs/chat/:send', [400, 'InvalidApiVersion'], text],
      ['POST', '/api/hubs/1/:send?api-version=2024-12-01', bad, text],
      ['POST', ':send', unsupported, { body: 'x' }],
      ['POST', ':send', unsupported, typed('application/xml', 'x')],
      ...['{', '"\\x"', '"\x01"', 'NaN', '['.repeat(64) + ']'.repeat(64)].map(
        (body): [string, string, unknown[], object] => ['POST', ':send', bad, json(body)],
      ),
      ['POST', ':send', bad, typed('text/plain', Buffer.from([0xe4]))],
      ['POST', ':send', [413, 'PayloadTooLarge'], typed('text/plain', 'x'.repeat(1024 * 1024 + 1))],
      ['POST', ':send?filter=x', bad, text],
      ['POST', ':send?messageTtlSeconds=301', bad, text],
      ['POST', 'groups/%20/:send', bad, text],
      ['PUT', 'groups/g/connections/x', [404, 'Error.Connection.NotExisted']],
      ['POST', ':addToGroups', bad, { body: '{"groups":[1]}' }],
      ['GET', 'groups/g/connections?maxpagesize=0', bad],
      ['PUT', fly, [404, 'Info.Connection.NotExisted']],
      ['DELETE', fly, bad],
      ['POST', ':generateToken?minutesToExpire=0', bad],
      ['POST', ':generateToken?clientType=MQTT', bad],
    ];
    for (const [method, path, refusal, options] of cases)
      assert.deepEqual(await refused(method, path, options), refusal, `${method} ${path}`);
    for (const [path, code] of [
      ['connections/x', 'Warning.Connection.NotExisted'],
      ['users/x', 'Warning.User.NotExisted'],
      ['groups/x', 'Warning.Group.NotExisted'],
      ['permissions/sendToGroup/connections/x', 'Info.Connection.NotExisted'],
    ] as const) {
      const { status, errorCode } = await rest(emulator, 'HEAD', path);
      assert.deepEqual([status, errorCode], [404, code]);
    }
  });

  it('with a filter that is none say what is wrong with it, and where', async () => {
    const message =
      "Invalid syntax for 'invalid filter': Syntax error at position 14 in 'invalid filter'. (Parameter 'filter')";
    const problem = (target: string): object => ({
      code: 'Error.BadRequest',
      message,
      target,
      errors: { [target]: [message] },
      type: null,
      title: 'One or more validation errors occurred.',
      status: 400,
      detail: null,
      instance: null,
      extensions: {},
    });
    const inQuery = await rest(emulator, 'POST', ':send?filter=invalid%20filter', text);
    assert.deepEqual([inQuery.status, inQuery.body], [400, problem('filter')]);
    const groups = { groups: ['group1', 'group2'], filter: 'invalid filter' };
    const inBody = await rest(emulator, 'POST', ':addToGroups', { body: JSON.stringify(groups) });
    assert.deepEqual([inBody.status, inBody.body], [400, problem('Filter')]);
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
    const full = [400, 'Error.BadRequest'];
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

  it('to a group come from the group, in every subprotocol', async () => {
    const claims = { 'webpubsub.group': ['g'] };
    const path = `groups/g/:send?filter=${encodeURIComponent("'g' in groups")}`;
    for (const protocol of subprotocols) {
      const peer = await Peer.open(emulator, { protocol: protocol.name, claims });
      await peer.frame();
      for (const each of [path, ':send']) await restText(emulator, each, 'hi');
      const read = protocol.format === 'json' ? readJsonServerMessage : readProtobufServerMessage;
      const message = {
        type: 'message',
        fromUserId: undefined,
        payload: { dataType: 'text', bytes: Buffer.from('hi') },
      };
      const numbers = protocol.isReliable ? [1, 2] : [undefined, undefined];
      assert.deepEqual(
        [read(await peer.frame()), read(await peer.frame())],
        [
          { ...message, from: 'group', group: 'g', sequenceId: numbers[0] },
          { ...message, from: 'server', group: undefined, sequenceId: numbers[1] },
        ],
        protocol.name,
      );
      peer.socket.terminate();
    }
    const simple = await Peer.open(emulator, { claims });
    await restText(emulator, path, 'plain');
    assert.equal((await simple.frame()).toString(), 'plain');
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
