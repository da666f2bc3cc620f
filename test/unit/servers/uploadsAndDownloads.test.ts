import assert from 'node:assert/strict';
import type { BenchHub } from '../../../src/servers/hub/benchHub';
import { VirtualTime } from '../../fakes/virtualTime';
import { hubAndClient, type RawClient } from './rawClient';

const item = (n: unknown): object => ({ type: 2, invocationId: 's', item: { n } });
const upload = { type: 1, invocationId: '1', target: 'StreamingUpload', arguments: [] };
const streamed = { ...upload, streamIds: ['s'] };
const ended = { type: 3, invocationId: 's' };
const download = (items: unknown, delayMs: unknown, payload: unknown = { n: 1 }): object => ({
  type: 4,
  invocationId: '1',
  target: 'StreamingDownload',
  arguments: [payload, items, delayMs],
});
const numbered = (digits: string, payload: object = { n: 1 }): object => ({
  type: 2,
  invocationId: '1',
  item: { 'bench.Item': digits, ...payload },
});
const over = { type: 3, invocationId: '1' };

describe('StreamingUpload of the bench hub', () => {
  let hub: BenchHub;
  let client: RawClient;
  beforeEach(async () => ({ hub, client } = await hubAndClient()));
  afterEach(() => hub.dispose());

  it('answers with the number of items, which is the delivery', async () => {
    client.sendJson(streamed, item(1), item(2), item(null), ended);
    assert.deepEqual(await client.message(), { type: 3, invocationId: '1', result: 3 });
    client.sendJson(streamed, ended);
    assert.deepEqual(await client.message(), { type: 3, invocationId: '1', result: 0 });
    assert.equal(hub.counts.deliveries, 2);
  });

  it('answers with an error when the client ends the stream with one', async () => {
    client.sendJson(streamed, item(1), { ...ended, error: 'mine' });
    const error = "An unexpected error occurred invoking 'StreamingUpload' on the server.";
    assert.deepEqual(await client.message(), { ...over, error });
  });

  it('refuses calls without a stream or as a stream, and ignores items nobody asked for', async () => {
    client.sendJson(upload, { ...streamed, type: 4 }, item(1));
    for (const text of [/Client sent 0 stream\(s\), Hub method expects 1/, /non-streaming/])
      assert.match((await client.message()).error ?? '', text);
    client.sendJson({ ...streamed, invocationId: undefined }, item(1), ended);
    assert.deepEqual(await client.settle(), []);
  });
});

describe('StreamingDownload of the bench hub', () => {
  let hub: BenchHub;
  let client: RawClient;
  beforeEach(async () => ({ hub, client } = await hubAndClient()));
  afterEach(() => hub.dispose());

  it('gives the dictionary back, numbered, and completes', async () => {
    client.sendJson(download(3, 0), download(0, 0));
    for (const digits of ['00000000', '00000001', '00000002'])
      assert.deepEqual(await client.message(), numbered(digits));
    assert.deepEqual(await client.message(), over);
    assert.deepEqual(await client.message(), over);
    assert.equal(hub.counts.deliveries, 3);
  });

  it('sends each item at its time, and none that is not wanted any more', async () => {
    const time = new VirtualTime().install();
    try {
      client.sendJson(download(1000, 40));
      for (const [n, digits] of ['00000000', '00000001', '00000002'].entries()) {
        assert.deepEqual(await client.message(), numbered(digits));
        await time.to(n * 40 + 39);
        assert.equal(hub.counts.deliveries, n + 1);
        if (n < 2) await time.to(n * 40 + 40);
      }
      client.sendJson({ type: 5, invocationId: '1' });
      assert.deepEqual(await client.settle(), [over]);
    } finally {
      time.restore();
    }
    assert.equal(hub.counts.deliveries, 3);
  });

  it('waits for a client that does not read instead of closing it', async () => {
    const blob = { n: 'x'.repeat(65_536) };
    client.socket.pause();
    client.sendJson(download(300, 0, blob));
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(hub.counts.deliveries < 300, `${hub.counts.deliveries} sent into the void`);
    client.socket.resume();
    for (let n = 0; n < 300; n++)
      assert.deepEqual(await client.message(), numbered(n.toString(16).padStart(8, '0'), blob));
    assert.deepEqual(await client.message(), over);
  });

  it('refuses what does not bind, and an id that is in use', async () => {
    client.sendJson(
      download('3', 0),
      download(3, 1.5),
      download(3, 0, 'text'),
      download(3, 0, null),
    );
    for (let count = 0; count < 4; count++)
      assert.match((await client.message()).error ?? '', /invok.*'StreamingDownload'/);
    client.sendJson(download(2, 10_000), download(1, 0));
    assert.deepEqual(await client.message(), numbered('00000000'));
    assert.match((await client.message()).error ?? '', /'1' is already in use/);
  });
});
