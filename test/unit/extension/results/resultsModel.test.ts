import assert from 'node:assert/strict';
import type { SearchKind } from '../../../../src/base/searchSummary';
import type { EntryStatus, ResultEntry } from '../../../../src/extension/results/resultEntry';
import {
  ageGroups,
  entryDescription,
  filterEntries,
  groupDescription,
  groupsOf,
  groupLabel,
  lastRunText,
  newestResultOf,
  recentP99Us,
  shortTime,
  shortTimes,
  sparkline,
  statusIcons,
  statusWord,
} from '../../../../src/extension/results/resultsModel';
import { english } from '../../../../src/base/text';

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

  it('distinguishes files of one name, and gives those of the command line to the only one', () => {
    const a = entry('load', 1, { origin: 'file:///w/a/load.yaml' });
    const b = entry('load', 2, { origin: 'file:///w/b/load.yaml' });
    const shapeOf = (entries: readonly ResultEntry[]) =>
      groupsOf(entries).map((group) => [
        group.origin,
        group.entries.map(({ startedMs }) => startedMs),
      ]);
    assert.deepEqual(shapeOf([a, b]), [
      [b.origin, [2]],
      [a.origin, [1]],
    ]);
    assert.deepEqual(shapeOf([a, entry('load', 3)]), [[a.origin, [3, 1]]]);
    assert.deepEqual(shapeOf([a, b, entry('load', 3)]).length, 3);
    const elsewhere = entry('load', 4, { folder: '/other/4-load' });
    assert.deepEqual(shapeOf([a, elsewhere]), [
      [undefined, [4]],
      [a.origin, [1]],
    ]);
    const keys = groupsOf([a, b, entry('load', 3), elsewhere]).map(({ key }) => key);
    assert.equal(new Set(keys).size, 4);
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

  it('says up to where a search has found the target to hold', () => {
    const shown = (of: SearchKind, value: number | null): string =>
      entryDescription(entry('echo', 1, { held: { of, value }, unit: 5 }), english);
    assert.deepEqual(
      [shown('senders', 1681), shown('rate', 70), shown('messageSize', 8192)],
      [
        'up to 1,681 senders · Unit 5 · passed',
        'up to 70 msg/s · Unit 5 · passed',
        'up to 8,192 bytes · Unit 5 · passed',
      ],
    );
    assert.equal(shown('connections', null), 'Unit 5 · passed');
    const run = entry('echo', 0, { held: { of: 'connections', value: 500 } });
    assert.equal(lastRunText(run, new Date(0), english), 'up to 500 connections, passed, just now');
  });

  it('says what has answered in place of a service', () => {
    const shown = (emulated: 'embeddedHub' | 'emulator'): string =>
      entryDescription(entry('echo', 1, { p99Us: 41_000, emulated }), english);
    assert.equal(shown('embeddedHub'), 'p99 41 ms · passed · embedded hub');
    assert.equal(shown('emulator'), 'p99 41 ms · passed · emulator');
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

describe('the line of a scenario in the list', () => {
  const runs = (...p99s: readonly (number | undefined)[]): ResultEntry[] =>
    p99s.map((p99Us, at) => entry('echo', at + 1, p99Us === undefined ? {} : { p99Us }));

  it('draws the p99 of its newest runs from zero on, oldest first', () => {
    assert.equal(sparkline([10, 20, 40, 80]), '▂▃▅█');
    assert.equal(sparkline([41, 42, 41]), '███', 'what differs little looks alike');
    assert.deepEqual([sparkline([7]), sparkline([]), sparkline([0, 0])], ['', '', '']);
    const many = runs(...Array.from({ length: 20 }, (_, at) => at + 1), undefined);
    assert.deepEqual(recentP99Us(many), [13, 14, 15, 16, 17, 18, 19, 20]);
  });

  it('counts its results, and those that failed', () => {
    assert.equal(groupDescription(runs(10, 80), english), '▂█ · 2');
    assert.equal(groupDescription(runs(10), english), '1');
    const failed = [...runs(10), entry('echo', 9, { status: 'fail' })];
    assert.equal(groupDescription(failed, english), '2 · 1 failed');
  });

  it('has the values of the blocks in words', () => {
    const entries = [...runs(41_000, 57_000), entry('echo', 9, { status: 'invalid' })];
    assert.equal(
      groupLabel({ scenario: 'echo', entries }, english),
      'echo, 3 results, 1 failed, p99 of the last 2 runs, oldest first: 41 ms, 57 ms',
    );
    assert.equal(groupLabel({ scenario: 'echo', entries: runs(1) }, english), 'echo, 1 result');
  });
});

describe('many results of a scenario', () => {
  const now = new Date(2026, 10, 21, 10, 0);
  const daysAgo = (days: number, hour = 12): ResultEntry =>
    entry('echo', new Date(2026, 10, 21 - days, hour).getTime());

  it('stand by age, by days of the calendar', () => {
    const entries = [
      ...[daysAgo(0, 9), daysAgo(0, 0)],
      ...[daysAgo(1, 23), daysAgo(1, 0)],
      ...[daysAgo(2, 23), daysAgo(7)],
      ...[daysAgo(8), daysAgo(30)],
      ...[daysAgo(31), daysAgo(400), entry('echo', 0)],
    ];
    const groups = ageGroups(entries, now, english) ?? [];
    assert.deepEqual(
      groups.map(({ label, entries: inside }) => [label, inside.length]),
      [
        ['Today', 2],
        ['Yesterday', 2],
        ['Last 7 days', 2],
        ['Last 30 days', 2],
        ['Older', 3],
      ],
    );
    assert.deepEqual(
      groups.flatMap((group) => group.entries),
      entries,
    );
  });

  it('stand without groups where they are few, or of one age', () => {
    assert.equal(ageGroups([daysAgo(0), daysAgo(40)], now, english), undefined);
    const today = Array.from({ length: 40 }, () => daysAgo(0, 9));
    assert.equal(ageGroups(today, now, english), undefined);
  });

  it('are found by words of what the list says, all of them, in any case', () => {
    const entries = [
      entry('chat-room', now.getTime(), { status: 'fail', p99Us: 41_000 }),
      entry('chat-room', now.getTime(), { p99Us: 41_000, unit: 10 }),
      entry('echo', daysAgo(3).startedMs, { status: 'fail' }),
    ];
    const places = (filter: string): number[] =>
      filterEntries(entries, filter, now, english).map((each) => entries.indexOf(each));
    assert.deepEqual(places(''), [0, 1, 2]);
    assert.deepEqual(places('  '), [0, 1, 2]);
    assert.deepEqual(places('failed'), [0, 2]);
    assert.deepEqual(places('Failed CHAT'), [0]);
    assert.deepEqual(places('unit 10'), [1]);
    assert.deepEqual(places('last 7 days'), [2]);
    assert.deepEqual(places('nobody'), []);
  });
});

describe('the last run', () => {
  const now = new Date(10 * 3_600_000);

  it('is the newest of the scenario that is over', () => {
    const entries = [entry('echo', 5), entry('echo', 9, { status: 'running' }), entry('chat', 7)];
    const source = { origin: 'file:///echo.yaml', places: ['/results'] };
    assert.equal(newestResultOf(entries, { ...source, scenario: 'echo' })?.startedMs, 5);
    assert.equal(newestResultOf(entries, { ...source, scenario: 'other' }), undefined);
  });

  it('is not that of a file of the same name', () => {
    const entries = [
      entry('load', 1, { origin: 'file:///w/a/load.yaml' }),
      entry('load', 2, { origin: 'file:///w/b/load.yaml' }),
    ];
    const newest = (file: string, more: readonly ResultEntry[] = []) =>
      newestResultOf([...entries, ...more], {
        scenario: 'load',
        origin: `file:///w/${file}`,
        places: ['/results'],
      })?.startedMs;
    assert.deepEqual([newest('a/load.yaml'), newest('b/load.yaml')], [1, 2]);
    assert.equal(newest('c/load.yaml'), undefined);
    assert.equal(newest('a/load.yaml', [entry('load', 3)]), 3);
    assert.equal(newest('a/load.yaml', [entry('load', 3, { folder: '/other/3-load' })]), 1);
  });

  it('is none whose result cannot be read', () => {
    const echo = { scenario: 'echo', origin: 'file:///echo.yaml', places: ['/results'] };
    const unread = (['damaged', 'newer'] as const).map((status) => entry('echo', 9, { status }));
    assert.equal(newestResultOf(unread, echo), undefined);
    assert.equal(newestResultOf([...unread, entry('echo', 5)], echo)?.startedMs, 5);
    const interrupted = entry('echo', 7, { status: 'interrupted' });
    assert.equal(newestResultOf([...unread, interrupted], echo), interrupted);
  });

  it('is reported with its age', () => {
    const more = { p99Us: 84_000, unit: 5 };
    const run = entry('echo', now.getTime() - 2 * 3_600_000, more);
    assert.equal(lastRunText(run, now, english), 'p99 84 ms, Unit 5, passed, 2 h ago');
    const missed = { ...run, status: 'fail', unit: null } as const;
    assert.equal(lastRunText(missed, now, english), 'p99 84 ms, failed, 2 h ago');
    // A clock that was set back is no reason for a negative age.
    assert.equal(lastRunText(entry('echo', now.getTime() + 1e7), now, english), 'passed, just now');
  });
});

describe('times of runs', () => {
  const now = new Date(2026, 10, 21, 22, 0);
  const at = (day: number, hour: number, minute: number, second = 0): Date =>
    new Date(2026, 10, day, hour, minute, second);
  // Some versions of the language data put a narrow blank before AM and PM.
  const plain = (text: string): string => text.replace(/\s/g, ' ');

  it('name the day only when it is another one', () => {
    const style = { now, language: 'en', seconds: false };
    assert.equal(plain(shortTime(at(21, 19, 28, 16), style)), '7:28 PM');
    assert.equal(plain(shortTime(at(20, 19, 28, 16), style)), 'Nov 20, 7:28 PM');
    const older = shortTime(new Date(2025, 10, 21, 19, 28), style);
    assert.equal(plain(older), 'Nov 21, 2025, 7:28 PM');
    assert.equal(shortTime(at(21, 19, 28, 16), { ...style, language: 'zh-cn' }), '19:28');
  });

  it('report seconds only where two would look alike', () => {
    const times = [at(21, 19, 28, 16), at(21, 19, 28, 40), at(21, 19, 29), at(20, 19, 28)];
    assert.deepEqual(shortTimes(times, { now, language: 'en' }).map(plain), [
      '7:28:16 PM',
      '7:28:40 PM',
      '7:29 PM',
      'Nov 20, 7:28 PM',
    ]);
  });
});
