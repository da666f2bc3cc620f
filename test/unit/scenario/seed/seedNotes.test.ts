import assert from 'node:assert/strict';
import { brief, problemOf, withConfig as withKeys } from '../parsed';

/** As the Azure SignalR benchmark's files begin. */
const withConfig = (...lines: string[]): string => `mode: simple\n${withKeys(...lines)}`;

const notes = (...lines: string[]): string[] =>
  brief(withConfig(...lines)).filter((line) => line.startsWith('info'));

describe('notes on keys of the Azure SignalR benchmark', () => {
  it('are for files that were written for it', () => {
    assert.deepEqual(brief(withKeys('step: 0', 'arrivingRate: 20')), []);
  });

  it('report a step that did not reach all connections', () => {
    const text = withConfig('connections: 1000', 'baseSending: 500', 'step: 300');
    assert.match(
      problemOf(text, 'seed-difference').message,
      /stopped at 800 senders.*reaches all 1,000/,
    );
    assert.deepEqual(notes('connections: 1000', 'baseSending: 500', 'step: 250'), []);
    assert.deepEqual(notes('step: 300', 'sendingSteps: 2'), []);
  });

  it('report steps that the formula now counts', () => {
    assert.deepEqual(notes('step: 300', 'sendingSteps: 3'), ['info seed-difference "3"']);
    assert.deepEqual(notes('step: 500', 'sendingSteps: 5'), ['info seed-difference "5"']);
    assert.deepEqual(notes('step: 500', 'sendingSteps: 2'), []);
  });

  it('report a single step that nobody judged', () => {
    assert.match(
      problemOf(withConfig('sendingSteps: 1'), 'seed-difference').message,
      /never judged/,
    );
  });

  it('report values that made the Azure SignalR benchmark fail', () => {
    assert.deepEqual(notes('step: 0'), ['info seed-difference "0"']);
    assert.deepEqual(notes('baseSending: 0'), ['info seed-difference "0"']);
  });

  it('report that the arriving rate was none', () => {
    assert.deepEqual(notes('arrivingRate: 20'), ['info seed-difference "20"']);
    assert.deepEqual(notes('arrivingRate: 20', 'arrivingBatchMode: LimitRatePress'), []);
    assert.deepEqual(notes('arrivingBatchMode: LowPress', 'arrivingBatchWait: 2s'), [
      'info seed-difference "LowPress"',
    ]);
    assert.deepEqual(notes('connections: 10', 'arrivingRate: 20'), []);
    assert.deepEqual(notes('arrivingBatchWait: 1s'), ['info seed-difference "1s"']);
  });

  it('report that the criteria hold for the last step too', () => {
    assert.deepEqual(notes('connectionFailPercentage: 0.1', 'latencyPercentage: 0.1'), [
      'info seed-difference "0.1"',
      'info seed-difference "0.1"',
    ]);
  });

  it('say nothing about keys that are not written, are wrong, or were set by hand', () => {
    assert.deepEqual(notes(), []);
    assert.deepEqual(notes('arrivingRate: -5'), []);
    const overrides = [{ path: 'config.arrivingRate', value: '20' }];
    assert.deepEqual(brief(withConfig(), { overrides }), []);
  });
});
