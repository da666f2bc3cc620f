import assert from 'node:assert/strict';
import { english } from '../../../src/base/text';
import { observedOver, observerOf, withObserved } from '../../../src/run/observing';
import type { Observer } from '../../../src/run/observe/openObserver';
import { observedSnapshots, sampleScenario, sampleSnapshot } from '../results/sampleResult';

const times = { startedAt: '2026-11-23T10:00:00.000Z', endedAt: '2026-11-23T10:05:00.000Z' };
const observer = (change: Partial<Observer> = {}): Observer => ({
  values: () => ({ queue: 3 }),
  problems: () => [],
  late: () => Promise.resolve([]),
  close: () => undefined,
  ...change,
});

describe('a run that observes its server', () => {
  it('has what was last read in each snapshot, and nothing where nothing was', () => {
    const snapshot = sampleSnapshot(3, 1);
    assert.deepEqual(withObserved(snapshot, observer()), { ...snapshot, observed: { queue: 3 } });
    assert.equal(withObserved(snapshot, undefined), snapshot);
    assert.equal(withObserved(snapshot, observer({ values: () => ({}) })), snapshot);
  });

  it('sums up what was seen, with what is known only at its end', async () => {
    const asked: [Date, Date][] = [];
    const late = (from: Date, to: Date) => {
      asked.push([from, to]);
      const points = [[Date.parse(times.startedAt) + 60_000, 0.5] as const];
      return Promise.resolve([{ name: 'serverLoad @ chat', points }]);
    };
    const seen = await observedOver(observedSnapshots(1), observer({ late }), times);
    assert.deepEqual(asked, [[new Date(times.startedAt), new Date(times.endedAt)]]);
    const last = seen?.series.at(-1);
    assert.deepEqual([last?.name, last?.points], ['serverLoad @ chat', [[60, 0.5]]]);
    assert.ok(seen?.series.some(({ name }) => name === 'queue'));
  });

  it('opens nothing, and has nothing, where nothing is to be observed', async () => {
    const context = {
      reference: () => undefined,
      readFile: () => Promise.reject(new Error('nothing is read')),
    };
    assert.equal(
      await observerOf(sampleScenario, { context, t: english, say: () => undefined }),
      undefined,
    );
    assert.equal(await observedOver([sampleSnapshot(1, 1)], undefined, times), undefined);
  });
});
