import assert from 'node:assert/strict';
import fc from 'fast-check';
import { latencyRuling, latenessUs } from '../../../../src/base/objectives/lateness';

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

const atShare = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(share * values.length - 1e-6) - 1]!;
