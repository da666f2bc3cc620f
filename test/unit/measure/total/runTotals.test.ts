import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { defaultSlo } from '../../../../src/base/slo';
import { RunTotals, AgentTotals } from '../../../../src/measure/total/runTotals';
import {
  noConnections,
  type StepSample,
  MessageCounts,
  type GeneratorSample,
} from '../../../../src/measure/sample';
import type { MessageSummary } from '../../../../src/measure/summary';
import { StepTotals, type StepFacts } from '../../../../src/measure/total/stepTotals';
import { countsOf, stepSampleOf, workerSampleOf } from '../../../fakes/sample';

const facts = { index: 1, senders: 10 };
const passed = { status: 'pass', reasons: [] } as const;
const fields = [
  ...(['offered', 'sent', 'expected', 'received', 'duplicated', 'outOfOrder', 'late'] as const),
  ...(['extra', 'payloadBytesIn', 'payloadBytesOut', 'wireBytesIn', 'wireBytesOut'] as const),
];

describe('StepTotals', () => {
  it('sums every count of every sample and merges the latencies', () => {
    const counts = fc.array(fc.nat(1_000_000), { minLength: 12, maxLength: 12 });
    const samples = fc.array(fc.tuple(counts, fc.array(fc.nat(5_000_000), { maxLength: 5 })), {
      maxLength: 12,
    });
    const sums = fc.property(samples, (list) => {
      const totals = new StepTotals(facts);
      for (const [values, latencies] of list) {
        const named = Object.fromEntries(fields.map((name, at) => [name, values[at]]));
        const latency = countsOf(...latencies);
        totals.add(
          stepSampleOf({ ...(named as Partial<StepSample>), latency, errors: { closed: 2 } }),
        );
      }
      const summary = totals.summary(defaultSlo, passed);
      const total = (name: (typeof fields)[number]): number =>
        list.reduce((sum, [values]) => sum + values[fields.indexOf(name)]!, 0);
      const surplus = Math.max(0, total('received') - total('expected'));
      const lost = total('expected') - total('received') + surplus;
      const tooLate = Math.max(0, total('late') - lost);
      const moved = { received: -surplus, late: -tooLate, extra: surplus + tooLate };
      for (const name of fields) {
        const more = name in moved ? moved[name as keyof typeof moved] : 0;
        assert.equal(summary[name], total(name) + more, name);
      }
      assert.equal(summary.lost, summary.expected - summary.received);
      assert.ok(summary.lost >= 0, 'what is beyond the expected is extra, never a negative loss');
      const all = countsOf(...list.flatMap(([, latencies]) => latencies));
      assert.deepEqual(totals.latency.counts(), all);
      assert.deepEqual(summary.errors, list.length === 0 ? {} : { closed: 2 * list.length });
    });
    fc.assert(sums, { numRuns: 40 });
  });

  it('expects no more what a lost agent may have been owed, and counts as lost what is missing later', () => {
    const add = (totals: StepTotals, expected: number, received: number): void =>
      totals.add(stepSampleOf({ offered: 1, sent: 1, expected, received }));
    const judged = (totals: StepTotals): number[] => {
      totals.judge(defaultSlo);
      const { expected, received, lost } = totals.summary(defaultSlo, passed);
      return [expected, received, lost];
    };
    const later = new StepTotals(facts);
    add(later, 100, 70);
    later.notePendingLoss();
    add(later, 50, 45);
    assert.deepEqual(judged(later), [120, 115, 5]);
    // What was on its way to others has come, and then less of the loss is pending.
    const arrived = new StepTotals(facts);
    add(arrived, 100, 70);
    arrived.notePendingLoss();
    add(arrived, 0, 22);
    assert.deepEqual(judged(arrived), [92, 92, 0]);
    const whole = new StepTotals(facts);
    add(whole, 100, 70);
    assert.deepEqual(judged(whole), [100, 70, 30]);
  });

  it('takes for no extra what an agent may have sent since its last report, once it is lost', () => {
    const extraOf = (isLost: boolean, entries?: StepFacts['entries']): number => {
      const totals = new StepTotals({ ...facts, ...(entries && { entries }) });
      const surplus = { expected: 20, received: 30, extra: 1 };
      const part = stepSampleOf(surplus);
      totals.add(
        stepSampleOf({ offered: 1, sent: 1, ...surplus, ...(entries && { entries: [part] }) }),
      );
      if (isLost) totals.notePendingLoss();
      totals.judge(defaultSlo);
      const { received, extra } = totals.summary(defaultSlo, passed);
      assert.equal(received, 20);
      return extra;
    };
    const entries = [{ name: 'a', senders: 5 }];
    assert.deepEqual([extraOf(false), extraOf(true)], [11, 1]);
    assert.deepEqual([extraOf(false, entries), extraOf(true, entries)], [11, 1]);
  });

  it('forgives in a mix what each entry was owed', () => {
    const entries = [
      { name: 'a', senders: 5 },
      { name: 'b', senders: 5 },
    ];
    const totals = new StepTotals({ ...facts, entries });
    const parts = (...counts: [number, number][]): StepSample => {
      const of = counts.map(([expected, received]) => stepSampleOf({ expected, received }));
      const sum = (at: 0 | 1): number => counts.reduce((total, each) => total + each[at], 0);
      return stepSampleOf({ offered: 1, sent: 1, expected: sum(0), received: sum(1), entries: of });
    };
    totals.add(parts([100, 80], [50, 50]));
    totals.notePendingLoss();
    totals.add(parts([10, 10], [30, 25]));
    totals.judge(defaultSlo);
    const { expected, received, lost, entries: each } = totals.summary(defaultSlo, passed);
    assert.deepEqual([expected, received, lost], [170, 165, 5]);
    assert.deepEqual(
      each!.map((entry) => [entry.expected, entry.lost]),
      [
        [90, 0],
        [80, 5],
      ],
    );
  });

  it('adds up what hubs push over all workers, by name, and says of callbacks how often they came', () => {
    const calls = [{ name: 'callback Typing', comes: 'Typing' }, { name: 'Typing' }];
    const totals = new StepTotals({ ...facts, calls });
    const push = (name: string, messages: number, bytes: number) => ({ name, messages, bytes });
    totals.add(stepSampleOf({ pushed: [push('typing', 3, 120), push('price', 5, 50)] }));
    totals.add(stepSampleOf({ pushed: [push('price', 2, NaN), push('TYPING', 1, 40)] }));
    // A session has waited for it after all.
    totals.add(stepSampleOf({ pushed: [push('TYPING', -1, -40)] }));
    totals.seconds = 2;
    const { pushed, calls: rows } = totals.summary(defaultSlo, passed);
    assert.deepEqual(pushed, [
      { name: 'price', messages: 7, bytes: null, perSecond: 3.5 },
      { name: 'typing', messages: 3, bytes: 120, perSecond: 1.5 },
    ]);
    assert.deepEqual(
      rows!.map(({ came }) => came),
      [3, undefined],
    );
  });

  it('keeps the sessions of each entry of a mix apart, over all workers, and their sum', () => {
    const calls = [{ name: 'Join' }, { name: 'Post' }];
    const entries = ['a', 'b', 'c'].map((name) => ({
      ...{ name, senders: 5, ...(name !== 'c' && { calls }) },
    }));
    const totals = new StepTotals({ ...facts, entries });
    const entry = (started: number, completed: number, brokenAt: readonly number[]): StepSample =>
      stepSampleOf({
        calls: brokenAt.map((brokenOff) => ({ ...stepSampleOf(), brokenOff })),
        sessions: {
          ...{ started, completed, brokenOff: brokenAt.reduce((sum, each) => sum + each, 0) },
          ...{ waiting: 0, duration: countsOf(...Array<number>(completed).fill(1000 * started)) },
        },
      });
    const ofWorkers = [
      [entry(5, 3, [1, 0]), entry(7, 0, [2, 4]), stepSampleOf()],
      [entry(1, 1, [0, 0]), entry(2, 1, [0, 1]), stepSampleOf()],
    ];
    for (const each of ofWorkers) totals.add(stepSampleOf({ entries: each }));
    const { entries: parts, sessions } = totals.summary(defaultSlo, passed);
    const { durationUs: all, ...sum } = sessions!;
    const at = { Join: 3, Post: 5 };
    assert.deepEqual(sum, { started: 15, completed: 5, brokenOff: 8, brokenOffAt: at });
    const counts = parts!.map(({ sessions: own }) => {
      const { durationUs, ...rest } = own ?? {};
      return { ...rest, count: durationUs?.count, max: durationUs?.max };
    });
    assert.deepEqual(counts, [
      { started: 6, completed: 4, brokenOff: 1, brokenOffAt: { Join: 1 }, count: 4, max: 5000 },
      {
        ...{ started: 9, completed: 1, brokenOff: 7, brokenOffAt: { Join: 2, Post: 5 } },
        ...{ count: 1, max: 2000 },
      },
      { count: undefined, max: undefined },
    ]);
    assert.deepEqual([all.count, all.max], [5, 5000]);
    // The same while it goes on.
    const going = totals.entries.map((each) => each.progress(1).sessions);
    assert.deepEqual(
      going,
      parts!.map((part) => part.sessions),
    );
  });

  it('blames nobody for deliveries that are not certain, until they are', () => {
    const totals = new RunTotals(10);
    const step = totals.beginStep(facts);
    const sample = (tick: number, expected: number, deliveries?: number): void =>
      totals.add(
        workerSampleOf({
          tick,
          steps: [stepSampleOf({ offered: 1, sent: 1, expected })],
          ...(deliveries !== undefined && { unsettled: { messages: 1, deliveries } }),
        }),
      );
    sample(1, 5, 5);
    sample(2, 0, 5);
    assert.deepEqual([totals.unsettled, step.waiting()], [1, undefined]);
    sample(3, -1);
    sample(4, 0);
    assert.deepEqual([totals.unsettled, step.waiting()?.oldestS], [0, 1]);
    totals.lose(0);
    assert.equal(totals.unsettled, 0);
  });

  it('says what several agents add, where there is any', () => {
    const totals = new StepTotals(facts);
    const one = totals.summary(defaultSlo, passed);
    assert.ok(!('ambiguous' in one) && !('negative' in one) && !('latencySameAgentUs' in one));
    const latencySameAgent = countsOf(5, 7);
    totals.add(stepSampleOf({ ambiguous: 2, negative: 3, latencySameAgent }));
    totals.add(stepSampleOf({ ambiguous: 1, latencySameAgent }));
    const { ambiguous, negative, latencySameAgentUs } = totals.summary(defaultSlo, passed);
    assert.deepEqual([ambiguous, negative], [3, 3]);
    assert.deepEqual([latencySameAgentUs?.count, latencySameAgentUs?.max], [4, 7]);
  });

  it('keeps the entries of a mix apart and lets none make up for another', () => {
    const entries = [
      { name: 'echo', senders: 6 },
      { name: 'broadcast', senders: 4 },
    ];
    const totals = new StepTotals({ ...facts, entries });
    const parts = [
      stepSampleOf({ sent: 10, expected: 10, received: 12, latency: countsOf(1, 2) }),
      stepSampleOf({ sent: 4, expected: 40, received: 37, latency: countsOf(9) }),
    ];
    const sums = stepSampleOf({ sent: 14, expected: 50, received: 49, latency: countsOf(1, 2, 9) });
    totals.add({ ...sums, entries: parts });
    totals.seconds = 2;
    const summary = totals.summary(defaultSlo, passed);
    const counts = (one: MessageSummary): number[] => [one.sent, one.received, one.lost, one.extra];
    assert.deepEqual(summary.entries!.map(counts), [
      [10, 10, 0, 2],
      [4, 37, 3, 0],
    ]);
    assert.deepEqual(counts(summary), [14, 47, 3, 2]);
    assert.deepEqual(
      summary.entries!.map(({ name, senders, sentPerSecond, latencyUs }) => [
        ...[name, senders, sentPerSecond, latencyUs.max],
      ]),
      [
        ['echo', 6, 5, 2],
        ['broadcast', 4, 2, 9],
      ],
    );
    assert.equal(new StepTotals(facts).summary(defaultSlo, passed).entries, undefined);
  });

  it('gives rates over the measured time', () => {
    const totals = new StepTotals(facts);
    totals.add(stepSampleOf({ sent: 1000, expected: 3000, received: 3000 }));
    totals.seconds = 3;
    const { sentPerSecond, receivedPerSecond } = totals.summary(defaultSlo, passed);
    assert.deepEqual([sentPerSecond, receivedPerSecond], [333.333, 1000]);
  });

  it('has no rates before any time was measured, and no load', () => {
    const summary = new StepTotals(facts).summary(defaultSlo, passed);
    assert.deepEqual([summary.sentPerSecond, summary.receivedPerSecond], [0, 0]);
    assert.deepEqual([summary.generator.cpuShare, summary.generator.cpuUsPerMessage], [0, 0]);
  });

  it('takes the load of the busiest worker over all its samples', () => {
    const totals = new StepTotals(facts);
    totals.add(
      stepSampleOf({ sent: 100, expected: 100, received: 100, slip: countsOf(10, 20, 3000) }),
    );
    totals.addGenerator(0, { step: 1, elapsedUs: 100, busyUs: 90, gcUs: 0 });
    totals.addGenerator(0, { step: 1, elapsedUs: 100, busyUs: 10, gcUs: 8 });
    totals.addGenerator(1, {
      step: 1,
      elapsedUs: 200,
      busyUs: 120,
      gcUs: 2,
      loopDelay: countsOf(7),
    });
    totals.cpuUs = 5000;
    const { cpuShare, gcShare, loopDelayP99Us, slipP99Us, cpuUsPerMessage } = totals.generator();
    assert.deepEqual([cpuShare, gcShare, loopDelayP99Us], [0.6, 0.04, 7]);
    assert.deepEqual([slipP99Us, cpuUsPerMessage], [3000, 25]);
  });

  it('keeps the verdict it was given; otherwise the step was cut short', () => {
    const cutShort = { status: 'incomplete', reasons: [] } as const;
    const totals = new StepTotals(facts);
    assert.equal(totals.summary(defaultSlo, cutShort).verdict, cutShort);
    totals.verdict = passed;
    assert.equal(totals.summary(defaultSlo, cutShort).verdict, passed);
  });
});

describe('duplicates of a step', () => {
  const judgedStep = (duplicated: number): StepTotals => {
    const totals = new StepTotals(facts);
    totals.add(
      stepSampleOf({
        ...{ offered: 100, sent: 100, expected: 100, received: 100, duplicated },
        latency: countsOf(...Array.from({ length: 100 }, (_, index) => index + 1)),
      }),
    );
    totals.verdict = totals.judge(defaultSlo);
    return totals;
  };
  const reported = (totals: StepTotals): unknown[] => {
    const { verdict, duplicated } = totals.summary(defaultSlo, passed);
    const codes = verdict.reasons.map(({ code }) => code);
    const values = verdict.checks?.map(({ metric, value, met }) => [metric, value, met]);
    return [verdict.status, codes, duplicated, values?.at(-1)];
  };

  it('fail it', () => {
    const [none, some] = [judgedStep(0), judgedStep(10_000)];
    assert.deepEqual(reported(none), ['pass', [], 0, ['duplicated', 0, true]]);
    assert.equal(none.summary(defaultSlo, passed).verdict, none.verdict);
    assert.equal(some.verdict?.status, 'fail');
    assert.deepEqual(reported(some), [
      'fail',
      ['slo-duplicated'],
      10_000,
      ['duplicated', 100, false],
    ]);
  });

  it('fail it as well when they come after it was judged', () => {
    const totals = judgedStep(0);
    totals.add(stepSampleOf({ duplicated: 3 }));
    assert.deepEqual(reported(totals), [
      'fail',
      ['slo-duplicated'],
      3,
      ['duplicated', 0.03, false],
    ]);
  });
});

describe('RunTotals', () => {
  it('adds the workers’ connections as they are now, not as they were', () => {
    const totals = new RunTotals(10);
    const connections = (connected: number, dropped: number) => ({
      soFar: { ...noConnections, connected, failed: 1, dropped },
    });
    for (const [worker, connected, dropped] of [
      [0, 2, 0],
      [1, 3, 0],
      [0, 4, 1],
    ] as const)
      totals.add(workerSampleOf({ worker, connections: connections(connected, dropped) }));
    const { requested, connected, failed, dropped } = totals.connections();
    assert.deepEqual([requested, connected, failed, dropped], [10, 7, 2, 1]);
  });

  it('reports those that are not back until they are', () => {
    const totals = new RunTotals(10);
    const reported = (worker: number, notBack?: number): number | undefined => {
      const soFar = {
        ...noConnections,
        connected: 5,
        failed: 0,
        dropped: 0,
        ...(notBack && { notBack }),
      };
      totals.add(workerSampleOf({ worker, connections: { soFar } }));
      return totals.connections().notBack;
    };
    assert.deepEqual(
      [reported(0), reported(0, 3), reported(1, 2), reported(0), reported(1)],
      [...[undefined, 3, 5, 2, undefined]],
    );
  });

  it('merges connect times, which come once', () => {
    const totals = new RunTotals(3);
    for (const [worker, us] of [
      [0, 100],
      [1, 900],
    ] as const)
      totals.add(
        workerSampleOf({
          worker,
          connections: {
            soFar: { ...noConnections, connected: 1, failed: 0, dropped: 0 },
            connectTimes: countsOf(us),
          },
        }),
      );
    assert.deepEqual(totals.connections().connectUs, { p50: 100, p99: 900, max: 900 });
  });

  it('puts samples to their step and ignores what belongs to none', () => {
    const totals = new RunTotals(1);
    const first = totals.beginStep(facts);
    const second = totals.beginStep({ ...facts, index: 2 });
    const generator = { step: 2, elapsedUs: 10, busyUs: 5, gcUs: 0 };
    totals.add(
      workerSampleOf({
        generator,
        steps: [
          stepSampleOf({ step: 1, late: 1, received: 1 }),
          stepSampleOf({ step: 2, received: 4 }),
          stepSampleOf({ step: 3, received: 9 }),
        ],
      }),
    );
    assert.deepEqual([first.received, first.late, second.received], [1, 1, 4]);
    assert.equal(first.generator().cpuShare, 0);
    assert.equal(second.generator().cpuShare, 0.5);
  });

  it('counts every error and keeps a few different texts of each class', () => {
    const totals = new RunTotals(1);
    for (let count = 0; count < 5; count++) {
      const errorExamples = [
        { errorClass: 'reset', text: `r${count}` },
        { errorClass: 'dns', text: 'd' },
      ];
      totals.add(workerSampleOf({ worker: count, errors: { reset: 2, dns: 1 }, errorExamples }));
    }
    assert.deepEqual(totals.errors, { reset: 10, dns: 5 });
    const resets = totals.errorExamples.filter(({ errorClass }) => errorClass === 'reset');
    assert.deepEqual(
      resets.map(({ text }) => text),
      ['r0', 'r1', 'r2'],
    );
    assert.equal(totals.errorExamples.length, 4);
  });
});

function stepSample(step: number, sent: number, latenciesUs: readonly number[]): StepSample {
  const counts = new MessageCounts();
  counts.sent = sent;
  counts.received = latenciesUs.length;
  for (const us of latenciesUs) counts.latency.record(us);
  return { ...counts.take(), step, errors: {} };
}

const busy = (step: number, busyUs: number): GeneratorSample => ({
  ...{ step, elapsedUs: 1_000_000, busyUs, gcUs: 10_000 },
});

/** Two workers each. */
const totals = (): AgentTotals => new AgentTotals((worker) => Math.floor(worker / 2));

describe('what each agent has measured', () => {
  it('is the sum of its workers, with the busiest of them', () => {
    const agents = totals();
    agents.add({ worker: 0, steps: [stepSample(1, 3, [1000])], generator: busy(1, 200_000) });
    agents.add({ worker: 1, steps: [stepSample(1, 4, [2000, 9000])], generator: busy(1, 500_000) });
    agents.add({ worker: 2, steps: [stepSample(1, 1, [])], generator: busy(1, 100_000) });
    const first = agents.lastStepOf(0)!;
    assert.deepEqual([first.index, first.sent, first.received], [1, 7, 3]);
    assert.ok(Math.abs(first.p99Us! - 9000) <= 9, String(first.p99Us));
    assert.deepEqual([first.cpuShare, first.gcShare], [0.5, 0.01]);
    const second = agents.lastStepOf(1)!;
    assert.deepEqual([second.sent, second.p99Us, second.cpuShare], [1, undefined, 0.1]);
  });

  it('begins anew with each step, and takes nothing of one that is over', () => {
    const agents = totals();
    agents.add({ worker: 0, steps: [stepSample(1, 9, [500_000])], generator: busy(1, 900_000) });
    agents.add({ worker: 0, steps: [stepSample(2, 2, [1000])], generator: busy(2, 100_000) });
    agents.add({ worker: 1, steps: [stepSample(1, 0, [700_000])], generator: busy(0, 990_000) });
    const { index, sent, received, p99Us, cpuShare } = agents.lastStepOf(0)!;
    assert.deepEqual([index, sent, received, cpuShare], [2, 2, 1, 0.1]);
    assert.ok(Math.abs(p99Us! - 1000) <= 1);
  });

  it('is the worst by what a step is invalid for', () => {
    const agents = totals();
    const samples: readonly Partial<StepSample>[] = [
      { offered: 100, sent: 100 },
      { offered: 100, sent: 30 },
      { offered: 90, sent: 80, suspendedUs: 20_000_000 },
    ];
    for (const [agent, sample] of samples.entries()) {
      const steps = [{ ...stepSample(2, 0, []), ...sample }];
      agents.add({ worker: 2 * agent, steps, generator: busy(2, 300_000 - 100_000 * agent) });
    }
    const worst = (by: Parameters<typeof agents.worst>[1]) => agents.worst(2, by);
    assert.deepEqual([worst('cpuShare'), worst('unsent'), worst('suspendedUs')], [1, 2, 3]);
    // None left late, and nothing is known of another step.
    assert.deepEqual([worst('latenessUs'), agents.worst(1, 'cpuShare')], [undefined, undefined]);
    agents.add({ worker: 2, steps: [stepSample(3, 0, [])], generator: busy(3, 1) });
    assert.equal(agents.worst(3, 'unsent'), undefined);
  });

  it('is nothing before the first step', () => {
    const agents = totals();
    agents.add({ worker: 0, steps: [], generator: busy(0, 10) });
    assert.equal(agents.lastStepOf(0), undefined);
    assert.equal(agents.lastStepOf(7), undefined);
  });
});
