import assert from 'node:assert/strict';
import fc from 'fast-check';
import { latencies, latencyRuling, latenessUs } from '../../../../src/base/objectives/latency';
import type { AcrossClocks, JudgedDeliveries } from '../../../../src/base/objectives/objective';
import { say } from '../../../../src/base/sentence';

const atShare = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(share * values.length - 1e-6) - 1] ?? 0;

describe('a percentile of latencies between agents', () => {
  const insideOf = (count: number, us: number) => ({ count, latencyAtShareUs: () => us });
  const ruling = (
    across: AcrossClocks,
    valueUs: number,
    limitUs: number,
    metric = 'p99',
    deliveries: Partial<JudgedDeliveries> = {},
  ) => {
    const objective = latencies.named(metric)!;
    assert.ok(objective.of === 'step');
    const step: JudgedDeliveries = {
      ...{ expected: 125, received: 125, duplicated: 0, latencyAtShareUs: () => 0, across },
      ...deliveries,
    };
    return objective.ruling!(step, valueUs, limitUs);
  };

  it('decides only where the percentile of the true times is on the same side of the limit', () => {
    const deliveries = fc.array(
      // The true time, and how far off the two clocks were, in percent of the error.
      fc.tuple(fc.nat({ max: 100 }), fc.integer({ min: -100, max: 100 })),
      { minLength: 1, maxLength: 60 },
    );
    const limit = fc.integer({ min: 1, max: 120 });
    const error = fc.integer({ min: 0, max: 60 });
    const metrics = fc.constantFrom(['p50', 0.5], ['p90', 0.9], ['p99', 0.99], ['max', 1]);
    let decided = 0;
    fc.assert(
      fc.property(deliveries, limit, error, metrics, (all, limitUs, errorUs, [metric, share]) => {
        const times = all.map(([us]) => us);
        const truth = atShare(times, share);
        const measured = all.map(([us, off]) => Math.max(0, us + (off / 100) * errorUs));
        const valueUs = atShare(measured, share);
        const across = { errorUs, inside: insideOf(0, 0) };
        const counts = { expected: all.length, received: all.length };
        if (ruling(across, valueUs, limitUs, metric, counts) !== undefined) return;
        decided += 1;
        assert.equal(valueUs <= limitUs, truth <= limitUs);
      }),
      { numRuns: 500 },
    );
    assert.ok(decided > 50, `${decided} were decided`);
  });

  it('is certain at exactly the clock error from the limit', () => {
    const across = { errorUs: 10, inside: insideOf(5000, 7) };
    assert.deepEqual(
      [89, 90, 91, 110, 110.5, 111].map((valueUs) => ruling(across, valueUs, 100)?.by),
      [undefined, undefined, 'inside', 'inside', undefined, undefined],
    );
  });

  it('is replaced by the same rank of enough deliveries inside single agents', () => {
    const shares: number[] = [];
    const latencyAtShareUs = (share: number) => {
      shares.push(share);
      return 940;
    };
    const decide = (count: number) =>
      ruling({ errorUs: 5, inside: { count, latencyAtShareUs } }, 1000, 1001);
    const { by, value, met } = decide(1000)!;
    assert.deepEqual([by, value, met, shares], ['inside', 940, true, [0.992]]);
    assert.equal(decide(999)?.by, 'nothing');
  });

  it('needs as many of them as show the percentile at all', () => {
    const decides = (metric: string, count: number) =>
      ruling({ errorUs: 5, inside: insideOf(count, 1) }, 1000, 1001, metric)?.by;
    assert.deepEqual(
      [
        decides('p50', 1000),
        decides('p99.9', 9999),
        decides('p99.9', 10_000),
        decides('max', 999),
        decides('max', 1000),
      ],
      ['inside', 'nothing', 'inside', 'nothing', 'inside'],
    );
  });

  it('decides nothing where the clocks are wrong, however far from the limit it is', () => {
    const wrong = 'the clock of agent 2 was moved';
    assert.equal(ruling({ errorUs: 5, inside: insideOf(1000, 3) }, 900, 1e9), undefined);
    assert.equal(ruling({ errorUs: 5, wrong, inside: insideOf(1000, 3) }, 900, 1e9)?.by, 'inside');
    const { by, words } = ruling({ errorUs: 5, wrong, inside: insideOf(12, 3) }, 900, 1000, 'p99', {
      expected: 3000,
    })!;
    assert.equal(by, 'nothing');
    assert.equal(
      say(words),
      'whether 99 % of 3,000 deliveries came within 1 ms is open: the clock of agent 2 was moved, and only 12 of them stayed inside one agent',
    );
  });

  it('decides by itself between agents with one clock', () => {
    const across = { errorUs: 0, inside: insideOf(0, 0) };
    for (const limitUs of [1000, 1001]) assert.equal(ruling(across, 1000, limitUs), undefined);
  });
});

describe('latencyRuling', () => {
  it('passes what is within the limit, and fails what is beyond it without the lateness', () => {
    const us = fc.nat({ max: 100_000 });
    fc.assert(
      fc.property(us, us, us, (valueUs, limitUs, byUs) => {
        const ruling = latencyRuling(valueUs, limitUs, byUs);
        assert.equal(ruling === 'met', valueUs <= limitUs);
        assert.equal(ruling === 'missed', valueUs - byUs > limitUs);
      }),
      { numRuns: 1000 },
    );
  });

  it('takes both borders for the better side', () => {
    assert.equal(latencyRuling(50, 50, 0), 'met');
    assert.equal(latencyRuling(51, 50, 0), 'missed');
    assert.equal(latencyRuling(51, 50, 1), 'open');
    assert.equal(latencyRuling(52, 50, 1), 'missed');
  });

  it('misses with what was lost, however late the generator was', () => {
    assert.equal(latencyRuling(null, 50, 1e9), 'missed');
  });

  it('never blames a queue for what was fed to it late in bunches and read late, nor clears it', () => {
    const message = fc.record({
      pauseUs: fc.nat({ max: 40 }),
      serviceUs: fc.integer({ min: 1, max: 60 }),
      slipUs: fc.oneof(fc.constant(0), fc.nat({ max: 300 })),
      readLateUs: fc.oneof(fc.constant(0), fc.nat({ max: 200 })),
    });
    const messages = fc.array(message, { minLength: 1, maxLength: 80 });
    const rulings = { met: 0, missed: 0, open: 0 };
    fc.assert(
      fc.property(messages, fc.integer({ min: 1, max: 1500 }), fc.constantFrom(0.5, 0.9, 1), check),
      { numRuns: 2000 },
    );
    for (const [ruling, count] of Object.entries(rulings))
      assert.ok(count > 100, `${count} of ${ruling}`);

    interface Message {
      readonly pauseUs: number;
      readonly serviceUs: number;
      readonly slipUs: number;
      readonly readLateUs: number;
    }

    function check(all: readonly Message[], limitUs: number, share: number): void {
      let [dueUs, leavesUs, onTimeUs, servedUs, readUs] = [0, 0, 0, 0, 0];
      let [slipMaxUs, readGapMaxUs] = [0, 0];
      const [truth, measured]: [number[], number[]] = [[], []];
      for (const { pauseUs, serviceUs, slipUs, readLateUs } of all) {
        dueUs += pauseUs;
        // Nobody overtakes: what is due during a standstill leaves in one bunch at its end.
        leavesUs = Math.max(leavesUs, dueUs + slipUs);
        onTimeUs = Math.max(onTimeUs, dueUs) + serviceUs;
        servedUs = Math.max(servedUs, leavesUs) + serviceUs;
        readUs = Math.max(readUs, servedUs + readLateUs);
        truth.push(onTimeUs - dueUs);
        measured.push(readUs - dueUs);
        slipMaxUs = Math.max(slipMaxUs, leavesUs - dueUs);
        readGapMaxUs = Math.max(readGapMaxUs, readUs - servedUs);
      }
      const byUs = latenessUs({ slipMaxUs, readGapMaxUs });
      const isMet = atShare(truth, share) <= limitUs;
      assert.ok(atShare(measured, share) - byUs <= atShare(truth, share));
      const ruling = latencyRuling(atShare(measured, share), limitUs, byUs);
      rulings[ruling] += 1;
      if (ruling !== 'open') assert.equal(ruling === 'met', isMet);
    }
  });
});
