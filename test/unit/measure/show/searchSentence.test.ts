import { placeInStep, createReason } from '../../../../src/measure/judge/reason';
import { say } from '../../../../src/base/sentence';
import assert from 'node:assert/strict';
import {
  missedObjectiveWords,
  searchHeadline,
  triedValues,
} from '../../../../src/measure/show/searchSentence';
import { objectives } from '../../../../src/base/slo';
import type { BrokenObjective, SearchSummary } from '../../../../src/base/searchSummary';
import { searchSample } from '../../../fakes/searchSample';

const said = (changes: Partial<SearchSummary>, words?: string, code = 'cpu'): string => {
  const [, step, own] = /^step (\d+): (.*)$/.exec(words ?? '') ?? [];
  const plain = words === undefined ? undefined : createReason(code, own ?? words);
  const reason = plain && step !== undefined ? placeInStep(plain, Number(step)) : plain;
  const {
    sign,
    lead,
    rest,
    frame = '; ',
  } = searchHeadline({ ...searchSample, ...changes }, reason);
  return `${sign} ${say(rest === undefined ? lead : { text: frame, values: [lead, rest] })}`;
};

describe('searchHeadline', () => {
  it('says what held, what did not, and why', () => {
    assert.equal(
      said({}),
      '✓ passed at 681 senders, failed at 687: p99 1.1 s, limit 1 s (12 steps, 6:40, generator healthy)',
    );
    assert.equal(
      said({ of: 'rate', low: 6810, high: 6990, broken: null }),
      '✓ passed at 6,810 msg/s, failed at 6,990 (12 steps, 6:40, generator healthy)',
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
        said({ ended: 'budget', ...none, high: null, broken: null }, 'step 2: it was too short'),
        said({ ended: 'noneHeld', ...none, steps: [first!], elapsedMs: 5000 }),
        said({ ended: 'generatorLimit', low: 800, high: null }, 'step 4: it used 98 % of a core'),
        said({ ended: 'generatorLimit', low: null, high: null, steps: [] }),
        said({ ended: 'targetLost', low: 400, high: null }),
        said({ ended: 'targetLost', low: 400, high: null }, 'All connections were closed.'),
        said({ ended: 'targetLost', ...none, high: null, steps: [] }, 'Start the server.'),
        said({ ended: 'stopped', low: null, high: null }),
        said({ ended: 'stopped', low: 400, high: 800 }, 'a worker was lost'),
      ],
      [
        '✓ passed at 1,000 senders, the highest value of the search (12 steps, 6:40, generator healthy)',
        '✓ time ran out; passed at 400 senders, failed at 800: p99 1.1 s, limit 1 s (12 steps, 6:40, generator healthy)',
        '✓ time ran out: at least 400 senders; the limit was not reached (12 steps, 6:40, generator healthy)',
        '✗ time ran out; failed at 100 senders: p99 1.1 s, limit 1 s (12 steps, 6:40, generator healthy)',
        '✗ time ran out: step 2: it was too short; no step passed or failed (12 steps, 6:40, generator healthy)',
        '✗ failed at 100 senders, the lowest value of the search: p99 1.1 s, limit 1 s (1 step, 0:05, generator healthy)',
        '⚠ at least 800 senders; this machine cannot offer more: step 4: it used 98 % of a core',
        '⚠ this machine cannot offer the lowest value of the search',
        '■ the target was lost: at least 400 senders; the limit was not reached',
        '■ the target was lost: at least 400 senders; the limit was not reached; All connections were closed.',
        '■ no step passed or failed; Start the server.',
        '■ the search was stopped; no step passed or failed',
        '■ the search was stopped; passed at 400 senders, failed at 800; a worker was lost',
      ],
    );
  });

  it('keeps what is known where a step was disturbed, and blames no lack of power for it', () => {
    const steps = [...searchSample.steps, { ...searchSample.steps[0]!, index: 15, value: 63 }];
    const last = { ended: 'generatorLimit', steps, broken: null } as const;
    const why = 'step 15: something else took the processor';
    const tail = ': step 15 was disturbed on this machine; something else took the processor';
    const cases: readonly (readonly [number | null, number | null, string])[] = [
      [60, 66, '⚠ between 60 and 66 senders; not narrowed to 5 %'],
      [60, null, '⚠ at least 60 senders; the limit was not reached'],
      [null, 66, '⚠ failed at 66 senders'],
      [null, null, '⚠ no step passed or failed'],
    ];
    for (const [low, high, words] of cases)
      assert.equal(said({ ...last, low, high }, why, 'starved'), words + tail);
    // Where more was offered, a generator that was at its end once is no limit either.
    for (const [low, high] of cases)
      assert.doesNotMatch(said({ ...last, low, high }, why, 'cpu'), /cannot offer/);
  });

  it('says where pauses of sessions allow no more', () => {
    const held = { of: 'rate', ended: 'allHeld', low: 26, high: null, broken: null } as const;
    assert.equal(
      said({ ...held, ceiling: 'pauses' }),
      '✓ passed at 26 msg/s, the most that the pauses of its sessions allow (12 steps, 6:40, generator healthy); search for senders to find more',
    );
  });

  it('names what broke with value and limit, whatever objective it is', () => {
    const broken: readonly (readonly [BrokenObjective, string])[] = [
      [{ metric: 'delivered', limit: 0.99, value: 0.984 }, 'delivered 98.4 %, limit 99 %'],
      [{ metric: 'dropped', limit: 0.01, value: 0.023 }, 'dropped 2.3 %, limit 1 %'],
      [{ metric: 'duplicated', limit: 0, value: 0.002 }, 'duplicated 0.2 %, limit 0 %'],
      [{ metric: 'rate', limit: 1000, value: 999.8 }, 'rate 999.8/s, limit 1,000/s'],
      [{ metric: 'errors', limit: 0, value: 1200 }, 'errors 1,200, limit 0'],
      [{ metric: 'errors.timeout', limit: 5, value: 6 }, 'errors.timeout 6, limit 5'],
      [{ metric: 'p99.5', limit: 1_000_000, value: 1_004_000 }, 'p99.5 1.004 s, limit 1 s'],
      [{ metric: 'max', limit: 250_000, value: null }, 'max lost, limit 250 ms'],
      [
        { metric: 'connect.p95', limit: 500_000, value: 620_000 },
        'connect.p95 620 ms, limit 500 ms',
      ],
      [
        { metric: 'timeToAll.p99', limit: 500_000, value: 620_000, name: 'all of them' },
        'objective “all of them”: timeToAll.p99 620 ms, limit 500 ms',
      ],
      [
        { metric: 'backlog', limit: 0.01, value: 0.023 },
        'deliveries fell behind by 2.3 % of the time',
      ],
    ];
    for (const [each, words] of broken) assert.equal(say(missedObjectiveWords(each)), words);
    for (const [metric] of objectives())
      assert.match(
        say(missedObjectiveWords({ metric, limit: 1, value: 2, name: 'x' })),
        new RegExp(`^objective “x”: ${metric} \\S.*, limit \\S`),
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
