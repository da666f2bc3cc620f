import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { shownAfterClick } from '../../../../src/webview/charts/chartFrame';
import { keyTarget, nearest } from '../../../../src/webview/charts/pointer';

describe('pointing at a chart', () => {
  it('takes the nearest point', () => {
    const rising = fc.uniqueArray(fc.integer({ min: 0, max: 1e6 }), {
      minLength: 1,
      maxLength: 60,
    });
    const property = fc.property(rising, fc.integer({ min: -10, max: 1e6 + 10 }), (all, value) => {
      const places = [...all].sort((a, b) => a - b);
      const found = Math.abs(places[nearest(places, value)]! - value);
      assert.equal(found, Math.min(...places.map((place) => Math.abs(place - value))));
    });
    fc.assert(property, { numRuns: 100 });
  });

  it('goes from point to point by keys, and never beyond the ends', () => {
    const go = (key: string, from: number | undefined): number | undefined =>
      keyTarget(key, from, 30);
    assert.deepEqual([go('ArrowRight', undefined), go('ArrowLeft', undefined)], [0, 29]);
    assert.deepEqual([go('ArrowRight', 4), go('ArrowLeft', 4)], [5, 3]);
    assert.deepEqual([go('ArrowRight', 29), go('ArrowLeft', 0)], [29, 0]);
    assert.deepEqual([go('PageDown', 4), go('PageUp', 4)], [14, 0]);
    assert.deepEqual([go('Home', 4), go('End', 4)], [0, 29]);
    assert.deepEqual([go('Enter', 4), go('constructor', 4)], [undefined, undefined]);
    assert.equal(keyTarget('ArrowRight', undefined, 0), undefined);
  });
});

describe('a click in the legend', () => {
  const click = (shown: readonly number[], at: number, beside = false): number[] => [
    ...shownAfterClick(new Set(shown), at, beside, 3),
  ];

  it('leaves one line alone, then another, and shows all again', () => {
    assert.deepEqual(click([], 1), [1]);
    assert.deepEqual(click([1], 2), [2]);
    assert.deepEqual(click([2], 2), []);
  });

  it('takes one away or adds one with Ctrl or Shift', () => {
    assert.deepEqual(click([], 1, true), [0, 2]);
    assert.deepEqual(click([0, 2], 2, true), [0]);
    assert.deepEqual(click([0], 1, true), [0, 1]);
    assert.deepEqual(click([0, 1], 2, true), [], 'all of them is no choice');
    assert.deepEqual(click([0], 0, true), [], 'none of them would be an empty chart');
  });
});
