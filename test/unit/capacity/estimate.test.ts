import assert from 'node:assert/strict';
import { ExpectedError } from '../../../src/base/expectedError';
import { estimate } from '../../../src/capacity/estimate';
import { estimateVector, readVectors } from './vectors';

/** Numbers within 1e-4, everything else equal; only the fields of `expected` are compared. */
function assertMatches(actual: unknown, expected: unknown, path: string): void {
  if (typeof expected === 'number') {
    assert.equal(typeof actual, 'number', path);
    const off = Math.abs((actual as number) - expected);
    assert.ok(off <= 1e-4, `${path}: ${String(actual)} instead of ${expected}`);
  } else if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual), path);
    assert.equal(actual.length, expected.length, `${path}.length`);
    expected.forEach((item, index) => assertMatches(actual[index], item, `${path}[${index}]`));
  } else if (typeof expected === 'object' && expected !== null) {
    for (const [key, value] of Object.entries(expected)) {
      assertMatches((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
    }
  } else {
    assert.equal(actual, expected, path);
  }
}

describe('estimate: vectors', () => {
  const vectors = readVectors();

  it('has all 61 of them', () => assert.equal(vectors.length, 61));

  for (const vector of vectors) {
    it(`${vector.id} ${vector.title}`, () => {
      const { expected } = vector;
      if ('error' in expected) {
        assert.throws(
          () => estimateVector(vector.input),
          (error) =>
            error instanceof ExpectedError &&
            error.code === 'estimate-input' &&
            error.message === expected['error'],
        );
        return;
      }
      const result = estimateVector(vector.input);
      assertMatches(result, expected, vector.id);
      assertMatches(result, vector.by_hand ?? {}, `${vector.id} by hand`);
    });
  }
});

describe('estimate: time', () => {
  it('takes less than a millisecond', () => {
    const input = {
      product: 'signalr',
      connections: 5000,
      useCases: [
        { kind: 'send_to_group', senders: 300, intervalS: 1, messageBytes: 2048, groupMembers: 10 },
        { kind: 'send_to_connection', senders: 500, intervalS: 1, messageBytes: 2048 },
        { kind: 'broadcast', senders: 1, intervalS: 10, messageBytes: 4096 },
      ],
    } as const;
    const times = Array.from({ length: 200 }, () => {
      const start = process.hrtime.bigint();
      estimate(input);
      return Number(process.hrtime.bigint() - start) / 1e6;
    }).sort((a, b) => a - b);
    assert.ok(times[100]! < 1, `median ${times[100]} ms`);
  });
});
