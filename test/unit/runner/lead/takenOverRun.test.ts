import assert from 'node:assert/strict';
import type { Snapshot } from '../../../../src/measure/snapshot';
import type { RunSummary } from '../../../../src/measure/summary';
import type { Plan } from '../../../../src/plan/plan';
import type { ToWorker, WorkerListener } from '../../../../src/protocol/worker';
import { TakenOverRun, type TakeOver } from '../../../../src/runner/lead/takenOverRun';
import { planOf, shortStep } from '../../../fakes/plan';
import { countsOf, stepSampleOf } from '../../../fakes/sample';
import { VirtualTime } from '../../../fakes/virtualTime';
import { FakeWorkers } from '../../../fakes/workers';

const slo = { ...planOf().slo, latencyUs: { p50: 1_000_000 } };
const good = (count: number, step = 1) =>
  stepSampleOf({
    ...{ step, offered: count, sent: count, expected: count, received: count },
    latency: countsOf(...Array.from({ length: count }, () => 1000)),
  });
/** Up to the first step: 200 ms warm-up, 1 s measured from 300 ms on. */
const begun: readonly ToWorker[] = [
  { type: 'connect', atUs: 0, from: 0, to: 10 },
  { type: 'flush', flush: 1 },
  { type: 'prepare', step: 1 },
  { type: 'identify' },
  { type: 'flush', flush: 2 },
  { type: 'step', index: 1, atUs: 100_000 },
];

describe('a run that is taken over', () => {
  let time: VirtualTime;
  let workers: FakeWorkers;
  let listener: Required<WorkerListener>;
  let run: TakenOverRun;
  let snapshots: Snapshot[];

  beforeEach(() => {
    time = new VirtualTime().install();
  });
  afterEach(() => time.restore());

  /** At 600 ms of the run, `past` says what was before. */
  function start(past: () => void, takeOver: TakeOver = {}, changes: Partial<Plan> = {}): void {
    workers = new FakeWorkers(() => time.nowUs());
    const context = {
      startWorkers: (given: WorkerListener) => {
        listener = given as Required<WorkerListener>;
        return workers.start(given);
      },
      keepGoing: false,
      secrets: [],
      nowUs: () => time.nowUs(),
      targetUrls: [],
      target: { kind: 'hub', url: 'http://127.0.0.1:1/' },
      machine: { cores: 1, node: '20', platform: 'linux', workers: 1 },
    };
    run = new TakenOverRun(planOf({ slo, steps: [shortStep], ...changes }), context, takeOver);
    snapshots = [];
    run.onSnapshot((snapshot) => snapshots.push(snapshot));
    setTimeout(() => {
      past();
      listener.tookOver();
    }, 600);
  }

  const ended = (): Promise<RunSummary> => time.until(run.finished, 120_000);
  const give = (...orders: readonly ToWorker[]): void =>
    orders.forEach((each) => listener.ordered(each));
  const connected = (): void => {
    workers.report(0, { type: 'connected' });
    workers.report(0, { type: 'prepared' });
  };
  const overStep = (): void =>
    give({ type: 'drain', index: 1, untilUs: 0 }, { type: 'drained', index: 1 });

  it('goes on in its step, with what was counted before, and orders nothing again', async () => {
    start(() => {
      give(...begun.slice(0, 5));
      connected();
      give(begun[5]!);
      workers.sample(0, { atUs: 500_000, steps: [good(40)] });
      setTimeout(() => {
        workers.sample(0, { steps: [good(60)] });
        workers.reportSent(0, 1);
      }, 700);
    });
    const { ending, steps } = await ended();
    assert.equal(ending, 'completed');
    const [only] = steps;
    assert.deepEqual(
      [only!.verdict.status, only!.seconds, only!.sent, only!.received, only!.lost],
      ['pass', 1, 100, 100, 0],
    );
    assert.deepEqual(workers.ordered, [
      ...['flush', 'flush', 'drain', 'flush', 'drained', 'close'],
    ]);
    assert.deepEqual(workers.orders[0], { type: 'flush', flush: 3 });
    assert.equal(time.nowMs, 1300);
    // Time stands where it was while the past comes again.
    assert.ok(snapshots.some(({ phase, atMs }) => phase === 'measuring' && atMs === 500));
  });

  it('goes on with the next step where one was over, which keeps its verdict', async () => {
    const steps = [shortStep, { ...shortStep, index: 2 }];
    start(
      () => {
        give(...begun);
        connected();
        workers.sample(0, { atUs: 500_000, steps: [good(100)] });
        overStep();
        setTimeout(() => workers.reportSent(0, 2), 1500);
      },
      {},
      { steps },
    );
    const summary = await ended();
    assert.equal(summary.steps[0]!.verdict.status, 'pass');
    assert.deepEqual(workers.ordered.slice(0, 1), ['step']);
    assert.deepEqual(
      workers.orders.flatMap((order) => (order.type === 'step' ? [order.index] : [])),
      [2],
    );
  });

  it('that cannot go on is ended with what was measured, and says why', async () => {
    const steps = [shortStep, { ...shortStep, index: 2 }];
    start(
      () => {
        give(...begun);
        connected();
        workers.sample(0, { atUs: 500_000, steps: [good(100)] });
        overStep();
        give({ type: 'step', index: 2, atUs: 500_000 });
        workers.sample(0, { atUs: 590_000, steps: [good(7, 2)] });
      },
      { problem: 'it has another clock' },
      { steps },
    );
    const summary = await ended();
    assert.deepEqual(
      [summary.ending, summary.endingMessage],
      ['workerLost', 'it has another clock'],
    );
    assert.deepEqual(
      summary.steps.map(({ verdict, sent }) => [verdict.status, sent]),
      [
        ['pass', 100],
        ['incomplete', 7],
      ],
    );
    assert.deepEqual(
      workers.ordered.filter((type) => type !== 'flush'),
      ['halt', 'close'],
    );
  });

  it('that was being ended is not begun again', async () => {
    start(() => {
      give(...begun);
      connected();
      workers.sample(0, { atUs: 500_000, steps: [good(40)] });
      give({ type: 'halt' });
    });
    const { ending, steps } = await ended();
    assert.deepEqual(
      [ending, steps[0]!.verdict.status, steps[0]!.sent],
      ['interrupted', 'incomplete', 40],
    );
  });

  it('whose steps were over is complete', async () => {
    start(() => {
      give(...begun);
      connected();
      workers.sample(0, { atUs: 500_000, steps: [good(100)] });
      overStep();
      give({ type: 'close' });
    });
    const { ending, steps } = await ended();
    assert.deepEqual([ending, steps[0]!.verdict.status], ['completed', 'pass']);
    assert.deepEqual(workers.ordered, ['close']);
  });

  it('ends without agents that were lost before, as it would have', async () => {
    start(() => {
      give(...begun);
      connected();
      workers.lose(0, new Error('was silent'));
    });
    const { ending } = await ended();
    assert.equal(ending, 'workerLost');
  });
});
