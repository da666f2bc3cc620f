import { plain } from '../../plain';
import assert from 'node:assert/strict';
import { sloFromRules } from '../../../../src/base/slo';
import type { Phase, Snapshot } from '../../../../src/measure/snapshot';
import type { RunSummary } from '../../../../src/measure/summary';
import type { Plan } from '../../../../src/plan/plan';
import type { Conductor } from '../../../../src/engine/lead/conductor';
import type { ConductorContext } from '../../../../src/engine/lead/run';
import { Emitter } from '../../../../src/base/async';
import type { SignedInPass } from '../../../../src/base/endpoint';
import { TargetProblems } from '../../../../src/targets/target';
import { planOf, shortStep } from '../../../fakes/plan';
import { countsOf, stepSampleOf } from '../../../fakes/sample';
import { VirtualTime } from '../../../fakes/virtualTime';
import { conductorOf, FakeWorkers, type Deviations } from '../../../fakes/workers';
import { noConnections } from '../../../../src/measure/sample';

/** 200 ms warm-up, 1 s measured, 100 ms drain; the objectives need no percentile. */
const step = shortStep;
const slo = { ...planOf().slo, latencyUs: { p50: 1_000_000 } };
/** From the start of a run until its only step begins to be measured, all answers coming at once. */
const measuringMs = 100 + step.warmupMs;

/** Messages that all came, in 1 ms each. */
const good = (count: number): ReturnType<typeof stepSampleOf> =>
  stepSampleOf({
    ...{ offered: count, sent: count, expected: count, received: count },
    latency: countsOf(...Array.from({ length: count }, () => 1000)),
  });

describe('Conductor', () => {
  let time: VirtualTime;
  let workers: FakeWorkers;
  let conductor: Conductor;
  let snapshots: Snapshot[];

  beforeEach(() => {
    time = new VirtualTime().install();
  });
  afterEach(() => {
    time.restore();
  });

  function start(
    deviations: Deviations = {},
    changes: Partial<Plan> = {},
    context: Partial<ConductorContext> & { readonly workers?: number } = {},
  ): void {
    const plan = planOf({ slo, steps: [step], ...changes });
    workers = new FakeWorkers(() => time.nowUs(), context.workers ?? 1, deviations, step);
    conductor = conductorOf(plan, {
      startWorkers: workers.start,
      nowUs: () => time.nowUs(),
      ...context,
    });
    snapshots = [];
    conductor.onSnapshot((snapshot) => snapshots.push(snapshot));
  }

  const ended = (withinMs = 120_000): Promise<RunSummary> =>
    time.until(conductor.finished, withinMs);
  const phases = (): Phase[] =>
    snapshots.map(({ phase }) => phase).filter((phase, at, all) => phase !== all[at - 1]);

  describe('a run that completes', () => {
    it('goes through its phases and gives each order once', async () => {
      start({ step: (worker) => workers.sample(worker, { steps: [good(100)] }) });
      const summary = await ended();
      assert.equal(summary.ending, 'completed');
      assert.deepEqual(phases(), [
        ...['connecting', 'preparing', 'warmup', 'measuring', 'draining', 'closing', 'done'],
      ]);
      assert.deepEqual(workers.ordered, [
        ...[
          'connect',
          'flush',
          'prepare',
          'identify',
          'flush',
          'step',
          'drain',
          'flush',
          'drained',
        ],
        'close',
      ]);
      const [only] = summary.steps;
      assert.equal(only?.verdict.status, 'pass');
      assert.deepEqual([only.seconds, only.sent, only.lost], [1, 100, 0]);
      assert.equal(time.nowMs, measuringMs + step.measureMs);
      assert.equal(
        Date.parse(summary.endedAt) - Date.parse(summary.startedAt),
        measuringMs + step.measureMs,
      );
    });

    it('waits in the drain only as long as something is outstanding', async () => {
      let flushes = 0;
      start({
        step: (worker) => workers.sample(worker, { steps: [{ ...good(10), received: 9 }] }),
        flush: (worker, { flush }) => {
          // The third of the drain, 25 ms apart.
          const late = (flushes += 1) === 5 ? { steps: [stepSampleOf({ received: 1 })] } : {};
          workers.sample(worker, late, flush);
          return false;
        },
      });
      const { steps } = await ended();
      assert.deepEqual([steps[0]?.lost, steps[0]?.received], [0, 10]);
      assert.equal(time.nowMs, measuringMs + step.measureMs + 50);
    });

    it('opens the rounds of connecting step by step, and prepares only what is new', async () => {
      const steps = [1, 2, 3].map((index) => ({
        ...step,
        index,
        senders: 0,
        connections: index === 3 ? 10 : 5 * index,
      }));
      start({}, { steps, connections: 10 });
      const summary = await ended();
      assert.equal(summary.ending, 'completed');
      const connects = workers.orders.filter(({ type }) => type === 'connect');
      assert.deepEqual(
        connects.map((order) => order.type === 'connect' && [order.from, order.to]),
        [
          [0, 5],
          [5, 10],
        ],
      );
      assert.equal(workers.ordered.filter((type) => type === 'prepare').length, 2);
      assert.equal(workers.ordered.filter((type) => type === 'step').length, 3);
    });
  });

  describe('a worker that does not answer', () => {
    /** 10 of 11 come in time, the last one as the run closes. */
    const first = { ...good(10), offered: 11, sent: 11, expected: 11 };
    const lateOne: Deviations['close'] = (worker) =>
      workers.sample(worker, { steps: [stepSampleOf({ late: 1 })] });
    let hasSent: boolean;
    const silences: readonly (readonly [string, Deviations, number])[] = [
      ['with nothing once it has sent', { flush: () => (hasSent ? false : undefined) }, 60_100],
      ['only that it has sent', { step: () => ((hasSent = true), false) }, 1500 + 100],
    ];
    for (const [what, deviations, tookMs] of silences) {
      it(`keeps no step from ending: ${what}`, async () => {
        hasSent = false;
        start({
          ...deviations,
          step: (worker, order) => {
            hasSent = true;
            workers.sample(worker, { steps: [first] });
            return deviations.step?.(worker, order);
          },
          close: lateOne,
        });
        const { ending, steps } = await ended();
        assert.equal(ending, 'completed');
        assert.equal(steps[0]?.verdict.status, 'fail');
        assert.equal(
          steps[0].verdict.reasons[0]?.message,
          '90.9 % of 11 deliveries arrived, below the limit of 99 %',
        );
        // What comes later is part of what was lost, and changes no verdict.
        assert.deepEqual([steps[0].received, steps[0].late, steps[0].lost], [10, 1, 1]);
        assert.equal(time.nowMs, measuringMs + step.measureMs + tookMs);
      });
    }

    it('is ended after three seconds, when it does not close', async () => {
      start({ close: () => false });
      assert.equal((await ended()).ending, 'completed');
      assert.equal(workers.ends, 1);
      assert.equal(time.nowMs, measuringMs + step.measureMs + 3000);
    });
  });

  describe('an objective with abort', () => {
    const slow = (count: number): ReturnType<typeof stepSampleOf> => ({
      ...good(count),
      latency: countsOf(...Array.from({ length: count }, () => 50_000)),
    });
    const long = { ...step, measureMs: 60_000 };
    const rules = sloFromRules([{ metric: 'p50', limit: 10_000, abort: true, afterMs: 3000 }]);
    /** Samples of each second of the measured time. */
    const eachSecond = (
      sample: (second: number) => ReturnType<typeof stepSampleOf>,
    ): Deviations => ({
      step: (worker) => {
        for (let second = 1; second <= 60; second++)
          setTimeout(
            () => workers.sample(worker, { steps: [sample(second)] }, undefined, true),
            100 + step.warmupMs + second * 1000,
          );
      },
    });

    it('ends a step and the run as soon as it is missed, and the step has failed', async () => {
      start(
        eachSecond(() => slow(10)),
        { slo: rules, steps: [long, { ...long, index: 2 }] },
      );
      const { ending, steps } = await ended();
      assert.equal(ending, 'threshold');
      assert.deepEqual([steps.length, steps[0]!.seconds, steps[0]!.sent], [1, 3, 30]);
      assert.deepEqual(plain(steps[0]!.verdict), {
        status: 'fail',
        reasons: [
          {
            code: 'slo-p50',
            message:
              '50 % of 30 deliveries within 50 ms, above the limit of 10 ms; it ended the step after 3 s',
          },
        ],
        checks: [{ metric: 'p50', limit: 10_000, value: 50_000, met: false }],
      });
      assert.ok(workers.ordered.includes('halt'));
    });
  });

  describe('a missed objective', () => {
    const steps = [step, { ...step, index: 2 }];
    const half = { ...good(10), received: 5, latency: countsOf(1000, 1000, 1000, 1000, 1000) };
    const losing: Deviations = {
      step: (worker, { index }) => workers.sample(worker, { steps: [{ ...half, step: index }] }),
    };

    it('ends the run, with the step that missed it', async () => {
      start(losing, { steps });
      const summary = await ended();
      assert.equal(summary.ending, 'threshold');
      assert.deepEqual(
        summary.steps.map(({ verdict }) => verdict.status),
        ['fail'],
      );
      assert.equal(summary.plannedSteps, 2);
      assert.equal(workers.ordered.filter((type) => type === 'step').length, 1);
    });
  });

  describe('a stop', () => {
    it('in a step halts the workers and keeps what was measured', async () => {
      start({ step: (worker) => workers.sample(worker, { steps: [good(40)] }) });
      await time.to(measuringMs + 400);
      conductor.stop('stopped');
      const summary = await ended();
      assert.equal(summary.ending, 'stopped');
      assert.ok(workers.ordered.includes('halt'));
      assert.equal(summary.steps[0]?.seconds, 0.4);
      assert.equal(summary.steps[0].sent, 40);
      assert.deepEqual(plain(summary.steps[0].verdict), {
        status: 'incomplete',
        reasons: [{ code: 'stopped', message: 'the step was cut short' }],
      });
      assert.equal(time.nowMs, measuringMs + 400, 'nothing was outstanding');
    });

    it('while connecting ends without a step', async () => {
      start({ connect: () => false });
      await time.to(700);
      conductor.stop('stopped');
      const summary = await ended();
      assert.equal(summary.ending, 'stopped');
      assert.deepEqual(summary.steps, []);
      assert.ok(!workers.ordered.includes('halt'));
      assert.equal(time.nowMs, 700);
    });

    it('for the second time closes at once', async () => {
      start({
        close: () => false,
        flush: () => (workers.ordered.includes('halt') ? false : undefined),
      });
      await time.to(measuringMs + 400);
      conductor.stop('stopped');
      conductor.stop('stopped');
      const summary = await ended();
      assert.equal(summary.ending, 'stopped');
      assert.equal(time.nowMs, measuringMs + 400);
    });
  });

  describe('a target that never lets anybody in', () => {
    const failing = (failed: number): Deviations => ({
      connect: (worker) => {
        workers.connections = { soFar: { ...noConnections, connected: 0, failed, dropped: 0 } };
        const errorExamples = [{ errorClass: 'refused', text: 'connect ECONNREFUSED' }];
        workers.sample(worker, { errorExamples });
        return false;
      },
    });

    it('is given up when as many as it has connections have failed, and counts to the end', async () => {
      start({
        ...failing(10),
        close: () => {
          workers.connections = {
            soFar: { ...noConnections, connected: 0, failed: 12, dropped: 0 },
          };
          workers.sample(0);
        },
      });
      const summary = await ended();
      assert.equal(summary.ending, 'targetLost');
      assert.equal(summary.connections.failed, 12);
      assert.match(
        summary.endingMessage ?? '',
        /^Could not connect: nothing listens on \S+\. Start the server/,
      );
    });

    it('is given up after twenty failures, however many there are to be', async () => {
      start(failing(20), { connections: 10_000 });
      await time.until(conductor.finished, 1000);
      assert.equal(workers.ordered.includes('prepare'), false);
    });

    it('is not given up after nineteen of them', async () => {
      start(failing(19), { connections: 10_000 });
      await assert.rejects(ended(22_000), /nothing settled/);
    });

    const silences: readonly (readonly [string, Partial<Plan>, number | undefined, number])[] = [
      ['after 22.5 s of silence', {}, undefined, 22_500],
      ['earlier, when it was asked something before', {}, 20_000, 2500],
      ['not before the first connect could be over', { connectTimeoutMs: 60_000 }, 20_000, 61_000],
    ];
    for (const [when, changes, askedMs, atMs] of silences) {
      it(`is given up ${when}`, async () => {
        start({ connect: () => false }, changes, askedMs === undefined ? {} : { askedMs });
        workers.connections = { soFar: { ...noConnections, connected: 0, failed: 0, dropped: 0 } };
        const summary = await ended();
        assert.equal(summary.ending, 'targetLost');
        assert.equal(time.nowMs, atMs);
        assert.equal(summary.endingMessage, 'Could not connect: the target did not answer.');
      });
    }

    it('is given up when all connects are over and none has worked', async () => {
      start();
      workers.connections = { soFar: { ...noConnections, connected: 0, failed: 3, dropped: 0 } };
      assert.equal((await ended(100)).ending, 'targetLost');
    });
  });

  describe('a target that drops everybody', () => {
    const drop = (worker = 0): void => {
      workers.open = 0;
      workers.connections = { soFar: { ...noConnections, connected: 10, failed: 0, dropped: 10 } };
      workers.sample(worker, {
        errorExamples: [{ errorClass: 'closed', text: 'the server closed the socket' }],
      });
    };

    it('ends the run', async () => {
      start();
      await time.to(measuringMs + 300);
      drop();
      const summary = await ended();
      assert.equal(summary.ending, 'targetLost');
      assert.match(
        summary.endingMessage ?? '',
        /^All 10 connections were lost\. First error: closed/,
      );
      assert.equal(summary.steps[0]?.seconds, 0.3);
    });

    it('does not, as long as a connection that has recovered takes part', async () => {
      start();
      await time.to(measuringMs + 300);
      workers.open = 1;
      workers.connections = { soFar: { ...noConnections, connected: 10, failed: 0, dropped: 10 } };
      workers.sample(0);
      assert.equal((await ended()).ending, 'completed');
    });

    it('does not within 47 s, where connections come back', async () => {
      const life = { repair: true, policy: 'fixed', delayMs: 1000 } as const;
      const steps = [{ ...step, measureMs: 100_000 }];
      start({ step: () => false }, { life, steps });
      await time.to(measuringMs + 300);
      drop();
      await time.to(measuringMs + 47_000);
      workers.sample(0);
      await time.to(measuringMs + 47_290);
      workers.sample(0);
      assert.deepEqual(phases().at(-1), 'measuring');
      await time.to(measuringMs + 47_310);
      workers.sample(0);
      assert.equal((await ended()).ending, 'targetLost');
    });
  });

  describe('a worker that dies', () => {
    for (const [when, atMs] of [
      ['while connecting', 5],
      ['in a step', measuringMs + 500],
    ] as const) {
      it(`${when} ends the run with its reason, and the others close`, async () => {
        start({ connect: () => (atMs < 100 ? false : undefined) }, {}, { workers: 2 });
        await time.to(atMs);
        const error = new Error('out of memory');
        workers.lose(1, error);
        const summary = await ended();
        assert.equal(summary.ending, 'workerLost');
        assert.equal(
          summary.endingMessage,
          'A worker of the load generator was lost: out of memory',
        );
        assert.equal(summary.endingStack, error.stack);
        assert.equal(workers.ordered.at(-1), 'close');
        assert.equal(summary.steps.length, atMs < measuringMs ? 0 : 1);
      });
    }
  });

  describe('what is shown meanwhile', () => {
    it('is a snapshot for each tick that all workers have reported', async () => {
      const steps = [{ ...step, measureMs: 3000 }];
      start({ step: () => false }, { steps }, { workers: 2 });
      for (const second of [1, 2, 3]) {
        await time.to(second * 1000 - 1);
        for (const worker of [0, 1])
          workers.sample(worker, { tick: second, steps: [good(10)] }, undefined, true);
      }
      const shown = snapshots.filter(({ interval }) => interval !== undefined);
      assert.deepEqual(
        shown.map(({ tick, interval, complete }) => [tick, interval?.sent, complete]),
        [1, 2, 3].map((tick) => [tick, 20, true]),
      );
      assert.equal(shown.at(-1)?.step?.sent, 60);
    });

    it('hides secrets in every text, and shows problems of own servers at once', async () => {
      const problems = new TargetProblems();
      start({}, {}, { secrets: ['s3cret'], problems });
      await time.to(measuringMs);
      problems.report('the app server said s3cret', 2);
      assert.equal(snapshots.at(-1)?.problem, 'the app server said (redacted)');
      const summary = await ended();
      assert.deepEqual(summary.errors, { ownServer: 2 });
      assert.deepEqual(summary.errorExamples, [
        { errorClass: 'ownServer', text: 'the app server said (redacted)' },
      ]);
    });

    it('hands a renewed pass to the workers, and counts when it could not be had', async () => {
      const renewed = new Emitter<SignedInPass>();
      const problem = new Emitter<string>();
      const pass = { bearer: 'token' } as unknown as SignedInPass;
      const passes = { current: pass, onRenewed: renewed.event, onProblem: problem.event };
      start({}, {}, { passes });
      await time.to(measuringMs);
      renewed.fire(pass);
      problem.fire('the sign-in has ended');
      assert.deepEqual(workers.orders.at(-1), { type: 'renewed', pass });
      assert.deepEqual((await ended()).errors, { unauthorized: 1 });
    });
  });
});
