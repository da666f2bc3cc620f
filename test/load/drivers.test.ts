import assert from 'node:assert/strict';
import type { StepSummary } from '../../src/measure/summary';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../src/servers/webpubsub/webPubSubEmulator';
import { useCases } from '../../src/usecases/registry';
import { assertUndisturbed, loadRun, onlyStep, type LoadResult, type LoadTest } from './loadRun';

/** Everything that does not depend on time. */
function countsOf(step: StepSummary) {
  const { offered, sent, expected, received, lost, duplicated, outOfOrder } = step;
  const { payloadBytesIn, payloadBytesOut, errors } = step;
  return {
    ...{ offered, sent, expected, received, lost, duplicated, outOfOrder },
    ...{ payloadBytesIn, payloadBytesOut, errors },
  };
}

/** The same run by both drivers at once, each in a hub of its own. */
async function byBoth(test: LoadTest): Promise<readonly [native: LoadResult, sdk: LoadResult]> {
  const by = (driver: 'native' | 'sdk'): Promise<LoadResult> => {
    const own = { hub: driver, driver, singleStepDuration: '300ms', skipNegotiation: false };
    return loadRun({ ...test, config: { ...test.config, ...own } });
  };
  return Promise.all([by('native'), by('sdk')]);
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
  it('are compared in every use case of the service', () => {
    // Replays are sent by our own client alone.
    const names = [...cases.map(({ name }) => name), 'connectOnly', 'replay'];
    for (const { name, services } of useCases)
      assert.equal(names.includes(name), services.includes('webpubsub'), name);
  });

  it('count the same, in all use cases at once', async () => {
    const runs = await byBoth({
      target: emulator.connectionString,
      entries: cases.map(({ name, parameters = {} }) => ({ name, senders: 2, parameters })),
      config: {
        service: 'webpubsub',
        connections: 10,
        baseSending: 10,
        subprotocol: 'reliableJson',
      },
    });
    for (const each of runs) assertUndisturbed(each);
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
});
