import assert from 'node:assert/strict';
import { ExpectedError } from '../../../src/base/expectedError';
import { estimate } from '../../../src/capacity/estimate';
import { estimateUnits } from '../../../src/capacity/model';
import { estimateVector, readVectors } from './vectors';
import { readdirSync, readFileSync } from 'node:fs';
import { loadOf } from '../../../src/capacity/load/loadOf';
import { parseScenario } from '../../../src/scenario/parseScenario';

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

/** Paths of all numbers in a value, `[]` for each entry of a list. */
function numbersIn(value: unknown, path = ''): string[] {
  if (typeof value === 'number') return [path];
  if (Array.isArray(value)) return value.flatMap((item) => numbersIn(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    numbersIn(member, path === '' ? key : `${path}.${key}`),
  );
}

describe('the units of an estimate', () => {
  const paths = new Set<string>();
  for (const file of readdirSync('examples')) {
    const { scenario } = parseScenario(readFileSync(`examples/${file}`, 'utf8'));
    const load = scenario && loadOf(scenario);
    if (load && 'input' in load)
      for (const path of numbersIn(estimate(load.input))) paths.add(path);
  }
  // One that only another edition has a size for.
  const echo = { kind: 'echo', senders: 1, intervalS: 1, messageBytes: 2048 } as const;
  const beyond = estimate({ product: 'signalr', connections: 150_000, useCases: [echo] });
  for (const path of numbersIn(beyond)) paths.add(path);

  it('hear of every number, and of nothing else', () => {
    assert.deepEqual([...paths].sort(), Object.keys(estimateUnits).sort());
  });
});
