import assert from 'node:assert/strict';
import type { StepSummary } from '../../src/measure/summary';
import { useCases } from '../../src/usecases/registry';
import { startHub, type LoadHub } from '../fakes/loadHub';
import { isRun, tableColumns, tableRows, type TableRow } from '../fakes/scenarioTable';
import { assertConsistent, assertExact, loadRun, onlyStep, type LoadResult } from './loadRun';
import { sideBySide } from '../fakes/sideBySide';

/** A way over which the official client runs, and the column in which ours runs over the same. */
interface Pair {
  readonly sdk: string;
  readonly native: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Use cases that run over it; without, all. */
  readonly of?: readonly string[];
}

const driver = 'sdk';
const pairs: readonly Pair[] = [
  { sdk: 'official client', native: 'WebSockets', config: { driver } },
  {
    sdk: 'official client, MessagePack',
    native: 'WebSockets, MessagePack',
    config: { driver, protocol: 'messagepack' },
  },
  {
    sdk: 'official client, dialect measure',
    native: 'dialect measure',
    config: { driver, dialect: 'measure' },
    of: ['echo', 'sendToGroup'],
  },
  {
    sdk: 'official client, server-sent events',
    native: 'server-sent events',
    config: { driver, transport: 'ServerSentEvents' },
    of: ['echo'],
  },
  {
    sdk: 'official client, long polling',
    native: 'long polling',
    config: { driver, transport: 'LongPolling' },
    of: ['echo'],
  },
];

const pairsOf = ({ test }: TableRow): readonly Pair[] =>
  pairs.filter(({ of }) => of?.includes(test.useCase ?? '') ?? true);

/** Everything that does not depend on time. */
function countsOf(step: StepSummary) {
  const { offered, sent, expected, received, lost, duplicated, outOfOrder } = step;
  const { payloadBytesIn, payloadBytesOut, errors } = step;
  return {
    ...{ offered, sent, expected, received, lost, duplicated, outOfOrder },
    ...{ payloadBytesIn, payloadBytesOut, errors },
  };
}

/** The ticks in the table of docs/scenarios.md: each is a run here. */
describe('every scenario over every way', function () {
  this.timeout(60_000);
  let hub: LoadHub;

  before(async () => {
    hub = await startHub();
  });
  after(() => hub.dispose());

  const beside = sideBySide();
  const done = new Map<string, LoadResult>();
  const nameOf = (row: TableRow, column: string): string => `${row.title} over ${column}`;

  for (const row of tableRows) {
    const ways = new Map(
      [
        ...tableColumns.filter((column) => isRun(row, column)),
        ...pairsOf(row).map(({ sdk, config }) => ({ title: sdk, config })),
      ].map(({ title, config }) => [title, config]),
    );
    for (const [title, columnConfig] of ways)
      beside(`${nameOf(row, title)} counts exactly`, async () => {
        const config = { skipNegotiation: false, ...row.test.config, ...columnConfig };
        // How counts of several workers add up does not depend on the way.
        const workers = title === 'WebSockets' ? 2 : 1;
        const run = await loadRun({ ...row.test, target: hub.url, workers, config });
        assert.equal(run.ending, 'completed');
        assert.deepEqual(run.errors, {});
        const { requested, connected, failed, dropped } = run.connections;
        assert.deepEqual([requested, connected, failed, dropped], [20, 20, 0, 0]);
        const step = onlyStep(run);
        const { extra } = step;
        assertExact(row.moves === true ? { ...step, extra: 0 } : step, row.sent, row.expected);
        assert.equal(extra > 0, row.moves === true);
        assertConsistent(run);
        done.set(nameOf(row, title), run);
      });
  }

  for (const row of tableRows)
    for (const { sdk, native } of pairsOf(row))
      it(`${nameOf(row, native)} counts the same by either driver`, () => {
        const runs = [native, sdk].map((column) => done.get(nameOf(row, column)));
        const [ours, theirs] = runs.map((run) => onlyStep(run!));
        assert.deepEqual(countsOf(theirs!), countsOf(ours!));
        // Each driver has ids of its own for invocations; bytes of moving members depend on the moment.
        const ownIds = /^(invoke|streamingEcho)$/.test(row.test.useCase ?? '');
        if (!ownIds && row.moves !== true) assert.equal(theirs!.wireBytesOut, ours!.wireBytesOut);
      });

  it('covers every use case of hubs, and a mix', () => {
    const names = tableRows.map(({ test }) => test.useCase);
    for (const { name, services } of useCases)
      assert.equal(names.includes(name), services.includes('hub'), name);
    assert.ok(tableRows.some(({ test }) => test.entries !== undefined));
  });
});
