import assert from 'node:assert/strict';
import { startHub, type LoadHub } from '../fakes/loadHub';
import { isRun, tableColumns, tableRows } from '../fakes/scenarioTable';
import { assertConsistent, assertExact, loadRun, onlyStep } from './loadRun';
import { sideBySide } from '../fakes/sideBySide';

/** The ticks in the table of docs/scenarios.md: each is a run here. */
describe('every scenario over every way', function () {
  this.timeout(60_000);
  let hub: LoadHub;

  before(async () => {
    hub = await startHub();
  });
  after(() => hub.dispose());

  const beside = sideBySide();

  for (const row of tableRows) {
    for (const column of tableColumns) {
      if (!isRun(row, column)) continue;
      beside(`${row.title} over ${column.title} counts exactly`, async () => {
        const config = { skipNegotiation: false, ...row.test.config, ...column.config };
        const run = await loadRun({ ...row.test, target: hub.url, workers: 2, config });
        assert.equal(run.ending, 'completed');
        assert.deepEqual(run.errors, {});
        const { requested, connected, failed, dropped } = run.connections;
        assert.deepEqual([requested, connected, failed, dropped], [20, 20, 0, 0]);
        const step = onlyStep(run);
        const { extra } = step;
        assertExact(row.moves === true ? { ...step, extra: 0 } : step, row.sent, row.expected);
        assert.equal(extra > 0, row.moves === true);
        assertConsistent(run);
      });
    }
  }
});
