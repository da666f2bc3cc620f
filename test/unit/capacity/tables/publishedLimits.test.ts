import assert from 'node:assert/strict';
import fc from 'fast-check';
import { interpolateLimit } from '../../../../src/capacity/tables/publishedLimits';
import { published, rowOf } from '../publishedData';

const units = [1, 2, 5, 10, 20, 50, 100];
const sendToConnection = [1000, 2000, 5000, 8000, 9000, 20000, 20000];
const restToUser = [300, 600, 900, 1300, 2000, 10000, 18000];

describe('interpolation', () => {
  it('is the printed value at a listed size and nothing outside', () => {
    assert.equal(interpolateLimit(units, sendToConnection, 20), 9000);
    assert.equal(interpolateLimit(units, sendToConnection, 0.5), undefined);
    assert.equal(interpolateLimit(units, sendToConnection, 200), undefined);
  });

  it('never does worse than the smaller neighbour, per unit never better than the worse one', () => {
    const between = (values: number[], unit: number): number | undefined =>
      interpolateLimit(units, values, unit);
    assert.deepEqual(
      [6, 7, 30, 40, 60].map((unit) => between(sendToConnection, unit)),
      [5000, 5600, 12000, 16000, 20000],
    );
    assert.deepEqual(
      [3, 4, 8, 30, 60].map((unit) => between(restToUser, unit)),
      [600, 720, 1040, 3000, 10800],
    );
  });

  it('stays between the neighbours and under the straight line', () => {
    const row = fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 7, maxLength: 7 });
    fc.assert(
      fc.property(row, fc.integer({ min: 1, max: 100 }), (steps, unit) => {
        let sum = 0;
        const values = steps.map((step) => (sum += step));
        const limit = interpolateLimit(units, values, unit)!;
        const above = units.findIndex((listed) => listed >= unit);
        const below = Math.max(0, above - 1);
        const [low, high] = [values[below]!, values[above]!];
        const [a, b] = [units[below]!, units[above]!];
        const line = a === b ? high : low + ((high - low) * (unit - a)) / (b - a);
        assert.ok(limit >= low - 1e-6 && limit <= high + 1e-6 && limit <= line + 1e-6);
      }),
      { numRuns: 200 },
    );
  });

  it('reproduces the sizes that only the Web PubSub guide of 2021 prints', () => {
    const wps = published.editions.find((edition) => edition.from === 'wps')!;
    let reproduced = 0;
    for (const table of published.tables) {
      if (!table.id.startsWith('wps-2021/') || table.use_case === 'small_group') continue;
      for (const [direction, values] of Object.entries(wps.limits[table.use_case]!)) {
        const printed = rowOf(table, `${direction}_per_second`, 'in_out_messages_per_second')!;
        table.units.forEach((unit, position) => {
          assert.equal(interpolateLimit(wps.listed_units, values, unit), printed.value[position]);
          if (!wps.listed_units.includes(unit)) reproduced += 1;
        });
      }
    }
    assert.equal(reproduced, 12);
  });
});
