import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { estimate } from '../../../src/capacity/estimate';
import { estimateUnits } from '../../../src/capacity/model';
import { loadOf } from '../../../src/capacity/load/loadOf';
import { parseScenario } from '../../../src/scenario/parseScenario';

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
