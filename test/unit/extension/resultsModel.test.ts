import assert from 'node:assert/strict';
import type { EntryStatus, ResultEntry } from '../../../src/extension/resultEntry';
import {
  entryDescription,
  groupsOf,
  lastRunText,
  newestOf,
  statusIcons,
  statusWord,
} from '../../../src/extension/resultsModel';
import { english } from './english';

const entry = (
  scenario: string,
  startedMs: number,
  more: Partial<ResultEntry> = {},
): ResultEntry => ({
  folder: `/results/${startedMs}-${scenario}`,
  name: `${startedMs}-${scenario}`,
  scenario,
  status: 'pass',
  startedMs,
  sentence: '',
  ...more,
});

describe('groupsOf', () => {
  it('groups by scenario, the newest result and its group first', () => {
    const groups = groupsOf([entry('echo', 1), entry('chat', 2), entry('echo', 3)]);
    assert.deepEqual(
      groups.map(({ scenario, entries }) => [scenario, entries.map(({ startedMs }) => startedMs)]),
      [
        ['echo', [3, 1]],
        ['chat', [2]],
      ],
    );
  });

  it('drops nothing, damaged and newer results included', () => {
    const entries = Array.from({ length: 500 }, (_each, index) =>
      entry(`s${index % 7}`, index % 50, { status: index % 2 === 0 ? 'damaged' : 'newer' }),
    );
    const grouped = groupsOf(entries).flatMap((group) => group.entries);
    assert.equal(new Set(grouped).size, 500);
  });
});

describe('entryDescription', () => {
  it('says p99, Units and verdict', () => {
    const shown = entryDescription(entry('echo', 1, { p99Us: 41_000, unit: 10 }), english);
    assert.equal(shown, 'p99 41 ms · Unit 10 · passed');
  });

  it('says that no size fits, and leaves out what is not known', () => {
    assert.equal(
      entryDescription(entry('echo', 1, { unit: null }), english),
      'no Unit fits · passed',
    );
    assert.equal(entryDescription(entry('echo', 1, { status: 'damaged' }), english), 'damaged');
  });

  it('has an icon and a word of its own for every status', () => {
    const statuses = Object.keys(statusIcons) as EntryStatus[];
    assert.equal(new Set(statuses.map((each) => statusIcons[each].icon)).size, statuses.length);
    assert.equal(new Set(statuses.map((each) => statusWord(each, english))).size, statuses.length);
  });
});

describe('the last run', () => {
  const now = new Date(10 * 3_600_000);

  it('is the newest of the scenario that is over', () => {
    const entries = [entry('echo', 5), entry('echo', 9, { status: 'running' }), entry('chat', 7)];
    assert.equal(newestOf(entries, 'echo')?.startedMs, 5);
    assert.equal(newestOf(entries, 'other'), undefined);
  });

  it('is told with its age', () => {
    const run = entry('echo', now.getTime() - 2 * 3_600_000, { p99Us: 41_000 });
    assert.equal(lastRunText(run, now, english), 'p99 41 ms, passed, 2 h ago');
    // A clock that was set back is no reason for a negative age.
    assert.equal(lastRunText(entry('echo', now.getTime() + 1e7), now, english), 'passed, just now');
  });
});
