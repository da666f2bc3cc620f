import { startBenchHub, type BenchHub } from '../../../../src/servers/hub/benchHub';
import { until } from '../../../fakes/until';
import { VirtualTime } from '../../../fakes/virtualTime';
import { hubAndClient, RawClient, separator, type Message } from '../rawClient';
import assert from 'node:assert/strict';

function call(delayMs: number, id = '1', streamId = 's'): object {
  return {
    type: 4,
    invocationId: id,
    target: 'StreamingEcho',
    arguments: [delayMs],
    streamIds: [streamId],
  };
}
const item = (n: unknown, streamId = 's'): object => ({
  type: 2,
  invocationId: streamId,
  item: { n },
});
const uploaded = (streamId = 's'): object => ({ type: 3, invocationId: streamId });
const back = (n: number, id = '1'): object => ({ type: 2, invocationId: id, item: { n } });
const ended = (id = '1'): object => ({ type: 3, invocationId: id });

describe('StreamingEcho of the bench hub', () => {
  let hub: BenchHub;
  let client: RawClient;
  let other: RawClient;
  let time: VirtualTime;
  beforeEach(async () => {
    time = new VirtualTime().install();
    ({ hub, client } = await hubAndClient());
    other = await RawClient.connect(hub.url);
  });
  afterEach(async () => {
    time.restore();
    await hub.dispose();
  });

  it('gives every item back with the id of the call, byte for byte', async () => {
    const json = '{"n":12345678901234567890.10, "f":1.0,"s":"\\u0041ä\\"}"}';
    const messages = [
      '{"streamIds":["s"],"arguments":[0],"invocationId":"7","target":"streamingECHO","type":4}',
      `{"item": ${json} ,"headers":{},"invocationId":"\\u0073","type":2}`,
      '{"type":2,"invocationId":"s","item":null}',
      '{"type":3,"invocationId":"s","result":5}',
    ];
    client.socket.send(messages.map((text) => text + separator).join(''));
    assert.equal(await client.text(), `{"type":2,"invocationId":"7","item":${json}}`);
    assert.equal(await client.text(), '{"type":2,"invocationId":"7","item":null}');
    assert.equal(await client.text(), '{"type":3,"invocationId":"7"}');
    assert.deepEqual(await client.settle(), []);
    assert.equal(hub.counts.deliveries, 2);
  });

  it('waits the delay before each item, one after the other', async () => {
    client.sendJson(call(40), item(1), item(2), item(3), uploaded());
    for (const n of [1, 2, 3]) {
      assert.deepEqual(await client.settle(), []);
      await time.to(n * 40 - 1);
      assert.equal(hub.counts.deliveries, n - 1);
      await time.to(n * 40);
      assert.deepEqual(await client.message(), back(n));
    }
    assert.deepEqual(await client.message(), ended());
  });

  it('serves several streams and other calls side by side', async () => {
    client.sendJson(call(200), call(0, '2', 't'), item(1), item(2, 't'), uploaded('t'));
    assert.deepEqual(await client.settle(), [back(2, '2'), ended('2')]);
    client.sendJson(uploaded());
    assert.deepEqual(await client.settle(), []);
    await time.to(200);
    assert.deepEqual(await client.message(), back(1));
    assert.deepEqual(await client.message(), ended());
  });

  it('completes with the error an upload ends with, behind its items', async () => {
    client.sendJson(call(20), item(1), item(2), { ...uploaded(), error: 'mine "x"' });
    assert.deepEqual(await client.settle(), []);
    await time.to(40);
    assert.deepEqual(await client.message(), back(1));
    assert.deepEqual(await client.message(), back(2));
    const intro = 'An error occurred on the server while streaming results. HubException:';
    assert.deepEqual(await client.message(), { ...ended(), error: `${intro} mine "x"` });
    client.sendJson(call(0), { type: 2, invocationId: 's', item: 5 }, item(1));
    const unbound = { ...ended(), error: `${intro} Failed to bind Stream message.` };
    assert.deepEqual(await client.settle(), [unbound]);
    client.sendJson(call(0), { ...uploaded(), error: 'x'.repeat(100_000) });
    const tooLong = `${intro} The error text is too long to be repeated.`;
    assert.deepEqual(await client.settle(), [{ ...ended(), error: tooLong }]);
  });

  it('ends a cancelled call with a completion and forgets its items', async () => {
    client.sendJson(call(30), item(1), item(2), { type: 5, invocationId: '1' }, item(3));
    client.sendJson(uploaded());
    assert.deepEqual(await client.settle(), [ended()]);
    await time.to(60);
    client.sendJson({ type: 5, invocationId: '1' }, { type: 5, invocationId: 'unknown' });
    assert.deepEqual(await client.settle(), []);
    assert.equal(hub.counts.deliveries, 0);
    client.sendJson(call(0), item(4), uploaded());
    assert.deepEqual(await client.settle(), [back(4), ended()], 'both ids are free again');
  });

  it('leaves an upload id that is used again alone when the earlier call is cancelled', async () => {
    client.sendJson(call(100), item(1), uploaded(), call(0, '2'));
    client.sendJson({ type: 5, invocationId: '1' }, item(2), uploaded());
    assert.deepEqual(await client.settle(), [ended(), back(2, '2'), ended('2')]);
  });

  it('ignores items and completions of unknown and ended streams', async () => {
    client.sendJson(item(1), uploaded(), { ...uploaded('t'), error: 'x' });
    client.sendJson(call(0), uploaded(), item(2), uploaded());
    assert.deepEqual(await client.settle(), [ended()]);
  });

  it('answers wrong calls in the words of ASP.NET Core and keeps the connection', async () => {
    const unbound = "Failed to invoke 'StreamingEcho' due to an error on the server.";
    const failed = "An unexpected error occurred invoking 'StreamingEcho' on the server.";
    const expects = (count: number): string =>
      `${failed} HubException: Client sent ${count} stream(s), Hub method expects 1.`;
    const streaming =
      "The client attempted to invoke the streaming 'StreamingEcho' method with a non-streaming invocation.";
    const cases: [object, string][] = [
      [{ type: 1 }, streaming],
      [{ type: 1, arguments: [], streamIds: [] }, unbound],
      [{ streamIds: [] }, expects(0)],
      [{ streamIds: undefined }, expects(0)],
      [{ streamIds: ['s', 't'] }, expects(2)],
      [{ arguments: [] }, unbound],
      [{ arguments: [1, 2] }, unbound],
      ...['5', 1.5, null, true, {}, 3e9, -3e9, 1e30].map((value): [object, string] => [
        { arguments: [value] },
        unbound,
      ]),
    ];
    for (const [wrong, error] of cases) {
      client.sendJson({ ...call(0), ...wrong }, item(1), uploaded());
      assert.deepEqual(await client.settle(), [{ ...ended(), error }], JSON.stringify(wrong));
    }
    client.sendJson({ ...call(0), type: 1, invocationId: undefined });
    client.sendJson(call(-1), item(1), uploaded());
    assert.deepEqual(await client.settle(), [back(1), ended()]);
  });

  it('refuses ids in use, and too many streams', async () => {
    client.sendJson(call(0), call(0, '1', 't'), call(0, '2', 's'), item(1), item(2, 't'));
    const [sameCall, sameStream, ...more] = await client.settle();
    assert.match(sameCall?.error ?? '', /^Invocation ID '1' is already in use\.$/);
    assert.match(sameStream?.error ?? '', /^Stream ID 's' is already in use\.$/);
    assert.deepEqual(more, [back(1)]);
    for (let n = 2; n <= 1001; n++) client.sendJson(call(0, `c${n}`, `s${n}`));
    const refused = await client.settle();
    const error = 'No more than 1000 streams may be open.';
    assert.deepEqual(refused, [{ ...ended('c1001'), error }]);
    client.sendJson(uploaded(), call(0, 'next', 'next'), uploaded('next'));
    assert.deepEqual(await client.settle(), [ended(), ended('next')], 'there is room again');
  });

  const batches: [string, boolean][] = [
    ['in one WebSocket message', true],
    ['in one each', false],
  ];
  for (const [name, together] of batches) {
    it(`reads no further while 10 items of a stream wait behind the first, ${name}`, async () => {
      const ask = { type: 1, invocationId: 'q', target: 'GetConnectionId', arguments: [] };
      const numbers = Array.from({ length: 14 }, (_, n) => n);
      const messages = [call(40), ...numbers.map((n) => item(n)), ask, uploaded()];
      if (together) client.sendJson(...messages);
      else for (const message of messages) client.sendJson(message);
      // What was sent before is read.
      await other.settle();
      const next = async (atMs: number): Promise<Message> => {
        await time.to(atMs);
        return client.message();
      };
      for (const n of [0, 1, 2]) assert.deepEqual(await next(40 * (n + 1)), back(n));
      assert.equal((await client.message()).invocationId, 'q', 'the 14th item has found room');
      await client.settle();
      for (const n of numbers.slice(3)) assert.deepEqual(await next(40 * (n + 1)), back(n));
      assert.deepEqual(await client.message(), ended());
    });
  }

  it('bounds the bytes that wait, over all streams of a connection', async () => {
    const blob = 'x'.repeat(100_000);
    const streams = ['a', 'b', 'c', 'd'];
    for (const id of streams) client.sendJson(call(100, id, id), item(blob, id), uploaded(id));
    let isAnswered = false;
    const settled = client.settle().finally(() => (isAnswered = true));
    await other.settle();
    assert.ok(!isAnswered, 'the call behind is read late');
    await time.to(100);
    const seen = await settled;
    await time.to(200);
    while (seen.length < 8) seen.push(await client.message());
    const items = seen.filter(({ type }) => type === 2);
    assert.deepEqual(
      items.map(({ invocationId, item: got }) => [invocationId, (got as { n: string }).n.length]),
      streams.map((id) => [id, 100_000]),
    );
  });

  it('full streams are no silence, and their client is missed when it is gone', async () => {
    const own = await startBenchHub();
    const [patient, gone, witness] = await Promise.all([
      RawClient.connect(own.url),
      RawClient.connect(own.url),
      RawClient.connect(own.url),
    ]);
    const many = Array.from({ length: 12 }, (_, n) => item(n));
    patient.sendJson({ type: 6 }, call(60_000), ...many);
    gone.sendJson(call(90_000), ...many);
    await witness.settle();
    gone.socket.terminate();
    await time.to(16_000);
    await until('the end of the one that is gone', () => own.connectionCount === 2);
    await time.to(60_000);
    let message = await patient.message();
    while (message.type === 6) message = await patient.message();
    assert.deepEqual(message, back(0));
    assert.equal(own.connectionCount, 2);
    time.restore();
    await own.dispose();
  });

  it('a client that leaves ends its streams', async () => {
    client.sendJson(call(30), item(1), item(2));
    await client.settle();
    client.socket.terminate();
    await until('the end of the client', () => hub.connectionCount === 1);
    await time.to(60);
    assert.equal(hub.counts.deliveries, 0);
  });
});

const upload = { type: 1, invocationId: '1', target: 'StreamingUpload', arguments: [] };
const streamed = { ...upload, streamIds: ['s'] };
const uploadEnded = { type: 3, invocationId: 's' };
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

describe('StreamingUpload of the bench hub', () => {
  let hub: BenchHub;
  let client: RawClient;
  beforeEach(async () => ({ hub, client } = await hubAndClient()));
  afterEach(() => hub.dispose());

  it('answers with the number of items, which is the delivery', async () => {
    client.sendJson(streamed, item(1), item(2), item(null), uploadEnded);
    assert.deepEqual(await client.message(), { type: 3, invocationId: '1', result: 3 });
    client.sendJson(streamed, uploadEnded);
    assert.deepEqual(await client.message(), { type: 3, invocationId: '1', result: 0 });
    assert.equal(hub.counts.deliveries, 2);
  });

  it('answers with an error when the client ends the stream with one', async () => {
    client.sendJson(streamed, item(1), { ...uploadEnded, error: 'mine' });
    const error = "An unexpected error occurred invoking 'StreamingUpload' on the server.";
    assert.deepEqual(await client.message(), { ...ended(), error });
  });

  it('refuses calls without a stream or as a stream, and ignores items nobody asked for', async () => {
    client.sendJson(upload, { ...streamed, type: 4 }, item(1));
    for (const text of [/Client sent 0 stream\(s\), Hub method expects 1/, /non-streaming/])
      assert.match((await client.message()).error ?? '', text);
    client.sendJson({ ...streamed, invocationId: undefined }, item(1), uploadEnded);
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
    assert.deepEqual(await client.message(), ended());
    assert.deepEqual(await client.message(), ended());
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
      assert.deepEqual(await client.settle(), [ended()]);
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
    assert.deepEqual(await client.message(), ended());
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
