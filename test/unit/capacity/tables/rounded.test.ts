import assert from 'node:assert/strict';
import { rounded } from '../../../../src/capacity/tables/publishedLimits';

describe('rounded', () => {
  it('keeps four decimals, halves to even', () => {
    const values = [1 / 3, 2 / 3, 1, 0.03125, 0.09375, 0.00625, 17_476_266.666_666];
    assert.deepEqual(
      values.map(rounded),
      [0.3333, 0.6667, 1, 0.0312, 0.0938, 0.0063, 17_476_266.6667],
    );
  });
});
