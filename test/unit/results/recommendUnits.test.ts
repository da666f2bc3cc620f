import assert from 'node:assert/strict';
import fc from 'fast-check';
import { judgeStep } from '../../../src/measure/judge/verdict';
import type {
  EntrySummary,
  MessageSummary,
  RunSummary,
  StepSummary,
} from '../../../src/measure/summary';
import { completeResult } from '../../../src/results/completeResult';
import type { Result } from '../../../src/results/result';
import type { Scenario, ScenarioEntry } from '../../../src/scenario/scenario';
import { stepsOf } from '../../../src/scenario/steps';
import { sampleStep, sampleSummary } from './sampleResult';
import { messages, scenarioWith } from '../capacity/scenarios';

const seconds = 50;

/** What became of a step, as shares of what was due: nothing was lost where all are 1. */
interface Fate {
  readonly arrived?: number;
  /** Of the connections, so that less was sent and fewer were expected. */
  readonly stayed?: number;
  readonly extra?: number;
  /** What came again. */
  readonly again?: number;
}

const entry = (name: string, parameters: ScenarioEntry['parameters'] = {}): ScenarioEntry => ({
  name,
  parameters: { ...messages, ...parameters },
});

const receivers = ({ name, parameters }: ScenarioEntry, connections: number): number =>
  name === 'echo'
    ? 1
    : name === 'broadcast'
      ? connections
      : connections / Number(parameters['groupCount']);

function step(scenario: Scenario, index: number, fate: Fate = {}): StepSummary {
  const { arrived = 1, stayed = 1, extra = 0, again = 0 } = fate;
  const { perEntry } = stepsOf(scenario)[index - 1]!;
  const { connections, entries, slo } = scenario;
  const base = sampleStep(index);
  const counts = (senders: number, each: ScenarioEntry): MessageSummary => {
    const perSender = (seconds * 1000) / Number(each.parameters['sendingInterval']);
    const sent = Math.floor(senders * perSender * stayed);
    const all = Math.floor(sent * receivers(each, connections) * stayed);
    const movers = Math.floor(all * extra);
    const beyond = Math.floor(movers * arrived);
    const expected = all - movers;
    const received = Math.floor(expected * arrived);
    return {
      ...base,
      senders,
      offered: sent,
      sent,
      expected,
      received,
      lost: expected - received,
      extra: beyond,
      duplicated: Math.floor(received * again),
    };
  };
  const parts = entries.map((each, at) => counts(perEntry[at]!, each));
  type Summed = 'senders' | 'sent' | 'expected' | 'received' | 'lost' | 'extra' | 'duplicated';
  const sum = (key: Summed): number => parts.reduce((total, part) => total + part[key], 0);
  const all = {
    sent: sum('sent'),
    offered: sum('sent'),
    expected: sum('expected'),
    received: sum('received'),
    duplicated: sum('duplicated'),
  };
  const open = Math.floor(connections * stayed);
  return {
    ...base,
    ...all,
    lost: sum('lost'),
    extra: sum('extra'),
    index,
    seconds,
    connections: { requested: connections, open },
    ...(parts.length > 1 && {
      entries: parts.map((part, at): EntrySummary => ({ ...part, name: entries[at]!.name })),
    }),
    verdict: judgeStep(
      { ...all, senders: sum('senders'), generator: base.generator, latencyAtShareUs: () => 1000 },
      slo,
    ),
  };
}

function run(scenario: Scenario, fates: readonly Fate[], change: Partial<RunSummary> = {}): Result {
  const { connections: requested } = scenario;
  const dropped = requested - Math.floor(requested * (fates.at(-1)!.stayed ?? 1));
  const connections = { ...sampleSummary().connections, requested, connected: requested, dropped };
  const steps = fates.map((fate, at) => step(scenario, at + 1, fate));
  const summary = sampleSummary({ connections, steps, ...change });
  return completeResult(summary, scenario, { id: 'x', toolVersion: '1' });
}

/** As a number that grows with the load. */
const sizeOf = (result: Result): number => result.recommendation!.unit ?? Infinity;

const echo = scenarioWith({
  connections: 2000,
  baseSending: 1000,
  step: 1000,
  entries: [entry('echo')],
});
const joinLeave = scenarioWith({
  ...{ connections: 1000, baseSending: 100, sendingSteps: 1 },
  entries: [
    entry('frequentJoinLeaveGroup', {
      groupCount: 25,
      joinLeaveInterval: 2000,
      groupsPerConnection: 1,
      sendersPer: 'connection',
    }),
  ],
});

describe('recommendUnits', () => {
  it('stands on what was expected, not on what a server let through', () => {
    const { recommendation } = run(
      {
        ...echo,
        connections: 1000,
        baseSending: 1000,
        step: 0,
        entries: [entry('echo', { sendingInterval: 500 })],
      },
      [{ arrived: 0.5 }],
    );
    assert.equal(recommendation!.unit, 2);
    assert.deepEqual(recommendation!.outbound, { expectedPerSecond: 2000, extraPerSecond: 0 });
    assert.equal(recommendation!.loads[0]!.out_messages_per_s, 2000);
  });

  it('says first what the server did not carry, and what it did, after a failed step', () => {
    const { recommendation } = run(echo, [{}, { arrived: 0.5 }], { ending: 'threshold' });
    const { step, stepStatus, carried, headline, unit, reasons } = recommendation!;
    assert.deepEqual(
      { step, stepStatus, carried, unit },
      { step: 2, stepStatus: 'fail', carried: { step: 1, unit: 2 }, unit: 2 },
    );
    assert.match(
      headline,
      /^Step 2 failed; step 1 passed \(Unit 2\)\. For the traffic of step 2 the published tables ask for Unit 2: /,
    );
    assert.ok(
      reasons.includes(
        '50,000 of 100,000 deliveries did not arrive; they still count, as the service must be sized to carry them.',
      ),
    );
  });

  it('has no carried step where none met its objectives, and none to report of where all did', () => {
    const lost = run(echo, [{ arrived: 0.001 }]).recommendation!;
    assert.deepEqual([lost.unit, lost.stepStatus, lost.carried], [2, 'fail', null]);
    assert.match(
      lost.headline,
      /^Step 1 failed\. For its traffic the published tables ask for Unit 2: /,
    );
    const second = run(echo, [{ arrived: 0.9 }, { arrived: 0.5 }]).recommendation!;
    assert.match(second.headline, /^Step 2 failed, and none before it passed\. For its traffic /);
    const kept = run(echo, [{}, {}]).recommendation!;
    assert.deepEqual([kept.step, kept.stepStatus, 'carried' in kept], [2, 'pass', false]);
    assert.match(kept.headline, /^Unit 2: /);
  });

  it('gives no Units where nothing has arrived, and says why', () => {
    const nothing = run(echo, [{ arrived: 0 }, { arrived: 0 }]);
    assert.equal(nothing.recommendation, null);
    assert.match(nothing.recommendationProblem!, /^No delivery arrived in any step/);
    const errorExamples = [
      {
        errorClass: 'invocation' as const,
        text: "Failed to invoke 'Missing' due to an error on the server. HubException: Method does not exist.",
      },
    ];
    const errors = { invocation: 7 };
    const missing = run(echo, [{ arrived: 0 }], { errors, errorExamples });
    assert.equal(missing.recommendation, null);
    assert.equal(
      missing.recommendationProblem,
      'the hub has no method Missing (7 calls were answered with an error).',
    );
    assert.notEqual(run(echo, [{ arrived: 0 }, { arrived: 0.1 }]).recommendation, null);
  });

  it('counts connections that failed or were dropped, and what they would have sent', () => {
    for (const stayed of [0.9, 0.4, 0.001]) {
      const { recommendation } = run(echo, [{}, { stayed }]);
      assert.equal(recommendation!.unit, 2, String(stayed));
      assert.equal(recommendation!.connection_utilisation, 1);
      assert.equal(recommendation!.loads[0]!.in_messages_per_s, 2000);
    }
  });

  it('adds what went to connections that were joining or leaving, and says so', () => {
    // 100 senders to groups of 40; about half of the members are inside at a time.
    const { recommendation } = run(joinLeave, [{ extra: 0.8 }]);
    assert.deepEqual(recommendation!.outbound, { expectedPerSecond: 800, extraPerSecond: 3200 });
    assert.equal(recommendation!.unit, 2);
    assert.match(
      recommendation!.reasons[0]!,
      /big group 100 msg\/s in and 4,000 msg\/s out \(800 expected and 3,200 extra\) of 2 KB\.$/,
    );
  });

  it('adds what came twice: a service sends it again', () => {
    const { recommendation } = run(echo, [{}, { again: 0.5 }]);
    const { expectedPerSecond, extraPerSecond } = recommendation!.outbound;
    assert.equal(extraPerSecond, expectedPerSecond / 2);
    assert.equal(recommendation!.loads[0]!.out_messages_per_s, 1.5 * expectedPerSecond);
  });

  it('does not take extra deliveries for fewer because messages were lost', () => {
    const { recommendation } = run(joinLeave, [{ extra: 0.8, arrived: 0.5 }]);
    assert.equal(recommendation!.unit, 2);
    assert.match(
      recommendation!.reasons[0]!,
      /4,000 msg\/s out \(as planned; measured: 800 expected and 1,600 extra\)/,
    );
  });

  it('reports a step that was not measured to its end', () => {
    const cut = { ...step(echo, 2), verdict: { status: 'incomplete' as const, reasons: [] } };
    const { recommendation } = run(echo, [{}], {
      steps: [step(echo, 1), cut],
      ending: 'targetLost',
    });
    assert.equal(recommendation!.step, 1);
    assert.ok(
      recommendation!.reasons.includes(
        'The run ended in step 2, which is incomplete and may need more.',
      ),
    );
  });

  it('does not call a step carried where the run failed as a whole', () => {
    const { verdict, recommendation } = run(
      { ...echo, slo: { latencyUs: {}, dropped: 0.01 } },
      [{}, {}],
      {
        connections: {
          ...sampleSummary().connections,
          requested: 2000,
          connected: 2000,
          dropped: 100,
        },
      },
    );
    assert.equal(verdict.status, 'fail');
    assert.deepEqual([recommendation!.stepStatus, recommendation!.carried], ['fail', null]);
  });

  it('compares with the size that the scenario names', () => {
    const { estimate, recommendation } = run({ ...echo, unit: 1 }, [{}, {}]);
    for (const { planned } of [estimate!, recommendation!]) {
      assert.equal(planned!.exceeded, true);
      assert.match(planned!.sentence, /^Too much for Unit 1: it takes Unit 2: /);
    }
  });

  it('never asks for less because messages or connections were lost', () => {
    const scenarios = fc.record({
      connections: fc.integer({ min: 1, max: 120 }).map((hundreds) => hundreds * 100),
      entries: fc.uniqueArray(
        fc.constantFrom(
          entry('echo'),
          entry('broadcast', { sendingInterval: 60_000 }),
          entry('sendToGroup', {
            groupCount: 10,
            groupsPerConnection: 1,
            sendersPer: 'connection',
          }),
        ),
        { minLength: 1, maxLength: 3 },
      ),
      steps: fc.integer({ min: 1, max: 3 }),
    });
    const some = fc.double({ min: 0.05, max: 1, noNaN: true });
    // Only deliveries that were due can be seen to be lost, so that there must be some.
    const beyond = fc.double({ min: 0, max: 0.9, noNaN: true });
    fc.assert(
      fc.property(
        scenarios,
        some,
        some,
        beyond,
        ({ connections, entries, steps }, arrived, stayed, extra) => {
          const part = connections / steps;
          const scenario = scenarioWith({
            connections,
            entries,
            baseSending: Math.ceil(part),
            step: Math.ceil(part),
            sendingSteps: steps,
          });
          const count = stepsOf(scenario).length;
          const fates = (last: Fate): Fate[] => [
            ...Array.from({ length: count - 1 }, () => ({ extra })),
            last,
          ];
          const whole = sizeOf(run(scenario, fates({ extra })));
          for (const fate of [{ arrived }, { stayed }, { arrived, stayed }]) {
            const less = run(scenario, fates({ ...fate, extra }));
            const hasArrived = less.steps.some(({ received }) => received > 0);
            assert.ok(hasArrived ? sizeOf(less) >= whole : less.recommendation === null);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});
