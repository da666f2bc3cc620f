import assert from 'node:assert/strict';
import type { StepSummary } from '../../src/measure/summary';
import { useCases } from '../../src/usecases/registry';
import { startHub, type LoadHub } from '../fakes/loadHub';
import { tableColumns, tableRows, type TableRow } from '../fakes/scenarioTable';
import { sideBySide } from '../fakes/sideBySide';
import { assertConsistent, loadRun, onlyStep, type LoadResult, type LoadTest } from './loadRun';

/** The hub calls back after this time, so that latency is more than what the drivers cost. */
const delayMs = 20;
/** A message costs the official client some 0.05 ms; other things that the machine does add to either. */
const differenceMs = 100;

/** Everything that does not depend on time. */
function countsOf(step: StepSummary): unknown {
  const { offered, sent, expected, received, lost, duplicated, outOfOrder } = step;
  const { payloadBytesIn, payloadBytesOut, wireBytesIn, errors } = step;
  return {
    ...{ offered, sent, expected, received, lost, duplicated, outOfOrder },
    ...{ payloadBytesIn, payloadBytesOut, wireBytesIn, errors },
  };
}

/** The same run by both drivers at once. */
async function byBoth(test: LoadTest): Promise<readonly [native: LoadResult, sdk: LoadResult]> {
  const by = (driver: 'native' | 'sdk'): Promise<LoadResult> =>
    loadRun({
      ...test,
      config: { skipNegotiation: false, ...test.config, singleStepDuration: '300ms', driver },
    });
  return Promise.all([by('native'), by('sdk')]);
}

/** @param ownIds whether deliveries carry the ids of invocations, for which each driver has its own */
function assertSame([native, sdk]: readonly [LoadResult, LoadResult], ownIds: boolean): void {
  for (const run of [native, sdk]) {
    assert.equal(run.ending, 'completed');
    assert.deepEqual(run.errors, {});
    assertConsistent(run);
  }
  assert.deepEqual(connectionCounts(sdk), connectionCounts(native));
  const steps = [onlyStep(native), onlyStep(sdk)] as const;
  assert.deepEqual(countsOf(steps[1]), countsOf(steps[0]));
  if (steps[0].received === 0) return;
  // The hub does not delay completions.
  for (const { latencyUs } of steps) assert.ok(ownIds || latencyUs.min >= delayMs * 1000);
  // Bytes of moving connections depend on the moment.
  if (!ownIds && steps[0].extra + steps[1].extra === 0)
    assert.equal(steps[1].wireBytesOut, steps[0].wireBytesOut);
}

function connectionCounts({ connections }: LoadResult): unknown {
  const { requested, connected, failed, dropped, reconnected } = connections;
  return { requested, connected, failed, dropped, reconnected };
}

const measure = tableColumns.find(({ title }) => title === 'dialect measure')!;
const measured: readonly (string | undefined)[] = ['echo', 'sendToGroup'];

describe('both drivers', function () {
  this.timeout(60_000);
  let hub: LoadHub;
  before(async () => {
    hub = await startHub(`--delay ${delayMs}ms`);
  });
  after(() => hub.dispose());

  it('are compared in every use case that runs, and in a mix', () => {
    const names = tableRows.map(({ test }) => test.useCase);
    for (const { name, services } of useCases)
      assert.equal(names.includes(name), services.includes('hub'), name);
    assert.ok(tableRows.some(({ test }) => test.entries !== undefined));
  });

  const beside = sideBySide();
  const same = (row: TableRow, title: string, config: LoadTest['config']): void => {
    beside(`count the same in ${row.title}, ${title}`, async () => {
      const test = { ...row.test, target: hub.url, config: { ...row.test.config, ...config } };
      assertSame(await byBoth(test), /^(invoke|streamingEcho)$/.test(row.test.useCase ?? ''));
    });
  };

  for (const row of tableRows) {
    same(row, 'json', {});
    same(row, 'MessagePack', { protocol: 'messagepack' });
    if (measured.includes(row.test.useCase)) same(row, 'dialect measure', measure.config);
  }
  for (const transport of ['ServerSentEvents', 'LongPolling'])
    same(tableRows[0]!, transport, { transport });

  it('read the same latency, but for what they cost themselves', async function () {
    this.retries(4);
    const [native, sdk] = await byBoth({ target: hub.url, config: { warmup: '100ms' } });
    const apartMs = (onlyStep(sdk).latencyUs.min - onlyStep(native).latencyUs.min) / 1000;
    assert.ok(Math.abs(apartMs) < differenceMs, `the quickest are ${apartMs} ms apart`);
  });
});
