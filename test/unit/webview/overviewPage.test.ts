import assert from 'node:assert/strict';
import type { OverviewRow } from '../../../src/messages/panel';
import { rowsShown, trendOf, type Wanted } from '../../../src/webview/overviewPage';

const row = (id: string, startedMs: number, more: Partial<OverviewRow> = {}): OverviewRow => ({
  ...{ id, scenario: 'echo', startedMs, when: `at ${startedMs}`, status: 'passed', tone: 'good' },
  ...more,
});

const rows = [
  row('a', 1, { p99Us: 900, unit: 5 }),
  row('b', 3, { status: 'failed', p99Us: 100, unit: null }),
  row('c', 2, { scenario: 'chat', p99Us: 500, unit: 10 }),
  row('d', 4, { status: 'damaged' }),
];
const newest: Wanted = { scenario: undefined, words: '', key: 'when', falling: true };
const shown = (change: Partial<Wanted>): string =>
  rowsShown(rows, { ...newest, ...change })
    .map(({ id }) => id)
    .join('');

describe('the table of results', () => {
  it('has the newest first, and is sorted by any column, what is not known last', () => {
    assert.equal(shown({}), 'dbca');
    assert.equal(shown({ falling: false }), 'acbd');
    assert.equal(shown({ key: 'p99', falling: true }), 'acbd');
    assert.equal(shown({ key: 'p99', falling: false }), 'bcad');
    assert.equal(shown({ key: 'unit', falling: false }), 'acdb');
    assert.equal(shown({ key: 'scenario', falling: false }), 'cdba');
    assert.equal(shown({ key: 'outcome', falling: false }), 'dbca');
  });

  it('shows what has all the words, of one scenario or of all', () => {
    assert.equal(shown({ words: 'ECHO failed' }), 'b');
    assert.equal(shown({ words: 'nothing' }), '');
    assert.equal(shown({ scenario: 'chat' }), 'c');
    assert.equal(shown({ scenario: 'chat', words: 'failed' }), '');
  });
});

describe('the trend of a scenario', () => {
  it('has its runs with a p99, oldest first', () => {
    const echo = rows.filter(({ scenario }) => scenario === 'echo');
    const trend = trendOf(echo);
    assert.equal(trend?.scenario, 'echo');
    assert.deepEqual(
      trend.runs.map(({ id, p99Us }) => [id, p99Us]),
      [
        ['a', 900],
        ['b', 100],
      ],
    );
  });

  it('is none of several scenarios, of one run, and of nothing', () => {
    for (const some of [rows, rows.slice(0, 1), []]) assert.equal(trendOf(some), undefined);
  });
});
