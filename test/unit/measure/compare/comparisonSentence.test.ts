import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import { panelStrings } from '../../../../src/messages/panelStrings';
import { compareResults } from '../../../../src/results/compare/compareResults';
import { comparisonSentenceOf } from '../../../../src/measure/compare/comparisonSentence';
import { measuredStep, wanderingSeconds } from '../../../fakes/measuredStep';
import { sampleResult } from '../../results/sampleResult';

const run = (seed: number, factor = 1, lost = 0, seconds = 60) =>
  sampleResult({
    steps: [
      measuredStep(
        wanderingSeconds(
          { perSecond: 100, correlation: 0, wandering: 0.05, factor },
          seconds,
          seededRandom(seed),
        ),
        { lost },
      ),
    ],
  });

const said = (later: ReturnType<typeof run>): string => {
  const { lead, rest } = comparisonSentenceOf(compareResults(run(1), later), panelStrings);
  return `${lead} ${rest}`;
};

describe('sentence above a comparison', () => {
  it('says what changed, by how much, and what is tolerated', () => {
    assert.match(
      said(run(2, 1.4)),
      /^Worse\. In step 1 p99 rose from [\d.]+ ms to [\d.]+ ms \(\+\d+ %, 95 % interval \+\d+ … \+\d+ %\); the tolerance is 10 %\.$/,
    );
    assert.match(said(run(2, 0.6)), /^Better\. In step 1 p99 fell from/);
    assert.match(said(run(2)), /^The same\. In step 1 p99 was [\d.]+ ms and is [\d.]+ ms \(/);
  });

  it('says what was lost, and why nothing can be said', () => {
    assert.match(
      said(run(2, 1, 30)),
      /^Worse\. In step 1 30 deliveries were lost \(0.5 %\), before 0\.$/,
    );
    assert.match(said(run(2, 1, 0, 5)), /^Cannot be compared\. step 1: it was measured for/);
  });
});
