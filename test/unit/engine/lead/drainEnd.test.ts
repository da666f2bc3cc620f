import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { StepSummary } from '../../../../src/measure/summary';
import type { Plan } from '../../../../src/plan/plan';
import type { FromWorker, WorkerHost, WorkerListener } from '../../../../src/messages/worker';
import { conductorOf } from '../../../fakes/workers';
import { planOf, shortStep } from '../../../fakes/plan';
import { WorkerBench } from '../../../fakes/workerBench';

/** Milliseconds of run time in which the lead hears nothing and is heard by nobody. */
interface Block {
  readonly fromMs: number;
  readonly toMs: number;
}

/** When the only step begins to be measured: 10 connections, 100 of them a second. */
const measuringMs = 400;

/** Lead and workers on one clock; everything between them takes until the end of a block that it falls into. */
class Scene {
  private readonly bench: WorkerBench;
  private listener: WorkerListener | undefined;
  private readonly early: [number, FromWorker][] = [];

  constructor(
    private readonly plan: Plan,
    delayMs: number,
    private readonly block: Block,
  ) {
    this.bench = new WorkerBench(plan, (worker, fact) => {
      if (this.listener === undefined) this.early.push([worker, fact]);
      else this.carry(() => this.listener!.fact(worker, fact));
    });
    this.bench.hub.delayMs = delayMs;
  }

  async run(): Promise<StepSummary> {
    const { bench, plan } = this;
    const alive = new Set(plan.workers.map(({ worker }) => worker));
    const host: WorkerHost = {
      alive,
      takingPart: () => plan.connections,
      order: (order) => this.carry(() => void bench.order(order)),
      end: () => {
        alive.clear();
        return Promise.resolve();
      },
    };
    const conductor = conductorOf(plan, {
      startWorkers: (listener) => {
        this.listener = {
          ...listener,
          fact: (worker, fact) => {
            if (fact.type === 'closed') alive.delete(worker);
            listener.fact(worker, fact);
          },
        };
        for (const worker of alive) this.carry(() => listener.fact(worker, { type: 'ready' }));
        for (const [worker, fact] of this.early) this.carry(() => listener.fact(worker, fact));
        return host;
      },
      nowUs: () => bench.time.nowUs(),
    });
    try {
      const { steps } = await bench.time.until(conductor.finished, 300_000);
      return steps[0]!;
    } finally {
      bench.time.restore();
    }
  }

  private carry(what: () => void): void {
    const { fromMs, toMs } = this.block;
    const { nowMs } = this.bench.time;
    setTimeout(what, nowMs >= fromMs && nowMs < toMs ? toMs - nowMs : 0);
  }
}

const none: Block = { fromMs: 0, toMs: 0 };

describe('the end of a drain', () => {
  /** 100 messages, one each 10 ms; the drain ends 100 ms after the second. */
  const stepOf = (delayMs: number, block = none, workers = 1): Promise<StepSummary> =>
    new Scene(planOf({}, workers), delayMs, block).run();
  const countsOf = ({ expected, received, lost, late, latencyUs }: StepSummary): number[] => [
    ...[expected, received, lost, late, latencyUs.count],
  ];
  const endMs = measuringMs + shortStep.measureMs;

  it('is told by the clock of the workers: what is read before it counts, what comes after is late', async () => {
    assert.deepEqual(countsOf(await stepOf(60)), [100, 100, 0, 0, 100]);
    const late = await stepOf(145);
    // Those due in the last 50 ms come between 5 and 35 ms too late; the run closes before the last has come.
    assert.deepEqual(countsOf(late).slice(0, 3), [100, 96, 4]);
    assert.equal(late.latencyUs.count, 96);
    assert.equal(
      late.verdict.reasons[0]?.message,
      '4 of 100 deliveries lost, and only 1 % may be slower than 1 s',
    );
  });

  it('counts by a flush that was asked before and is answered after it what was read in time', async () => {
    const block = { fromMs: endMs + 30, toMs: endMs + 1500 };
    assert.deepEqual(countsOf(await stepOf(95, block)), [100, 100, 0, 0, 100]);
  });

  it('is where it is, however long the lead is blocked', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: endMs - 300, max: endMs + 200 }),
      fc.integer({ min: 1, max: 4000 }),
      fc.constantFrom(1, 3),
      async (fromMs, forMs, workers) => {
        const step = await stepOf(145, { fromMs, toMs: fromMs + forMs }, workers);
        const { expected, received, lost, verdict } = step;
        assert.deepEqual([expected, received, lost], [100, 96, 4]);
        assert.equal(step.latencyUs.count, 96);
        assert.equal(verdict.status, 'fail');
      },
    );
    await fc.assert(property, { numRuns: 8 });
  });
});
