import assert from 'node:assert/strict';
import { startHubHere, withHubHere, type HubHere } from '../fakes/loadHub';
import {
  assertConsistent,
  assertExact,
  assertUndisturbed,
  loadRun,
  onlyStep,
  type LoadResult,
  type LoadTest,
} from './loadRun';

/** Each sender opens a stream of three items every 100 ms of half a second. */
const parameters = { sendingInterval: '100ms', streamingItemCount: 3 };

function streamRun(
  target: string,
  senders: Readonly<Record<'both' | 'upload' | 'download', number>>,
  config: NonNullable<LoadTest['config']>,
): Promise<LoadResult> {
  return loadRun({
    target,
    entries: Object.entries(senders).map(([streamDirection, count]) => ({
      ...{ name: 'streamingEcho', senders: count },
      parameters: { ...parameters, streamDirection },
    })),
    config,
  });
}

describe('streams against the embedded hub', function () {
  let hub: HubHere;

  before(async () => {
    hub = await startHubHere();
  });
  after(() => hub.dispose());

  for (const [protocol, transport] of [
    ['json', 'Websockets'],
    ['messagepack', 'LongPolling'],
  ] as const)
    it(`up and down, only up, only down: exact counts, ${protocol} over ${transport}`, async () => {
      const skipNegotiation = transport === 'Websockets';
      const config = { protocol, transport, skipNegotiation, warmup: '100ms' };
      const run = await streamRun(hub.url, { both: 5, upload: 5, download: 5 }, config);
      assertUndisturbed(run);
      const [both, up, down] = onlyStep(run).entries!;
      assertExact(both!, 75, 75);
      assert.equal(both!.payloadBytesOut, 75 * 200);
      assertExact(up!, 75, 25);
      assertExact(down!, 25, 75);
      assert.equal(down!.payloadBytesOut, 75 * 200);
    });
});

describe('what a target does wrong with streams is counted exactly', function () {
  /** Warm-up items are deliveries too, so the hub's every n-th is known only without them. */
  const config = { warmup: 0, drain: '700ms' };
  /** 150 items, 25 answers and 75 items. */
  const senders = { both: 10, upload: 5, download: 5 };

  it('lost items and answers that never come', () =>
    withHubHere('--drop-every 7', async ({ url }) => {
      const run = await streamRun(url, senders, config);
      const { expected, lost, duplicated, outOfOrder, extra } = onlyStep(run);
      assert.deepEqual({ expected, lost }, { expected: 250, lost: 35 });
      assert.equal(duplicated + outOfOrder + extra, 0);
      assertConsistent(run);
      assert.deepEqual(run.errors, {});
    }));

  it('items and answers that come twice', () =>
    withHubHere('--dup-every 7', async ({ url }) => {
      const run = await streamRun(url, senders, config);
      const { received, lost, duplicated, outOfOrder, extra } = onlyStep(run);
      assert.deepEqual({ received, duplicated }, { received: 250, duplicated: 35 });
      assert.equal(lost + outOfOrder + extra, 0);
      assertConsistent(run);
    }));

  it('connections that are closed in the middle of their streams', () =>
    withHubHere('--close-after 3', async ({ url }) => {
      const run = await loadRun({
        ...{ target: url, useCase: 'streamingEcho', config },
        parameters: { ...parameters, streamingItemSendDelay: '20ms' },
      });
      assert.equal(run.connections.dropped, 20);
      assert.deepEqual(run.errors, { closed: 20 });
      assertConsistent(run);
      const { extra, duplicated } = onlyStep(run);
      assert.equal(extra + duplicated, 0);
    }));
});
