import assert from 'node:assert/strict';
import type { MessageSummary } from '../../src/measure/summary';
import { useCases } from '../../src/usecases/registry';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import {
  classicColumns,
  isRun,
  mixedRows,
  perSender,
  tableColumns,
  tableRows,
  type TableColumn,
} from '../fakes/scenarioTable';
import {
  assertConsistent,
  assertExact,
  loadRun,
  onlyStep,
  type LoadResult,
  type LoadTest,
} from './loadRun';
import { sideBySide } from '../fakes/sideBySide';

const [webSockets] = tableColumns as readonly [TableColumn];
/** Ways over which the official client runs besides that of its column, each beside ours over the same. */
const official = (title: string): TableColumn => {
  const { config } = tableColumns.find((column) => column.title === title)!;
  return { title: `official client, ${title}`, config: { ...config, driver: 'sdk' } };
};
const ours = [
  'WebSockets, MessagePack',
  'server-sent events',
  'long polling',
  'dialect measure',
] as const;
const pairs: readonly (readonly [native: TableColumn, sdk: TableColumn])[] = [
  [webSockets, tableColumns.find(({ config }) => config['driver'] === 'sdk')!],
  ...ours.map(
    (title) => [tableColumns.find((each) => each.title === title)!, official(title)] as const,
  ),
];

/** Everything that does not depend on time. */
function countsOf(step: MessageSummary) {
  const { offered, sent, expected, received, lost, duplicated, outOfOrder } = step;
  const { payloadBytesIn, payloadBytesOut } = step;
  return {
    ...{ offered, sent, expected, received, lost, duplicated, outOfOrder },
    ...{ payloadBytesIn, payloadBytesOut },
  };
}

/** The ticks in the table of docs/scenarios.md: each is a run here, or an entry of the mix that runs over each way. */
describe('every scenario over every way', function () {
  let hub: HubHere;
  let classic: HubHere;

  before(async () => {
    [hub, classic] = await Promise.all([startHubHere(), startHubHere('--classic')]);
  });
  after(() => Promise.all([hub.dispose(), classic.dispose()]));

  const beside = sideBySide();
  const connections = 20;
  /** Of each use case in a mix. */
  const senders = 2;

  async function flawless(
    test: Omit<LoadTest, 'target'>,
    { title, config }: TableColumn,
  ): Promise<LoadResult> {
    // How counts of several workers add up depends neither on the way nor on the use case.
    const workers = title === 'WebSockets' && test.entries !== undefined ? 2 : 1;
    const way = { skipNegotiation: false, ...test.config, ...config };
    const { url } = config['connectionType'] === 'AspNet' ? classic : hub;
    const run = await loadRun({ ...test, target: url, workers, config: way });
    assert.equal(run.ending, 'completed');
    assert.deepEqual(run.errors, {});
    const { requested, connected, failed, dropped } = run.connections;
    assert.deepEqual([requested, connected, failed, dropped], [connections, connections, 0, 0]);
    assertConsistent(run);
    return run;
  }

  const mixes = new Map<string, LoadResult>();
  const others = [...classicColumns, ...pairs.slice(1).map(([, sdk]) => sdk)];
  for (const column of [...tableColumns, ...others])
    beside(`a mix over ${column.title} counts exactly`, async () => {
      const rows = mixedRows(column);
      const entries = rows.map(({ test: { useCase, parameters }, inMix }) => ({
        ...{ name: useCase!, senders, parameters: { ...(inMix?.parameters ?? parameters) } },
      }));
      const run = await flawless({ entries }, column);
      const counts = onlyStep(run).entries!;
      for (const [position, { inMix, expected, sent, calls = 1 }] of rows.entries()) {
        const messages = sent === 0 ? 0 : senders * perSender * calls;
        const receivers = inMix?.receivers ?? expected / Math.max(1, sent);
        assertExact(counts[position]!, messages, messages * receivers);
      }
      mixes.set(column.title, run);
    });

  // What cannot be mixed.
  for (const row of tableRows)
    for (const column of tableColumns) {
      if (!isRun(row, column) || mixedRows(column).includes(row)) continue;
      beside(`${row.title} over ${column.title} counts exactly`, async () => {
        const step = onlyStep(await flawless(row.test, column));
        const { membership } = step;
        // Who has left a group a moment ago may still get what was sent to it: it depends on the moment.
        assertExact(step, row.sent, row.expected);
        assert.equal(membership !== undefined, row.moves === true);
        if (membership === undefined) return;
        const { joins, leaves, skipped } = membership;
        assert.ok(joins + leaves + skipped > 0);
      });
    }

  for (const [native, sdk] of pairs)
    it(`a mix over ${native.title} counts the same by either driver`, () => {
      const [own, theirs] = [native, sdk].map(({ title }) => onlyStep(mixes.get(title)!).entries!);
      const [ours, rows] = [mixedRows(native), mixedRows(sdk)];
      assert.deepEqual([own!.length, theirs!.length], [ours.length, rows.length]);
      for (const [position, row] of rows.entries()) {
        const { test } = row;
        const [one, other] = [own![ours.indexOf(row)]!, theirs![position]!];
        assert.deepEqual(countsOf(other), countsOf(one));
        // Each driver has ids of its own for invocations.
        const ownIds = /^(invoke|streamingEcho)$/.test(test.useCase ?? '');
        if (!ownIds) assert.equal(other.wireBytesOut, one.wireBytesOut);
      }
    });

  it('covers every use case of hubs', () => {
    const names = tableRows.map(({ test }) => test.useCase);
    for (const { name, services } of useCases) {
      // See the load tests of replays.
      if (name === 'replay') continue;
      assert.equal(names.includes(name), services.includes('hub'), name);
    }
  });
});
