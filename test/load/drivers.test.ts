import assert from 'node:assert/strict';
import type { StepSummary } from '../../src/measure/summary';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../src/servers/webpubsub/webPubSubEmulator';
import { useCases } from '../../src/usecases/registry';
import { sideBySide } from '../fakes/sideBySide';
import { assertConsistent, loadRun, onlyStep, type LoadResult, type LoadTest } from './loadRun';

/** Everything that does not depend on time. */
function countsOf(step: StepSummary) {
  const { offered, sent, expected, received, lost, duplicated, outOfOrder } = step;
  const { payloadBytesIn, payloadBytesOut, errors } = step;
  return {
    ...{ offered, sent, expected, received, lost, duplicated, outOfOrder },
    ...{ payloadBytesIn, payloadBytesOut, errors },
  };
}

/** The same run by both drivers at once, each in a hub of its own where a service has several. */
async function byBoth(test: LoadTest): Promise<readonly [native: LoadResult, sdk: LoadResult]> {
  const by = (driver: 'native' | 'sdk'): Promise<LoadResult> => {
    const { hub, ...config } = test.config ?? {};
    const own = typeof hub === 'string' ? { hub: `${hub}${driver}` } : {};
    return loadRun({
      ...test,
      config: { skipNegotiation: false, ...config, ...own, singleStepDuration: '300ms', driver },
    });
  };
  return Promise.all([by('native'), by('sdk')]);
}

function assertFlawless(runs: readonly LoadResult[]): void {
  for (const run of runs) {
    assert.equal(run.ending, 'completed');
    assert.deepEqual(run.errors, {});
    assertConsistent(run);
  }
}

function connectionCounts({ connections }: LoadResult): unknown {
  const { requested, connected, failed, dropped, reconnected } = connections;
  return { requested, connected, failed, dropped, reconnected };
}

describe('both drivers of Azure Web PubSub, on its emulator', function () {
  let emulator: WebPubSubEmulator;
  before(async () => {
    emulator = await startWebPubSubEmulator();
  });
  after(() => emulator.dispose());

  const groups = { groupCount: 2 };
  /** Each with two senders of one message in 50 ms. */
  const cases = [
    { name: 'echo', receivers: 1 },
    { name: 'sendToGroup', parameters: groups, receivers: 5 },
    { name: 'restSendToUser', receivers: 1 },
    { name: 'restSendToGroup', parameters: groups, receivers: 5 },
    { name: 'restBroadcast', receivers: 10 },
  ];
  const run = (hub: string, config: object, test: object = {}) =>
    byBoth({
      target: emulator.connectionString,
      entries: cases.map(({ name, parameters = {} }) => ({ name, senders: 2, parameters })),
      ...test,
      config: { service: 'webpubsub', connections: 10, baseSending: 10, hub, ...config },
    });

  it('are compared in every use case of the service', () => {
    // Replays are sent by our own client alone.
    const names = [...cases.map(({ name }) => name), 'connectOnly', 'replay'];
    for (const { name, services } of useCases)
      assert.equal(names.includes(name), services.includes('webpubsub'), name);
  });

  const beside = sideBySide(2);
  for (const config of [{ subprotocol: 'json' }, { subprotocol: 'reliableJson' }])
    beside(`count the same in ${JSON.stringify(config)}`, async () => {
      const runs = await run(config.subprotocol, config);
      assertFlawless(runs);
      const [native, sdk] = runs;
      assert.deepEqual(connectionCounts(sdk), connectionCounts(native));
      const steps = [onlyStep(native), onlyStep(sdk)] as const;
      // HTTP requests side by side keep no order.
      const counts = steps.map((step) => ({ ...countsOf(step), outOfOrder: 0 }));
      assert.deepEqual(counts[1], counts[0]);
      const { wireBytesIn, wireBytesOut } = steps[1];
      assert.deepEqual([wireBytesIn, wireBytesOut], [null, null]);
      for (const [position, { name, receivers }] of cases.entries())
        for (const { entries } of steps) {
          const { sent, received, ...entry } = entries![position]!;
          assert.deepEqual([entry.name, sent, received], [name, 12, 12 * receivers]);
        }
    });

  beside('open and hold the same connections', async () => {
    const parameters = { messageSize: undefined, sendingInterval: undefined };
    const runs = await run('held', {}, { entries: undefined, useCase: 'connectOnly', parameters });
    assertFlawless(runs);
    assert.deepEqual(connectionCounts(runs[1]), connectionCounts(runs[0]));
    assert.equal(runs[1].connections.connected, 10);
  });
});
