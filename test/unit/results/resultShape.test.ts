import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { resultShape, shapeProblem } from '../../../src/results/resultShape';
import { scenarioOf } from '../scenario/parsed';
import { sampleResult } from './sampleResult';

const examples = readdirSync('examples').filter((file) => file.endsWith('.yaml'));

describe('the shape of results', () => {
  for (const file of examples)
    it(`fits what a run of ${file} leaves`, () => {
      const scenario = scenarioOf(readFileSync(`examples/${file}`, 'utf8'));
      const stored = JSON.parse(JSON.stringify(sampleResult({}, scenario))) as unknown;
      assert.equal(shapeProblem(stored, resultShape), undefined);
    });
});
