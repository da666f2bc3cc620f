import { say } from '../../../../src/base/sentence';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { openWords, rulingAcross } from '../../../../src/base/objectives/acrossClocks';

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
const atShare =
  (values: readonly number[]) =>
  (share: number): number =>
    sorted(values)[Math.max(0, Math.ceil(share * values.length - 1e-6) - 1)] ?? 0;

/** So many deliveries inside single agents, each of that time. */
const insideOf = (count: number, us: number) => ({ count, latencyAtShareUs: () => us });

describe('rulingAcross', () => {
  it('lets a value decide only where the percentile of the true times is on the same side', () => {
    const deliveries = fc.array(
      // What it took, and how far off the two clocks were, in shares of the error.
      fc.tuple(fc.nat({ max: 100 }), fc.integer({ min: -100, max: 100 })),
      { minLength: 1, maxLength: 60 },
    );
    const limit = fc.integer({ min: 1, max: 120 });
    const error = fc.integer({ min: 0, max: 60 });
    const share = fc.constantFrom(0.5, 0.9, 0.99, 1);
    let decided = 0;
    fc.assert(
      fc.property(deliveries, limit, error, share, (all, limitUs, errorUs, ofReceived) => {
        const truth = atShare(all.map(([us]) => us))(ofReceived);
        const measured = all.map(([us, off]) => Math.max(0, us + (off / 100) * errorUs));
        const valueUs = atShare(measured)(ofReceived);
        const across = { errorUs, inside: insideOf(0, 0) };
        const ruling = rulingAcross(across, { share: ofReceived, ofReceived, valueUs, limitUs });
        if (ruling !== undefined) return;
        decided += 1;
        assert.equal(valueUs <= limitUs, truth <= limitUs);
      }),
      { numRuns: 500 },
    );
    assert.ok(decided > 50, `${decided} were decided`);
  });

  const near = { share: 0.99, ofReceived: 0.992, valueUs: 1000, limitUs: 1001 };

  it('leaves the border to the value: what is as far away as the error is certain', () => {
    const across = { errorUs: 10, inside: insideOf(5000, 7) };
    const by = (valueUs: number) => rulingAcross(across, { ...near, limitUs: 100, valueUs })?.by;
    assert.deepEqual([89, 90, 91, 110, 110.5, 111].map(by), [
      ...[undefined, undefined, 'inside', 'inside', undefined, undefined],
    ]);
  });

  it('asks the same rank of the deliveries inside single agents, where they are enough', () => {
    const shares: number[] = [];
    const inside = {
      count: 1000,
      latencyAtShareUs: (share: number) => {
        shares.push(share);
        return 940;
      },
    };
    const across = { errorUs: 5, inside };
    assert.deepEqual(rulingAcross(across, near), { by: 'inside', valueUs: 940, count: 1000 });
    assert.deepEqual(shares, [0.992]);
    const fewer = { errorUs: 5, inside: { ...inside, count: 999 } };
    assert.deepEqual(rulingAcross(fewer, near), { by: 'nothing' });
  });

  it('needs as many as show the percentile at all', () => {
    const decides = (share: number, count: number) =>
      rulingAcross({ errorUs: 5, inside: insideOf(count, 1) }, { ...near, share })?.by;
    assert.deepEqual(
      [
        decides(0.5, 1000),
        decides(0.999, 9999),
        decides(0.999, 10_000),
        decides(1, 999),
        decides(1, 1000),
      ],
      ['inside', 'nothing', 'inside', 'nothing', 'inside'],
    );
  });

  it('believes no value where the clocks are wrong, however far from the limit it is', () => {
    const wrong = 'the clock of agent 2 was moved';
    const far = { ...near, limitUs: 1e9 };
    const inside = insideOf(1000, 3);
    assert.equal(rulingAcross({ errorUs: 5, inside }, far), undefined);
    assert.equal(rulingAcross({ errorUs: 5, wrong, inside }, far)?.by, 'inside');
    const few = { errorUs: 5, wrong, inside: insideOf(12, 3) };
    assert.equal(rulingAcross(few, far)?.by, 'nothing');
    const words = openWords(few, '99 % of 3,000 deliveries', { valueUs: 900, limitUs: 1000 });
    assert.equal(
      say(words),
      'whether 99 % of 3,000 deliveries came within 1 ms is open: the clock of agent 2 was moved, and only 12 of them stayed inside one agent',
    );
  });

  it('changes nothing between agents with one clock', () => {
    assert.equal(rulingAcross({ errorUs: 0, inside: insideOf(0, 0) }, near), undefined);
    const atLimit = { ...near, limitUs: 1000 };
    assert.equal(rulingAcross({ errorUs: 0, inside: insideOf(0, 0) }, atLimit), undefined);
  });
});
