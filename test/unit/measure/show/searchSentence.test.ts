import assert from 'node:assert/strict';
import {
  brokenWords,
  searchSentence,
  triedValues,
} from '../../../../src/measure/show/searchSentence';
import type { SearchSummary } from '../../../../src/search/searchSummary';
import { searchSample } from '../../../fakes/searchSample';

const said = (changes: Partial<SearchSummary>, why?: string): string =>
  searchSentence({ ...searchSample, ...changes }, why);

describe('searchSentence', () => {
  it('says what held, what did not, and why', () => {
    assert.equal(
      said({}),
      '✓ 681 senders held, 687 did not: p99 rose above 1 s (12 steps, 6:40, generator healthy)',
    );
    assert.equal(
      said({ of: 'rate', low: 6810, high: 6990, broken: null }),
      '✓ 6,810 msg/s held, 6,990 did not (12 steps, 6:40, generator healthy)',
    );
  });

  it('says of each ending what is known', () => {
    const none = { low: null, high: 100 } as const;
    const [first] = searchSample.steps;
    assert.deepEqual(
      [
        said({ ended: 'allHeld', low: 1000, high: null, broken: null }),
        said({ ended: 'budget', low: 400, high: 800 }),
        said({ ended: 'budget', low: 400, high: null, broken: null }),
        said({ ended: 'budget', ...none }),
        said({ ended: 'noneHeld', ...none, steps: [first!], elapsedMs: 5000 }),
        said({ ended: 'generatorLimit', low: 400, high: null }, 'step 4: it used 98 % of a core'),
        said({ ended: 'generatorLimit', low: null, high: null }),
        said({ ended: 'targetLost', low: 400, high: null }),
        said({ ended: 'stopped', low: null, high: null }),
      ],
      [
        '✓ 1,000 senders held, the highest value of the search (12 steps, 6:40, generator healthy)',
        '✓ the time was over; 400 senders held, 800 did not: p99 rose above 1 s (12 steps, 6:40, generator healthy)',
        '✓ the time was over; 400 senders held, and nothing above was found not to hold (12 steps, 6:40, generator healthy)',
        '✗ the time was over; 100 senders did not hold: p99 rose above 1 s (12 steps, 6:40, generator healthy)',
        '✗ 100 senders did not hold, the lowest value of the search: p99 rose above 1 s (1 step, 0:05, generator healthy)',
        '⚠ at least 400 senders; this machine cannot offer more: step 4: it used 98 % of a core',
        '⚠ this machine cannot offer the lowest value of the search',
        '■ the target was lost; 400 senders held, and nothing above was found not to hold',
        '■ the search was stopped; nothing was measured to its end',
      ],
    );
  });

  it('names what broke', () => {
    const words = (
      metric: 'delivered' | 'dropped' | 'duplicated' | 'backlog',
      limit: number,
    ): string => brokenWords({ metric, limit, value: 0.023 });
    assert.deepEqual(
      [
        words('delivered', 0.99),
        words('dropped', 0.01),
        words('duplicated', 0),
        words('backlog', 0.01),
      ],
      [
        'less than 99 % was delivered',
        'more than 1 % of the connections failed or were dropped',
        'the objective duplicated was missed',
        'deliveries fell behind by 2.3 % of the time',
      ],
    );
  });
});

describe('triedValues', () => {
  it('puts the steps of each value together, rising', () => {
    const tried = triedValues(searchSample);
    assert.deepEqual(
      tried.map(({ value, steps, standing }) => [value, steps.length, standing]),
      [
        [100, 1, 'held'],
        [200, 1, 'held'],
        [400, 1, 'held'],
        [600, 1, 'held'],
        [650, 1, 'held'],
        [675, 1, 'held'],
        [681, 2, 'held'],
        [687, 2, 'missed'],
        [700, 1, 'missed'],
        [800, 1, 'missed'],
      ],
    );
  });

  it('distinguishes what goes both ways, and what was not offered', () => {
    const [first] = searchSample.steps;
    const steps = [
      { ...first!, value: 683 },
      { ...first!, value: 900, status: 'invalid' as const },
    ];
    assert.deepEqual(
      triedValues({ ...searchSample, steps }).map(({ standing }) => standing),
      ['contested', 'invalid'],
    );
  });
});
