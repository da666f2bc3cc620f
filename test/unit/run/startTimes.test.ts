import assert from 'node:assert/strict';
import { groupsOf } from '../../../src/extension/results/resultsModel';
import { startTimes } from '../../../src/run/shell';
import { resultFolderName } from '../../../src/results/resultFolder';

const noon = Date.parse('2026-11-21T12:00:00Z');
const [second, hour] = [1000, 3_600_000];

function starts(...clock: number[]): number[] {
  const readings = clock.map((ms) => new Date(noon + ms));
  const next = startTimes(() => readings.shift()!);
  return clock.map(() => next().getTime() - noon);
}

describe('startTimes', () => {
  it('are those of the clock while it goes on', () => {
    assert.deepEqual(starts(0, 5 * second, hour), [0, 5 * second, hour]);
  });

  it('rise when the clock is set back', () => {
    assert.deepEqual(starts(0, -hour, -hour + second, hour), [0, second, 2 * second, hour]);
  });

  it('believe a clock that was far ahead and is right now', () => {
    const days = 400 * 24 * hour;
    assert.deepEqual(starts(days, 0, second), [days, 0, second]);
  });

  it('keep names and order of results right over a clock that is set back', () => {
    const readings = [0, -hour, -hour].map((ms) => new Date(noon + ms));
    const next = startTimes(() => readings.shift()!);
    const entries = [0, 1, 2].map(() => {
      const startedAt = next();
      const name = resultFolderName(startedAt, 'echo.yaml');
      const entry = { folder: name, name, scenario: 'echo', sentence: '', status: 'pass' as const };
      return { ...entry, startedMs: startedAt.getTime() };
    });
    const names = entries.map(({ name }) => name);
    assert.deepEqual([...names].sort(), names);
    const [group] = groupsOf(entries);
    assert.deepEqual(
      group?.entries.map(({ name }) => name),
      [...names].reverse(),
    );
  });
});
