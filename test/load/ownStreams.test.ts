import assert from 'node:assert/strict';
import { startHubHere, withHubHere, type HubHere } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';
import {
  assertConsistent,
  assertExact,
  assertUndisturbed,
  loadRun,
  onlyStep,
  type LoadResult,
  type LoadTest,
} from './loadRun';

/** 20 senders that open a stream every 100 ms of half a second. */
const streams = 20 * 5;
const each = 3;
const items = streams * each;

function streamRun(
  target: string,
  parameters: Readonly<Record<string, unknown>>,
  more: Partial<LoadTest> = {},
): Promise<LoadResult> {
  return loadRun({
    target,
    useCase: 'invoke',
    ...more,
    config: { warmup: '100ms', ...more.config },
    parameters: {
      messageSize: undefined,
      sendingInterval: '100ms',
      streamingItemCount: each,
      ...parameters,
    },
  });
}

/** Makes so many items of what it is given, with a pause in milliseconds before each but the first. */
const download = (count: number, pauseMs = 0) => ({
  method: 'StreamingDownload',
  arguments: [{ who: '{sender}', text: 'x{text:100}' }, count, pauseMs],
  reply: 'stream',
});
const streamingItems = [
  { number: '{sequence}', text: '{text:80}' },
  { sender: '{senderIndex}', at: '{time}' },
];
const both = { method: 'StreamingEcho', arguments: [0], streamingItems, reply: 'stream' };
const upload = { method: 'StreamingUpload', streamingItems };

describe('streams of the own methods of a hub', function () {
  let hub: HubHere;

  before(async () => {
    hub = await startHubHere();
  });
  after(() => hub.dispose());
  const test = sideBySide();

  for (const [protocol, transport, driver] of [
    ['messagepack', 'Websockets', 'native'],
    ['json', 'ServerSentEvents', 'native'],
    ['messagepack', 'LongPolling', 'native'],
    ['json', 'Websockets', 'sdk'],
  ] as const) {
    test(`that come down, go up, or both, beside ours: exact counts, ${protocol} over ${transport}, ${driver}`, async () => {
      const skipNegotiation = transport === 'Websockets';
      const shared = { sendingInterval: '100ms', streamingItemCount: each };
      const own = [download(each), both, upload].map((parameters) => ({
        ...{ name: 'invoke', senders: 5 },
        parameters: { ...shared, messageSize: undefined, ...parameters },
      }));
      const run = await loadRun({
        target: hub.url,
        entries: [...own, { name: 'streamingEcho', senders: 5, parameters: shared }],
        config: { protocol, transport, driver, skipNegotiation, warmup: '100ms' },
      });
      assertUndisturbed(run);
      const [down, upAndDown, up, ours] = onlyStep(run).entries!;
      assertExact(down!, 25, 75);
      assertExact(upAndDown!, 75, 75);
      assertExact(up!, 75, 25);
      assertExact(ours!, 75, 75);
    });
  }

  it('may never end: they are cancelled', async () => {
    // A second item would come within the step, but a second after the first: a cancellation may be late.
    const parameters = { ...download(100_000, 1000), streamingItemCount: 1 };
    const config = { warmup: 0, singleStepDuration: '2s' };
    const run = await streamRun(
      hub.url,
      { ...parameters, streamingCancelAfter: 1, sendingInterval: '500ms' },
      { config },
    );
    assertUndisturbed(run);
    const step = onlyStep(run);
    assert.equal(step.sent, 20 * 4);
    assert.equal(step.received, step.expected);
    assert.equal(step.extra, 0);
  });

  test('may be faster than was said', async () => {
    const parameters = { ...download(each), streamingItemSendDelay: '100ms' };
    const run = await streamRun(hub.url, parameters, { config: { warmup: 0 } });
    assertConsistent(run);
    assert.deepEqual(run.errors, { other: 1 });
    const [reported] = run.errorExamples;
    assert.match(reported!.text, /an item came \d\d+ ms before it was due; streamingItemSendDelay/);
    const step = onlyStep(run);
    assert.equal(step.received, step.expected);
    assert.equal(step.extra, 0);
  });

  test('that have fewer items than was said are errors, and the others are lost', async () => {
    const config = { warmup: 0, drain: '300ms' };
    const run = await streamRun(hub.url, download(each - 1), { config });
    const step = onlyStep(run);
    assert.deepEqual([step.sent, step.expected, step.lost], [streams, items, streams]);
    assert.equal(run.errors.invocation, streams);
    assertConsistent(run);
  });
});

describe('what a target does wrong with streams of the own methods', function () {
  const test = sideBySide();
  const config = { warmup: 0, drain: '700ms' };

  test('is lost where items are', () =>
    withHubHere('--drop-every 7', async ({ url }) => {
      const run = await streamRun(url, download(each), { config });
      const { expected, lost, extra } = onlyStep(run);
      assert.deepEqual({ expected, lost, extra }, { expected: items, lost: 42, extra: 0 });
      assertConsistent(run);
      // A stream may lose two.
      assert.equal(run.errors.invocation, lost);
      assert.match(run.errorExamples[0]!.text, /^StreamingDownload: completed after 2 of 3 items$/);
    }));

  test('ends with connections that are closed in the middle of their streams', () =>
    withHubHere('--close-after 3', async ({ url }) => {
      const pauses = { streamingItemSendDelay: '20ms' };
      const run = await streamRun(url, { ...download(each, 20), ...pauses }, { config });
      assert.equal(run.connections.dropped, 20);
      assert.deepEqual(run.errors, { closed: 20 });
      assertConsistent(run);
      assert.equal(onlyStep(run).extra, 0);
    }));
});
