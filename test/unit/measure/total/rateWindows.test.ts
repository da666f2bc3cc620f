import assert from 'node:assert/strict';
import { RateWindows } from '../../../../src/measure/total/tickMerger';

const rounded = (windows: RateWindows, tick: number): number[] => {
  const { seconds, receivingSeconds } = windows.within(tick);
  return [seconds, receivingSeconds].map((value) => Math.round(value * 1000) / 1000);
};

describe('RateWindows', () => {
  it('has nothing before the first step', () => {
    assert.deepEqual(rounded(new RateWindows(), 1), [0, 0]);
  });

  it('gives the part of each tick in which the step was measured', () => {
    const windows = new RateWindows();
    windows.begin(2.98);
    assert.deepEqual(rounded(windows, 2), [0, 0]);
    assert.deepEqual(rounded(windows, 3), [0.02, 0.02]);
    assert.deepEqual(rounded(windows, 4), [1, 1]);
    windows.sent(4.6);
    assert.deepEqual(rounded(windows, 5), [0.6, 1]);
    windows.drained(4.8);
    assert.deepEqual(rounded(windows, 5), [0.6, 0.8]);
    assert.deepEqual(rounded(windows, 6), [0, 0]);
  });

  it('adds up two steps in one tick, and still knows the one before when its tick comes late', () => {
    const windows = new RateWindows();
    windows.begin(0.5);
    windows.sent(3.2);
    windows.drained(3.3);
    windows.begin(3.4);
    assert.deepEqual(rounded(windows, 3), [1, 1]);
    assert.deepEqual(rounded(windows, 4), [0.8, 0.9]);
  });

  it('ends sending with the drain when a run is broken off', () => {
    const windows = new RateWindows();
    windows.begin(0);
    windows.drained(0.25);
    windows.drained(0.75);
    assert.deepEqual(rounded(windows, 1), [0.25, 0.25]);
  });
});
