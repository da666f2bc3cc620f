import assert from 'node:assert/strict';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../../../src/servers/webpubsub/webPubSubEmulator';
import {
  readProtobufServerMessage,
  writeProtobufClientMessage,
} from '../../../../src/wire/webpubsub/protobufMessages';
import { rotateKeys } from '../../../fakes/serviceFaults';
import { endpointOf, json, Peer, protobuf, restText, tokenFor } from '../../../fakes/pubSubPeer';

describe('clients of the emulator of Web PubSub', () => {
  let emulator: WebPubSubEmulator;
  beforeEach(async () => (emulator = await startWebPubSubEmulator()));
  afterEach(() => emulator.dispose());

  const data = { dataType: 'text', data: 'hello' };
  const fromGroup = { type: 'message', from: 'group', group: 'g', ...data };

  it('connect with a token for their hub, in both forms of the URL', async () => {
    const endpoint = endpointOf(emulator);
    const socketUrl = endpoint.replace('http', 'ws');
    const audience = `${endpoint}/client/hubs/chat`;
    const token = tokenFor(emulator, audience, { sub: 'ann' });
    for (const path of ['/client/hubs/chat?', '/client/?hub=chat&', '/client?hub=chat&']) {
      const url = `${socketUrl}${path}access_token=${token}`;
      const { connected } = await Peer.connect(emulator, { url });
      assert.equal(connected['userId'], 'ann');
    }
    const withoutPort = tokenFor(emulator, 'http://127.0.0.1/client/hubs/chat');
    await Peer.connect(emulator, {
      url: `${socketUrl}/client/hubs/chat?access_token=${withoutPort}`,
    });
    assert.equal(emulator.connectionCount, 4);
  });

  it('are refused without', async () => {
    const endpoint = endpointOf(emulator);
    const socketUrl = endpoint.replace('http', 'ws');
    const token = tokenFor(emulator, `${endpoint}/client/hubs/chat`);
    const refused: [path: string, status: number][] = [
      ['/client/hubs/chat', 401],
      ['/client/hubs/chat?access_token=x', 401],
      [`/client/hubs/other?access_token=${token}`, 401],
      [`/client/hubs/chat?access_token=${token}x`, 401],
      [`/client/hubs/chat?access_token=${'x'.repeat(5000)}`, 413],
      [`/client/hubs/1chat?access_token=${token}`, 400],
      [`/client/hubs/%?access_token=${token}`, 400],
      [`/client/?hub=chat&hub=chat&access_token=${token}`, 400],
      [`/client?access_token=${token}`, 400],
      [`/server/?hub=chat&access_token=${token}`, 404],
    ];
    for (const [path, status] of refused) {
      const opening = Peer.open(emulator, { protocol: json, url: socketUrl + path });
      await assert.rejects(opening, new RegExp(`refused with ${status}`), path);
    }
    await assert.rejects(Peer.open(emulator, { protocol: [json, 'mine'] }), /refused with 400/);
    assert.equal(emulator.connectionCount, 0);
  });

  it('connect without a token where that is allowed, and no more than the units take', async () => {
    await emulator.dispose();
    emulator = await startWebPubSubEmulator({ allowAnonymous: true, unit: 0.002 });
    const url = `${endpointOf(emulator)}/client/hubs/chat`.replace('http', 'ws');
    const { connected } = await Peer.connect(emulator, { url });
    assert.deepEqual(Object.keys(connected), ['type', 'event', 'connectionId']);
    await assert.rejects(Peer.open(emulator, { url: `${url}?access_token=x` }), /401/);
    await Peer.open(emulator, { url });
    await assert.rejects(Peer.open(emulator, { url }), /refused with 429/);
    assert.equal(emulator.connectionCount, 2);
  });

  it('need a token of the new key once it is rotated', async () => {
    const [url, audience] = [Peer.urlOf(emulator), `${endpointOf(emulator)}/client/hubs/chat`];
    const open = await Peer.connect(emulator, { url });
    rotateKeys(emulator, ['new', 'newer']);
    assert.match(emulator.connectionString, /AccessKey=new;/);
    await assert.rejects(Peer.open(emulator, { url }), /refused with 401/);
    const token = tokenFor({ connectionString: 'AccessKey=newer;' }, audience);
    await Peer.connect(emulator, { url: `${url.split('=', 1)[0]!}=${token}` });
    assert.deepEqual(await open.ask({ type: 'ping' }), { type: 'pong' });
  });

  it('join, leave and send as their roles allow', async () => {
    const ann = await Peer.connect(emulator, {
      claims: {
        sub: 'ann',
        role: ['webpubsub.joinLeaveGroup.g', 'webpubsub.sendToGroups.g*'],
        'webpubsub.group': ['first'],
      },
    });
    const ack = (ackId: number): object => ({ type: 'ack', ackId, success: true });
    const refusal = async (message: object): Promise<unknown> => {
      const { error } = await ann.ask(message);
      return (error as { name: string }).name;
    };
    assert.deepEqual(await ann.ask({ type: 'joinGroup', group: 'g', ackId: 1 }), ack(1));
    assert.equal(await refusal({ type: 'joinGroup', group: 'h', ackId: 2 }), 'Forbidden');
    assert.equal(
      await refusal({ type: 'sendToGroup', group: 'h', ackId: 3, ...data }),
      'Forbidden',
    );
    assert.deepEqual(
      await ann.ask({ type: 'sendToGroup', group: 'g2', ackId: 3, ...data }),
      ack(3),
    );
    assert.equal(
      await refusal({ type: 'sendToGroup', group: 'g', ackId: 3, ...data }),
      'Duplicate',
    );
    assert.equal(await refusal({ type: 'event', event: 'e', ackId: 9, ...data }), 'NotFound');
    const got = await ann.ask({ type: 'sendToGroup', group: 'g', ...data });
    assert.deepEqual(got, { ...fromGroup, fromUserId: 'ann' });
    assert.equal((await restText(emulator, 'groups/first/:send', 'x')).status, 202);
    const fromRest = { ...fromGroup, group: 'first', data: 'x' };
    assert.deepEqual(await ann.message(), fromRest);
    ann.send({ type: 'sendToGroup', group: 'g', noEcho: true, ...data });
    ann.send({ type: 'sendToGroup', group: 'h', ...data });
    assert.deepEqual(await ann.ask({ type: 'leaveGroup', group: 'g', ackId: 4 }), ack(4));
    ann.send({ type: 'sendToGroup', group: 'g', ...data });
    assert.deepEqual(await ann.ask({ type: 'ping' }), { type: 'pong' });
    const stream = await ann.ask({ type: 'sendToGroup', group: 'g', stream: { streamId: 's' } });
    assert.deepEqual([stream['type'], stream['streamId']], ['streamClosed', 's']);
    assert.deepEqual(ann.received, []);
  });

  it('get a message in their own form, encoded as they can read it', async () => {
    const claims = { role: ['webpubsub.sendToGroup'], 'webpubsub.group': ['g'] };
    const [inJson, plain] = [
      await Peer.connect(emulator, { claims }),
      await Peer.open(emulator, { claims }),
    ];
    const inProtobuf = await Peer.open(emulator, { claims, protocol: protobuf });
    const connected = readProtobufServerMessage(await inProtobuf.frame());
    assert.equal(connected?.type, 'connected');
    const payloads = [
      { dataType: 'json', bytes: Buffer.from('{"a": 1.0}') },
      { dataType: 'text', bytes: Buffer.from('ü') },
      { dataType: 'binary', bytes: Buffer.from([0, 255]) },
      { dataType: 'protobuf', bytes: Buffer.from([10, 1, 120]) },
    ] as const;
    const shown = ['{"a": 1.0}', '"ü"', '"AP8="', '"CgF4"'];
    for (const [index, payload] of payloads.entries()) {
      const message = {
        type: 'sendToGroup',
        group: 'g',
        ackId: undefined,
        noEcho: false,
        payload,
      } as const;
      inProtobuf.send(writeProtobufClientMessage(message));
      const back = readProtobufServerMessage(await inProtobuf.frame());
      assert.ok(back?.type === 'message' && back.group === 'g');
      assert.deepEqual(back.payload, payload);
      assert.deepEqual(await plain.frame(), payload.bytes);
      assert.equal(
        (await inJson.frame()).toString(),
        `{"type":"message","from":"group","group":"g","dataType":"${payload.dataType}","data":${shown[index]}}`,
      );
    }
    inJson.send({ type: 'sendToGroup', group: 'g', dataType: 'binary', data: 'AQI=' });
    const back = readProtobufServerMessage(await inProtobuf.frame());
    assert.ok(back?.type === 'message');
    assert.deepEqual(back.payload, { dataType: 'binary', bytes: Buffer.from([1, 2]) });
    assert.equal(emulator.counts.delivered, 15);
  });

  it('that send what is no message are reported, and dropped', async () => {
    const bad: (object | string | Buffer)[] = [
      'garbage',
      Buffer.from('{"type":"ping"}'),
      { type: 'joinGroup', group: ' ' },
      { type: 'joinGroup', group: 'g'.repeat(1025) },
      { type: 'unknown' },
    ];
    for (const frame of bad) {
      const peer = await Peer.connect(emulator);
      peer.send(frame);
      const { type, event } = await peer.message();
      assert.deepEqual([type, event], ['system', 'disconnected']);
      assert.equal(await peer.closed, 1007);
    }
    const simple = await Peer.open(emulator);
    simple.send('nobody listens');
    assert.equal(await simple.closed, 1000);
    const large = await Peer.connect(emulator);
    large.send(`{"type":"sendToGroup","group":"g","data":"${'x'.repeat(1024 * 1024)}"}`);
    assert.equal(await large.closed, 1009);
    while (emulator.connectionCount > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('that do not read are closed at 1 MB, and nobody else', async () => {
    const claims = { 'webpubsub.group': ['g'] };
    const [slow, other] = [
      await Peer.connect(emulator, { claims }),
      await Peer.connect(emulator, { claims }),
    ];
    slow.socket.pause();
    const body = 'x'.repeat(256 * 1024);
    let sent = 0;
    // What the kernel buffers comes on top of the megabyte.
    while (emulator.connectionCount === 2 && sent < 100) {
      await restText(emulator, 'groups/g/:send', body);
      sent++;
    }
    assert.equal(emulator.connectionCount, 1);
    for (let n = 0; n < sent; n++) await other.frame();
    slow.socket.terminate();
  });
});
