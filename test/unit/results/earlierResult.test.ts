import assert from 'node:assert/strict';
import type { StepSummary } from '../../../src/measure/summary';
import { resultOf } from '../../../src/results/readResult';
import { sampleResult, sampleStep } from './sampleResult';

/** As schema 1 had it: 10 of 100 deliveries came after the drain, and 5 never. */
const late = { expected: 100, received: 95, lost: 5, late: 10 } as const;
const call = { name: 'Work', sent: 100, errors: {}, latencyUs: sampleStep(1).latencyUs };

const readOf = (step: Partial<StepSummary>): StepSummary => {
  const result = { ...sampleResult(), steps: [{ ...sampleStep(1), seconds: 10, ...step }] };
  const text = JSON.stringify({ ...result, schema: 'signalr-bench-result/1' });
  const read = resultOf(text, 'result.json');
  assert.equal(read.schema, 'signalr-bench-result/2');
  return read.steps[0]!;
};

describe('a result of schema 1', () => {
  it('is read with what came after the drain as a part of what was lost', () => {
    const { expected, received, lost, late: after, receivedPerSecond } = readOf(late);
    assert.deepEqual([expected, received, lost, after, receivedPerSecond], [100, 85, 15, 10, 8.5]);
  });

  it('is read so in each entry and its only call, and as it was where nobody knows', () => {
    const entry = { ...sampleStep(1), ...late, name: 'a' };
    const counts = { expected: 100, received: 95, lost: 5 };
    const calls = [
      { ...call, ...counts, entry: 'a' },
      { ...call, ...counts, entry: 'b' },
      { ...call, ...counts, entry: 'b' },
    ];
    const read = readOf({ ...late, entries: [entry, { ...entry, name: 'b' }], calls });
    const deliveries = (of: readonly { received: number; lost: number }[]): number[][] =>
      of.map(({ received, lost }) => [received, lost]);
    assert.deepEqual(deliveries(read.entries!), [
      [85, 15],
      [85, 15],
    ]);
    assert.deepEqual(deliveries(read.calls!), [
      [85, 15],
      [95, 5],
      [95, 5],
    ]);
  });

  it('is read as it is where nothing was late', () => {
    assert.deepEqual(readOf({}), { ...sampleStep(1), seconds: 10 });
  });
});
