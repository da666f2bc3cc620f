import assert from 'node:assert/strict';
import fc from 'fast-check';
import { calibratedUnit, type Calibration } from '../../../../src/capacity/judge/calibrate';
import type { EstimateLoad } from '../../../../src/capacity/model';

const loadOf = (
  outPerSecond: number,
  bytes = 2048,
  kind: EstimateLoad['kind'] = 'echo',
): EstimateLoad => ({
  ...{ kind, table: kind === 'echo' ? 'echo' : 'broadcast' },
  ...{ in_messages_per_s: outPerSecond, out_messages_per_s: outPerSecond },
  ...{ in_bytes_per_s: outPerSecond * bytes, out_bytes_per_s: outPerSecond * bytes },
});

const known: Calibration = {
  ...{ at: '2026-11-20T12:00:00.000Z', scenario: 'rooms.yaml', result: 'r1' },
  ...{ product: 'signalr', unit: 5, loads: [loadOf(5000)] },
};
const nowMs = Date.parse('2026-11-23T13:00:00.000Z');

const unitFor = (loads: readonly EstimateLoad[], calibrations = [known], connections = 100) =>
  calibratedUnit({ product: 'signalr', loads, connections }, calibrations, nowMs);

describe('calibratedUnit', () => {
  it('takes the next size that is offered, in proportion to the one that was measured', () => {
    const found = unitFor([loadOf(12_000)]);
    assert.deepEqual([found?.exact, found?.unit, found?.measuredUnit], [12, 20, 5]);
    assert.equal(unitFor([loadOf(5000)])?.unit, 5);
    assert.equal(unitFor([loadOf(100)])?.unit, 1);
  });

  it('says how old it is and where it comes from', () => {
    const found = unitFor([loadOf(7000)])!;
    assert.deepEqual([found.ageDays, found.scenario, found.result], [3, 'rooms.yaml', 'r1']);
    assert.equal(
      found.sentence,
      'Measured, not published: Unit 5 held echo 5,000 msg/s out (search of rooms.yaml, 3 days ago). In proportion to that this load needs Unit 7.',
    );
  });

  it('has room for the connections', () => {
    assert.equal(unitFor([loadOf(100)], [known], 4000)?.unit, 4);
  });

  it('takes the newest of the same traffic', () => {
    const newer = { ...known, at: '2026-11-22T12:00:00.000Z', unit: 10, result: 'r2' };
    assert.equal(unitFor([loadOf(5000)], [newer, known])?.result, 'r2');
  });

  it('is none for another traffic, product or message size', () => {
    assert.equal(unitFor([loadOf(5000, 2048, 'broadcast')]), undefined);
    assert.equal(unitFor([loadOf(5000, 16_384)]), undefined);
    assert.equal(unitFor([loadOf(5000), loadOf(1, 2048, 'broadcast')]), undefined);
    assert.equal(unitFor([loadOf(0)]), undefined);
    assert.equal(unitFor([loadOf(5000)], []), undefined);
    assert.equal(unitFor([loadOf(5000)], [{ ...known, product: 'webpubsub' }]), undefined);
  });

  it('is unknown where a load is so many times as large that no number says it', () => {
    assert.equal(
      unitFor([loadOf(1.7763568394002506e-16)], [{ ...known, loads: [loadOf(5e-324)] }]),
      undefined,
    );
  });

  it('is a size that is offered or null, and never a number that is none', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.nat(3_000_000),
        (carried, load, connections) => {
          const found = unitFor(
            [loadOf(load)],
            [{ ...known, loads: [loadOf(carried)] }],
            connections,
          );
          if (found === undefined) return;
          assert.ok(Number.isFinite(found.exact) && found.exact > 0);
          assert.ok(found.unit === null || found.unit >= found.exact - 1e-6);
          assert.doesNotMatch(found.sentence, /NaN|Infinity|undefined/);
        },
      ),
    );
  });
});
