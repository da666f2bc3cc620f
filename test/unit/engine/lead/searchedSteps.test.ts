import { plain } from '../../plain';
import assert from 'node:assert/strict';
import type { Snapshot } from '../../../../src/measure/snapshot';
import type { RunSummary } from '../../../../src/measure/summary';
import type { Plan, PlanStep } from '../../../../src/plan/plan';
import type { Conductor } from '../../../../src/engine/lead/conductor';
import type { ConductorContext } from '../../../../src/engine/lead/run';
import { SearchedSteps } from '../../../../src/engine/lead/stepSource';
import type { SearchSpec } from '../../../../src/scenario/scenario';
import type { SearchSummary } from '../../../../src/base/searchSummary';
import { planOf, shortStep } from '../../../fakes/plan';
import { countsOf, stepSampleOf } from '../../../fakes/sample';
import { VirtualTime } from '../../../fakes/virtualTime';
import { conductorOf, FakeWorkers, type Deviations } from '../../../fakes/workers';
import { StepTotals } from '../../../../src/measure/total/stepTotals';
import { tooShortReason } from '../../../../src/measure/judge/verdict';
import { noConnections } from '../../../../src/measure/sample';

const spec: SearchSpec = { of: 'senders', from: 10, to: 1000, precision: 0.05, budgetMs: 600_000 };
const stepOf = (value: number, index: number): PlanStep => ({
  ...shortStep,
  index,
  senders: value,
});
const slo = { ...planOf().slo, latencyUs: { p50: 1_000_000 } };

describe('a run whose steps a search decides on', () => {
  let time: VirtualTime;
  let workers: FakeWorkers;
  let conductor: Conductor;
  let snapshots: Snapshot[];
  beforeEach(() => {
    time = new VirtualTime().install();
  });
  afterEach(() => time.restore());

  function start(
    deviations: Deviations,
    changes: Partial<SearchSpec> = {},
    context: Partial<ConductorContext> = {},
    planned = stepOf,
    more: Partial<Plan> = {},
  ): void {
    const search = { ...spec, ...changes };
    const plan = planOf({ slo, search, steps: [planned(search.to, 1)], ...more });
    workers = new FakeWorkers(() => time.nowUs(), 1, deviations, shortStep);
    conductor = conductorOf(plan, {
      startWorkers: workers.start,
      steps: new SearchedSteps(search, planned),
      nowUs: () => time.nowUs(),
      ...context,
    });
    snapshots = [];
    conductor.onSnapshot((snapshot) => snapshots.push(snapshot));
  }

  type Searched = RunSummary & { readonly search: SearchSummary };
  const ended = async (): Promise<Searched> => {
    const summary = await time.until(conductor.finished, 3_600_000);
    const { search } = summary;
    assert.ok(search, 'no search');
    assert.doesNotMatch(JSON.stringify(search), /NaN|Infinity/);
    return { ...summary, search };
  };

  /** One of two deliveries is lost above the limit; what came took a millisecond. */
  const upTo =
    (limit: number): NonNullable<Deviations['step']> =>
    (worker, { index, step }) => {
      const count = 10;
      const received = step!.senders <= limit ? count : count / 2;
      const latency = countsOf(...Array.from({ length: received }, () => 1000));
      workers.sample(worker, {
        steps: [
          stepSampleOf({
            ...{ step: index, offered: count, sent: count, expected: count, received, latency },
          }),
        ],
      });
    };

  it('finds the limit on one set of connections, and says what broke', async () => {
    start({ step: upTo(333) });
    const { search, steps, ending } = await ended();
    assert.equal(ending, 'completed');
    assert.deepEqual([search.ended, search.low, search.high], ['found', 330, 340]);
    assert.deepEqual(search.broken, { metric: 'delivered', limit: 0.99, value: 0.5 });
    assert.equal(workers.ordered.filter((type) => type === 'connect').length, 1);
    assert.equal(workers.ordered.filter((type) => type === 'step').length, steps.length);
    assert.deepEqual(
      search.steps.map(({ index, value, lost }) => [index, value, lost]),
      steps.map(({ index, senders, lost }) => [index, senders, lost]),
    );
    const lows = search.steps.filter(({ value }) => value === search.low);
    assert.ok(lows.length >= 2 && lows.every(({ status }) => status === 'pass'));
    assert.deepEqual(
      lows.map(({ p50 }) => p50),
      lows.map(() => 1000),
    );
  });

  it('says in its snapshots what held, what did not, and what is tried', async () => {
    start({ step: upTo(25) });
    await ended();
    const seen = snapshots.map(({ search }) => search).filter((search) => search?.value === 30);
    assert.deepEqual(seen[0], { of: 'senders', value: 30, low: 20, high: 40 });
    assert.ok(snapshots.every(({ stepCount, step }) => stepCount >= (step?.index ?? 0)));
  });

  it('ends when another step has no room in the budget', async () => {
    // A step takes 1.3 s; four of them fit.
    start({ step: upTo(1000) }, { budgetMs: 5500 });
    const { search } = await ended();
    assert.equal(search.ended, 'budget');
    assert.ok(search.elapsedMs <= 5500, `${search.elapsedMs} ms`);
    assert.deepEqual([search.low, search.high, search.broken], [80, null, null]);
  });

  it('runs one step however small the budget is', async () => {
    start({ step: upTo(1000) }, { budgetMs: 1 });
    const { search } = await ended();
    assert.deepEqual([search.ended, search.steps.length, search.low], ['budget', 1, 10]);
  });

  it('waits after a step too many until what it left behind has come', async () => {
    const behind = { expected: 100, latency: countsOf(1000), received: 10 };
    let [more, failedAtMs] = [0, 0];
    start({
      step: (worker, order) => {
        if (order.step!.senders <= 20) {
          upTo(20)(worker, order);
          return;
        }
        if (failedAtMs === 0) [more, failedAtMs] = [4, time.nowMs];
        const counts = { step: order.index, offered: 100, sent: 100 };
        workers.sample(worker, { steps: [stepSampleOf({ ...counts, ...behind })] });
      },
      flush: (worker, { flush }) => {
        // Late deliveries, once the drain is over, in four parts.
        const isDrained = workers.ordered.at(-1) === 'flush' && workers.ordered.at(-2) !== 'drain';
        const isLate =
          isDrained && workers.ordered.lastIndexOf('drained') > workers.ordered.lastIndexOf('step');
        const late = isLate && more > 0;
        if (late) more -= 1;
        const steps = late ? [stepSampleOf({ step: 3, late: 5 })] : [];
        workers.sample(worker, { steps }, flush);
        return false;
      },
    });
    const { search } = await ended();
    assert.equal(search.ended, 'found');
    assert.equal(more, 0);
    const next = search.steps[3]!;
    // Four looks 250 ms apart, then two quiet seconds.
    const begun = snapshots.find(({ step }) => step?.index === next.index)!.atMs;
    const drainedMs = failedAtMs + 100 + shortStep.warmupMs + shortStep.measureMs;
    assert.ok(begun - drainedMs >= 3000, `${begun - drainedMs} ms`);
  });

  it('waits for the connections that a step too many has cost, and does not blame the next one', async () => {
    let lost = 0;
    start({
      step: (worker, order) => {
        if (order.step!.senders > 20 && lost === 0) {
          lost = 5;
          workers.open = 5;
          workers.connections = {
            soFar: { ...noConnections, connected: 10, failed: 0, dropped: 5 },
          };
          setTimeout(() => (workers.open = 10), 4000);
        }
        upTo(20)(worker, order);
      },
    });
    const { search } = await ended();
    assert.deepEqual([search.ended, search.low], ['found', 20]);
    assert.equal(workers.open, 10);
  });

  it('keeps what held when the target is lost, or somebody stops it', async () => {
    start({
      step: (worker, order) => {
        if (order.step!.senders >= 40) {
          workers.open = 0;
          workers.connections = {
            soFar: { ...noConnections, connected: 10, failed: 0, dropped: 10 },
          };
        }
        upTo(1000)(worker, order);
      },
    });
    const lost = await ended();
    assert.equal(lost.ending, 'targetLost');
    assert.deepEqual(
      [lost.search.ended, lost.search.low, lost.search.high],
      ['targetLost', 20, null],
    );
    start({
      step: (worker, order) => {
        if (order.step!.senders >= 40) conductor.stop('interrupted');
        upTo(1000)(worker, order);
      },
    });
    const stopped = await ended();
    assert.deepEqual([stopped.search.ended, stopped.search.low], ['stopped', 20]);
  });

  it('gives up a target whose connections do not come back', async () => {
    const life = { repair: true, policy: 'fixed', delayMs: 1000 } as const;
    let lostAtMs = 0;
    start(
      {
        step: (worker, order) => {
          if (order.step!.senders >= 40 && lostAtMs === 0) {
            workers.open = 0;
            workers.connections = {
              soFar: { ...noConnections, connected: 10, failed: 0, dropped: 10, drops: 10 },
            };
            lostAtMs = time.nowMs;
          }
          upTo(workers.open === 0 ? 0 : 1000)(worker, order);
        },
      },
      {},
      {},
      stepOf,
      { life },
    );
    const { ending, search } = await ended();
    assert.equal(ending, 'targetLost');
    assert.deepEqual([search.ended, search.low], ['targetLost', 20]);
    assert.ok(time.nowMs - lostAtMs < 25_000, `${time.nowMs - lostAtMs} ms`);
  });

  it('takes no rate for held that was not sent, and says what was', async () => {
    const perSecond = 30;
    start(
      {
        step: (worker, { index, step }) => {
          const sent = Math.min(step!.senders, perSecond);
          const counts = { step: index, offered: sent, sent, expected: sent, received: sent };
          const latency = countsOf(...Array.from({ length: sent }, () => 1000));
          workers.sample(worker, { steps: [stepSampleOf({ ...counts, latency })] });
        },
      },
      { of: 'rate' },
    );
    const { search, steps } = await ended();
    assert.equal(search.ended, 'found');
    assert.ok(search.low! <= perSecond / 0.9 && search.high! > perSecond, `${search.low}`);
    assert.deepEqual(search.broken, { metric: 'rate', limit: search.high, value: perSecond });
    const { verdict } = steps.find(({ senders }) => senders === 40)!;
    assert.deepEqual(plain(verdict.reasons), [
      {
        code: 'notSent',
        message:
          'only 30.0 of 40 messages a second were sent: senders were busy with a session, or not connected',
      },
    ]);
  });

  it('opens and closes connections as their number is searched', async () => {
    const planned = (value: number, index: number): PlanStep => ({
      ...stepOf(value, index),
      connections: value,
    });
    workers = undefined as never;
    start(
      {
        step: upTo(600),
        connect: (worker, { to }) => {
          workers.open = to;
          workers.connections = {
            soFar: { ...noConnections, connected: to, failed: 0, dropped: 0 },
          };
          void worker;
        },
        shrink: (_worker, { from }) => (workers.open = from),
      },
      { of: 'connections', from: 400, to: 1000 },
      {},
      planned,
    );
    const { search } = await ended();
    assert.equal(search.ended, 'found');
    const changes = workers.orders.flatMap((order) =>
      order.type === 'connect' || order.type === 'shrink'
        ? [`${order.type} ${order.from} ${order.to}`]
        : [],
    );
    assert.deepEqual(changes.slice(0, 3), ['connect 0 400', 'connect 400 800', 'shrink 600 800']);
    const at = workers.ordered.indexOf('shrink');
    assert.deepEqual(workers.ordered.slice(at, at + 4), ['shrink', 'flush', 'identify', 'flush']);
  });
});

describe('a search whose steps are too short to say whether deliveries fall behind', () => {
  const growth = { kind: 'open', low: -1, middle: 0, high: 1, limit: 0.01 } as const;
  const verdict = { status: 'incomplete', reasons: [tooShortReason] } as const;

  it('takes what is left of the budget for longer ones at an end of the range, and says so', () => {
    const search = { ...spec, budgetMs: 30_000 };
    const steps = new SearchedSteps({ ...search, to: spec.from }, stepOf);
    const lengths: number[] = [];
    for (let nowMs = 0; ;) {
      const step = steps.next(nowMs * 1000);
      if (step === undefined) break;
      lengths.push(step.measureMs);
      nowMs += step.warmupMs + step.measureMs + 1000;
      steps.over({ step, totals: new StepTotals(step), verdict, checks: [], growth });
      assert.deepEqual([steps.progress.low, steps.progress.high], [null, null]);
    }
    assert.deepEqual(
      lengths,
      lengths.map((_, at) => shortStep.measureMs * 2 ** at),
    );
    assert.ok(lengths.at(-1)! > 0.2 * search.budgetMs, String(lengths));
    const { ended, low, high, steps: tried } = steps.found('completed', 0);
    assert.deepEqual([ended, low, high], ['budget', null, null]);
    assert.ok(tried.every(({ tooShort }) => tooShort));
  });

  it('takes no more than a share of it in between', () => {
    const steps = new SearchedSteps({ ...spec, from: 1, budgetMs: 9000 }, stepOf);
    const held = { status: 'pass', reasons: [] } as const;
    const values = [held, verdict, verdict].map((each) => {
      const step = steps.next(0)!;
      const isOpen = each === verdict;
      const more = { verdict: each, checks: [], ...(isOpen && { growth }) };
      steps.over({ step, totals: new StepTotals(step), ...more });
      return [step.senders, step.measureMs];
    });
    assert.equal(values[1]![1], shortStep.measureMs);
    assert.ok(steps.next(0)!.senders > values[1]![0]!);
  });
});
