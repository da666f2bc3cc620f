import assert from 'node:assert/strict';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../../../src/servers/webpubsub/webPubSubEmulator';
import {
  endpointOf,
  everything,
  json,
  Peer,
  reliableJson,
  rest,
  restText,
  type JsonMessage,
} from '../../../fakes/pubSubPeer';
import { VirtualTime } from '../../../fakes/virtualTime';

describe('reliable clients of the emulator of Web PubSub', () => {
  let emulator: WebPubSubEmulator;
  let time: VirtualTime;
  beforeEach(async () => {
    time = new VirtualTime();
    emulator = await startWebPubSubEmulator();
  });
  afterEach(async () => {
    time.restore();
    await emulator.dispose();
  });

  const connect = (): Promise<Peer & { connected: JsonMessage }> =>
    Peer.connect(emulator, { protocol: reliableJson });

  const urlOf = (connected: JsonMessage, change: Record<string, string> = {}): string => {
    const query = new URLSearchParams({
      awps_connection_id: String(connected['connectionId']),
      awps_reconnection_token: String(connected['reconnectionToken']),
      ...change,
    });
    return `${endpointOf(emulator).replace('http', 'ws')}/client/hubs/chat?${query.toString()}`;
  };

  const recover = (connected: JsonMessage, change?: Record<string, string>): Promise<Peer> =>
    Peer.open(emulator, { protocol: reliableJson, url: urlOf(connected, change) });

  const untilCount = async (count: number): Promise<void> => {
    while (emulator.connectionCount !== count)
      await new Promise((resolve) => setTimeout(resolve, 5));
  };

  const sendAll = async (from: number, to: number): Promise<void> => {
    for (let n = from; n <= to; n++) await restText(emulator, ':send', String(n));
  };

  const ids = (messages: readonly JsonMessage[]): unknown[] =>
    messages.map(({ sequenceId }) => sequenceId);

  const take = async (peer: Peer, count: number): Promise<JsonMessage[]> => {
    const messages: JsonMessage[] = [];
    while (messages.length < count) messages.push(await peer.message());
    return messages;
  };

  it('get what they have not acknowledged when they come back', async () => {
    const first = await connect();
    await sendAll(1, 3);
    assert.deepEqual(ids(await take(first, 3)), [1, 2, 3]);
    first.send({ type: 'sequenceAck', sequenceId: 2 });
    await first.settled();
    first.socket.terminate();
    await sendAll(4, 5);
    const second = await recover(first.connected);
    const connected = await second.message();
    assert.equal(connected['connectionId'], first.connected['connectionId']);
    assert.notEqual(connected['reconnectionToken'], first.connected['reconnectionToken']);
    const again = await take(second, 3);
    assert.deepEqual(
      again.map(({ sequenceId, data }) => [sequenceId, data]),
      [3, 4, 5].map((n) => [n, String(n)]),
    );
    // While the old socket still looks alive.
    const third = await recover(connected);
    assert.deepEqual(ids(await take(third, 4)), [undefined, 3, 4, 5]);
    assert.equal(await second.closed, 1006);
    assert.equal(emulator.connectionCount, 1);
  });

  it('cannot be recovered by anybody else, nor after they have gone in order', async () => {
    const { connected, socket } = await connect();
    const wrong: Record<string, string>[] = [
      { awps_reconnection_token: 'x' },
      { awps_connection_id: 'x' },
    ];
    for (const change of wrong) {
      assert.equal(await (await recover(connected, change)).closed, 1008);
    }
    const plain = await Peer.open(emulator, { protocol: json, url: urlOf(connected) });
    assert.equal(await plain.closed, 1008);
    assert.equal(emulator.connectionCount, 1);
    socket.close(1000);
    await untilCount(0);
    assert.equal(await (await recover(connected)).closed, 1008);
  });

  it('are closed for good with a thousand messages unacknowledged', async () => {
    const claims = { role: everything, 'webpubsub.group': ['g'] };
    const { connected, socket } = await Peer.connect(emulator, { protocol: reliableJson, claims });
    const sender = await Peer.connect(emulator);
    socket.terminate();
    const message = { type: 'sendToGroup', group: 'g', data: 1 };
    for (let n = 0; n < 1000; n++) sender.send(message);
    await sender.settled();
    assert.equal(emulator.connectionCount, 2);
    sender.send(message);
    await sender.settled();
    assert.equal(emulator.connectionCount, 1);
    assert.equal(await (await recover(connected)).closed, 1008);
  });

  it('get the window at their own pace, also when it is larger than what may be unread', async () => {
    const first = await connect();
    first.socket.terminate();
    const body = 'x'.repeat(512 * 1024);
    for (let n = 0; n < 12; n++) await restText(emulator, ':send', body);
    const second = await recover(first.connected);
    second.socket.pause();
    await restText(emulator, ':send', 'last');
    second.socket.resume();
    const messages = await take(second, 14);
    assert.equal(messages[13]!['data'], 'last');
    assert.equal(emulator.connectionCount, 1);
  });

  it('do not get what has expired, and hear when the server closes them', async () => {
    time.install();
    const first = await connect();
    first.socket.terminate();
    await rest(emulator, 'POST', ':send?messageTtlSeconds=1', {
      body: '1',
      contentType: 'text/plain',
    });
    await sendAll(2, 2);
    await time.to(1000);
    const second = await recover(first.connected);
    assert.deepEqual(ids(await take(second, 2)), [undefined, 2]);
    const { status } = await rest(emulator, 'POST', ':closeConnections?reason=done');
    assert.equal(status, 204);
    assert.deepEqual(await second.message(), {
      type: 'system',
      event: 'disconnected',
      message: 'done',
    });
    assert.equal(await second.closed, 1008);
  });
});
