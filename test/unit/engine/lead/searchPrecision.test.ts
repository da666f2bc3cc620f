import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import type { PlanStep } from '../../../../src/plan/plan';
import { SearchedSteps } from '../../../../src/engine/lead/stepSource';
import type { SearchSpec } from '../../../../src/scenario/scenario';
import type { SearchSummary } from '../../../../src/base/searchSummary';
import { planOf, shortStep } from '../../../fakes/plan';
import { QueueHub } from '../../../fakes/queueHub';
import { VirtualTime } from '../../../fakes/virtualTime';
import { conductorOf, FakeWorkers } from '../../../fakes/workers';

const spec: SearchSpec = {
  ...{ of: 'rate', from: 50, to: 2000, precision: 0.05, budgetMs: 600_000 },
};
const slo = { ...planOf().slo, latencyUs: { p99: 1_000_000 } };

/** Of the hub, searched by a run whose workers, hub and clock are in this process. */
async function searched(hub: QueueHub): Promise<SearchSummary> {
  const time = new VirtualTime().install();
  try {
    const stepOf = (value: number, index: number): PlanStep => ({
      ...{ ...shortStep, index, senders: 20, warmupMs: 1000, measureMs: 8000, drainMs: 5000 },
      intervalsMs: [20_000 / value],
    });
    const workers: FakeWorkers = new FakeWorkers(() => time.nowUs(), 1, {
      step: (worker, { step, atUs }) =>
        hub.run(workers, worker, step!, 20_000 / step!.intervalsMs![0]!, atUs),
    });
    const conductor = conductorOf(planOf({ slo, search: spec, steps: [stepOf(spec.to, 1)] }), {
      startWorkers: workers.start,
      steps: new SearchedSteps(spec, stepOf),
      nowUs: () => time.nowUs(),
    });
    const { search } = await time.until(conductor.finished, 3_600_000);
    assert.ok(search, 'no search');
    return search;
  } finally {
    time.restore();
  }
}

describe('the interval of a search', () => {
  // The seeds are fixed, as one in 20 may lie outside: TEST_TRIES tries more of them.
  const tries = Number(process.env['TEST_TRIES'] ?? 6);
  const quiet = { wayMs: 1, stopMs: 0 };
  const busy = { wayMs: 3, stopMs: 80 };
  for (const [name, noise] of [
    ['a quiet machine', quiet],
    ['a busy machine', busy],
  ] as const)
    it(`holds the rate that a hub serves exactly, on ${name}`, async () => {
      const missed: string[] = [];
      const widths: number[] = [];
      const counts: number[] = [];
      for (let seed = 1; seed <= tries; seed++) {
        const random = seededRandom(Math.imul(seed, 0x9e3779b1));
        const hub = new QueueHub(150 * 4 ** random.next(), random, noise);
        const { low, high, ended, steps } = await searched(hub);
        const said = `${hub.perSecond.toFixed(1)}: ${low} to ${high}, ${ended}, ${steps.length} steps`;
        if (low === null || high === null || low > hub.perSecond || high < hub.perSecond)
          missed.push(said);
        if (low !== null && high !== null) widths.push((high - low) / low);
        counts.push(steps.length);
      }
      const median = (values: number[]): number =>
        values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
      process.stdout.write(
        `        ${tries - missed.length} of ${tries} inside, ${(100 * median(widths)).toFixed(1)} % wide, ${median(counts)} steps (medians)\n`,
      );
      assert.ok(missed.length <= Math.max(1, 0.05 * tries), missed.join('\n'));
    });
});
