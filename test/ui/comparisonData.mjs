// What the page of comparisons is shown in pictures: made-up runs of which the truth is known. Needs `npx tsc -b`.
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const from = (file) => require(path.resolve('out', file));
const { comparedRuns } = from('src/extension/panel/panelSession.js');
const { panelStrings } = from('src/measure/show/panelStrings.js');
const { measuredStep, wanderingSeconds } = from('test/fakes/measuredStep.js');
const { sampleResult } = from('test/unit/results/sampleResult.js');
const { seededRandom } = from('src/base/random.js');

const run = (seed, { factors = [1, 1, 1], seconds = 60, ...change } = {}) => {
  const random = seededRandom(seed);
  const steps = factors.map((factor, at) => {
    const process = { perSecond: 300, correlation: 0.4, wandering: 0.05, stalls: 0.03, factor };
    return measuredStep(wanderingSeconds(process, seconds, random), {
      index: at + 1,
      senders: 700 + 600 * at,
    });
  });
  return { ...sampleResult({ steps }), ...change };
};

const message = (results, names) => ({
  type: 'compared',
  shown: comparedRuns(results, names),
  strings: panelStrings,
  folders: results.map(({ id }) => `/results/${id}`),
});

const before = run(1);
const slower = run(2, {
  factors: [1, 1.05, 1.4],
  tool: { name: 'signalr-bench', version: '0.2.0' },
  machine: { ...before.machine, cores: 64 },
});
const names = ['Nov 21, 14:02', '09:15', '10:30'];

export const comparisons = {
  worse: message([before, slower], names),
  same: message([before, run(3)], names),
  unlike: message([before, run(4, { seconds: 6 })], names),
  several: message([before, run(5, { factors: [0.6, 0.6, 0.6] }), slower], names),
};
