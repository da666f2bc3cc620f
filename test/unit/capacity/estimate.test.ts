import assert from 'node:assert/strict';
import { ExpectedError } from '../../../src/base/expectedError';
import { estimate } from '../../../src/capacity/estimate';
import { type EstimateInput, estimateUnits } from '../../../src/capacity/model';
import { sr2023 } from '../../../src/capacity/tables/publishedLimits';
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

/** How often an estimate asks for a table of the guide. */
function lookUps(input: EstimateInput): number {
  const { tables } = sr2023;
  let count = 0;
  const counted = new Proxy(tables, {
    get: (target, name) => {
      count += 1;
      return Reflect.get(target, name) as unknown;
    },
  });
  Object.assign(sr2023, { tables: counted });
  try {
    estimate(input);
  } finally {
    Object.assign(sr2023, { tables });
  }
  return count;
}

describe('estimate: work', () => {
  /** So many times the use cases, each with that part of the load. */
  const split = (parts: number): EstimateInput => ({
    product: 'signalr',
    connections: 5000,
    useCases: Array.from({ length: parts }, (): EstimateInput['useCases'] => {
      const each = { intervalS: 1, messageBytes: 2048 };
      return [
        { kind: 'send_to_group', senders: 300 / parts, groupMembers: 10, ...each },
        { kind: 'send_to_connection', senders: 500 / parts, ...each },
        { kind: 'broadcast', senders: 1, intervalS: 10 * parts, messageBytes: 4096 },
      ];
    }).flat(),
  });

  it('is at most 300 look-ups in tables, and grows no faster than the use cases', () => {
    const once = lookUps(split(1));
    assert.equal(estimate(split(10)).unit, estimate(split(1)).unit);
    assert.ok(once > 0 && once <= 300, `${once} look-ups`);
    assert.ok(lookUps(split(10)) <= 10 * once);
  });
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
