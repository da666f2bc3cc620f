import assert from 'node:assert/strict';
import {
  recommend,
  type MeasuredLoad,
  measuredLoadOf,
  type MeasuredStep,
} from '../../../../src/capacity/judge/recommend';
import { say } from '../../../../src/base/sentence';
import fc from 'fast-check';
import { estimate } from '../../../../src/capacity/estimate';
import type { Scenario } from '../../../../src/scenario/scenario';
import { peakSenders, meanShareOfPeak, stagesDurationMs } from '../../../../src/scenario/steps';
import { inputOf, loadsOf, messages, scenarioWith } from '../scenarios';

const measured: MeasuredLoad = {
  product: 'signalr',
  connections: 1900,
  step: 3,
  useCases: [
    {
      kind: 'send_to_group',
      senders: 1900,
      messageBytes: 2048,
      inPerSecond: 1900.2,
      outPerSecond: 19_002,
      groupMembers: 10,
    },
  ],
};

describe('recommend', () => {
  it('says the size, its limit, what was measured and the figure it stands on', () => {
    const result = recommend(measured);
    assert.equal(result.unit, 10);
    assert.equal(result.step, 3);
    assert.equal(
      result.headline,
      'Unit 10: outbound 19,002 of 20,000 msg/s (95 %, small group, guide of 2023-03)',
    );
    assert.deepEqual(result.reasons, [
      'Measured in step 3 with 1,900 connections: small group 1,900 msg/s in and 19,002 msg/s out of 2 KB.',
      'Compared at Unit 10 with "Case study > Default mode > Send to group > Small group" in Performance guide for Azure SignalR Service, edition 2023-03, line 314.',
      '3 app servers with 15 server connections each.',
    ]);
    assert.deepEqual(result.formula, [
      'measured: 1,900 msg/s in, 19,002 msg/s × 2 KB = 38 MB/s out',
    ]);
  });

  it('looks at the measured rates, not at the intended ones', () => {
    const half = { ...measured.useCases[0]!, inPerSecond: 950, outPerSecond: 9500 };
    assert.equal(recommend({ ...measured, useCases: [half] }).unit, 5);
  });

  it('lets connections decide when no traffic was measured', () => {
    const idle = { ...measured.useCases[0]!, inPerSecond: 0, outPerSecond: 0 };
    for (const useCases of [[idle], []]) {
      const result = recommend({ ...measured, useCases });
      assert.equal(result.unit, 2);
      assert.deepEqual(result.limiting, ['connections']);
      assert.match(result.reasons[0]!, /with 1,900 connections: no traffic\.$/);
    }
  });

  it('says that no size fits', () => {
    const much = { ...measured.useCases[0]!, inPerSecond: 8000, outPerSecond: 80_000 };
    const result = recommend({ ...measured, useCases: [much] });
    assert.equal(result.unit, null);
    assert.match(result.headline, /^No size of this guide fits: outbound 80,000 of 70,000 msg\/s/);
    assert.match(result.notes[0]!, /^More units do not help/);
  });

  it('takes edition and headroom', () => {
    assert.equal(recommend(measured, { headroom: 0.7 }).unit, 20);
    assert.equal(recommend(measured, { edition: 'later' }).edition, 'later');
  });

  it('refuses what is no measurement', () => {
    const withTraffic = (change: object) => () =>
      recommend({ ...measured, useCases: [{ ...measured.useCases[0]!, ...change }] });
    assert.throws(withTraffic({ inPerSecond: NaN }), /in_per_second must be a number/);
    assert.throws(withTraffic({ outPerSecond: -1 }), /out_per_second must not be negative/);
    assert.throws(withTraffic({ kind: 'upstream_echo' }), /kind is not known for this product/);
    assert.throws(withTraffic({ groupMembers: undefined }), /group_members must be a number/);
  });
});

const step: MeasuredStep = {
  ...{ index: 2, status: 'pass', connections: 1000, lostConnections: 0, seconds: 10 },
  ...{ sent: 9800, expected: 9700, extra: 0, lost: 0 },
};

function loadFrom(
  changes: Partial<Scenario> = {},
  change: Partial<MeasuredStep> = {},
): MeasuredLoad {
  const found = measuredLoadOf(scenarioWith(changes), { ...step, ...change });
  assert.ok('load' in found);
  return found.load;
}

/** A step of sessions of 1,000 senders that do `steps` once a second. */
const sessionsOf = (steps: readonly object[], more: object = {}): Partial<Scenario> => ({
  entries: [
    {
      name: 'session',
      parameters: { sessionInterval: 1000, ...more, steps: JSON.stringify(steps) },
    },
  ],
  ...{ baseSending: 1000, step: 0 },
});
const groups = { groupCount: 100, groupsPerConnection: 1 };

describe('measuredLoadOf', () => {
  it('puts what was sent and expected in place of the nominal rates', () => {
    assert.deepEqual(loadFrom({ connectionType: 'AspNet' }), {
      product: 'signalr',
      connections: 1000,
      step: 2,
      stepStatus: 'pass',
      stack: 'aspnet',
      useCases: [
        {
          ...{ kind: 'echo', senders: 1000, messageBytes: 2048 },
          ...{ inPerSecond: 980, outPerSecond: 970, extraPerSecond: 0 },
          leaving: [{ bytes: 2048, weight: 1, sent: 2221, toClient: 2230, toApplication: 2252 }],
        },
      ],
      serverConnections: 5,
      remarks: [],
      assumptions: [],
    });
  });

  it('takes the counts of each entry of a mix', () => {
    const entries = ['connectOnly', 'echo', 'broadcast'].map((name) => ({
      name,
      parameters: messages,
    }));
    const counts = [
      { sent: 0, expected: 0, extra: 0 },
      { sent: 3000, expected: 2990, extra: 0 },
      { sent: 50, expected: 40_000, extra: 500 },
    ];
    const load = loadFrom({ entries }, { entries: counts });
    assert.deepEqual(
      load.useCases.map(({ kind, inPerSecond, outPerSecond, extraPerSecond }) => [
        ...[kind, inPerSecond, outPerSecond, extraPerSecond],
      ]),
      [
        ['echo', 300, 299, 0],
        ['broadcast', 5, 4050, 50],
      ],
    );
  });

  it('gives the rates of the scenario where the server may have made the traffic smaller', () => {
    const planned = (changes: Partial<Scenario>, change: Partial<MeasuredStep> = {}): unknown =>
      loadFrom(changes, change).useCases[0]!.planned;
    const whole = { inPerSecond: 1000, outPerSecond: 1000 };
    assert.equal(planned({}), undefined);
    assert.equal(planned({}, { moves: { done: 10, missed: 0 } }), undefined);
    assert.deepEqual(planned({}, { lost: 1 }), whole);
    assert.deepEqual(planned({}, { lostConnections: 1 }), whole);
    assert.deepEqual(planned({}, { skipped: 1 }), whole);
    assert.deepEqual(planned({}, { moves: { done: 10, missed: 1 } }), whole);
    assert.deepEqual(planned({ pacing: 'closed' }), whole);
  });

  it('counts the peak of stages as the estimate does, however they rise', () => {
    const stage = fc.record({
      to: fc.integer({ min: 0, max: 1000 }),
      overMs: fc.constantFrom(0, 1000, 20_000),
      holdMs: fc.constantFrom(0, 5000),
    });
    const some = fc.record({
      from: fc.integer({ min: 0, max: 1000 }),
      stages: fc.array(stage, { minLength: 1, maxLength: 4 }),
    });
    fc.assert(
      fc.property(some, (stages) => {
        const peak = peakSenders(stages);
        const lengthMs = stagesDurationMs(stages.stages);
        // Each sender sends once a second.
        const sent = (meanShareOfPeak(stages) * peak * lengthMs) / 1000;
        fc.pre(sent > 0);
        const changes = { stages, baseSending: peak, step: 0, singleStepDurationMs: lengthMs };
        const counts = { index: 1, seconds: lengthMs / 1000, sent, expected: sent };
        const measured = recommend(loadFrom(changes, counts));
        assert.deepEqual(measured.loads, estimate(inputOf(scenarioWith(changes))).loads);
        assert.match(measured.reasons[1]!, /the rates are those of the .* at the peak/);
      }),
    );
  });

  it('counts answers beside callbacks as often as they were asked for', () => {
    const call = { kind: 'call', method: 'Say', arguments: [], receivers: 'group', group: 'none' };
    const steps = [{ ...call, reply: 'callback', callback: 'Said', answered: true }];
    const changes = sessionsOf(steps, groups);
    const both = ['small_group 1000 10000', 'echo 0 1000'];
    assert.deepEqual(loadsOf(estimate(inputOf(scenarioWith(changes)))), both);
    const calls = [{ name: 'Say', sent: 10_000, expected: 100_000 }];
    assert.deepEqual(loadsOf(recommend(loadFrom(changes, { index: 1, calls }))), both);
  });

  it('counts what came beside the calls of a session once, whomever they were for', () => {
    const call = { kind: 'call', arguments: [], group: 'none', reply: 'callback', callback: 'Got' };
    const outOf = (...receivers: readonly string[]): unknown => {
      const steps = receivers.map((each, at) => ({ ...call, method: `M${at}`, receivers: each }));
      const calls = steps.map(({ method }) => ({ name: method, sent: 1000, expected: 1000 }));
      const change = { index: 1, extra: 9000, calls };
      const { outbound } = recommend(loadFrom(sessionsOf(steps, groups), change));
      return [outbound.expectedPerSecond, outbound.extraPerSecond];
    };
    assert.deepEqual(outOf('self'), [100, 900]);
    assert.deepEqual(outOf('self', 'group'), [200, 900]);
    assert.deepEqual(outOf('client', 'self'), [200, 900]);
  });

  it('counts an event that a session waits for once: with its call, or alone in the size that came', () => {
    const call = { kind: 'call', method: 'Say', arguments: [], receivers: 'self', group: 'none' };
    const steps = [
      { ...call, reply: 'callback', callback: 'Said' },
      { kind: 'on', event: 'said', withinMs: 1000, keep: {} },
      { kind: 'on', event: 'Tick', withinMs: 1000, keep: {} },
    ];
    const changes = sessionsOf(steps);
    const both = ['echo 1000 1000', 'echo 0 1000'];
    assert.deepEqual(loadsOf(estimate(inputOf(scenarioWith(changes)))), both);
    const counts = { sent: 0, expected: 10_000, received: 10_000 };
    const calls = [
      { name: 'Say', ...counts, sent: 10_000 },
      { name: 'said', ...counts, ofCalls: 10_000 },
      { name: 'Tick', ...counts, payloadBytesOut: 10_000 * 4000 },
    ];
    const measured = recommend(loadFrom(changes, { index: 1, calls }));
    assert.deepEqual(loadsOf(measured), both);
    assert.match(measured.reasons[0]!, /; callbacks [^;]* 1,000 msg\/s out of 3\.9 KB/);
  });

  it('says what the rates are to be read with', () => {
    const lossy = { lost: 4850, lostConnections: 30, extra: 20, moves: { done: 4500, missed: 0 } };
    assert.deepEqual(
      loadFrom({}, lossy).remarks?.map((words) => say(words)),
      [
        '4,850 of 9,700 deliveries did not arrive; they still count, as the service must be sized to carry them.',
        '30 of 1,000 connections failed or were dropped; they still count, with the rates that the scenario plans.',
        'Extra deliveries came twice, or went to connections that were joining or leaving, or that should not have got them. A service sends them too.',
        '450 joins and leaves a second, and as many answers, are not counted: no table has them.',
      ],
    );
  });

  it('counts payloads of different sizes as the estimate does', () => {
    const sizes = { ...messages, messageSize: 1869, messageSizes: '256B 90%, 16KB 10%' };
    const entries = [{ name: 'echo', parameters: sizes }];
    const { loads, notes } = recommend(loadFrom({ entries }));
    // 0.9 × 1,024 + 0.1 × 16,384 bytes each.
    assert.equal(loads[0]!.in_bytes_per_s, 980 * 2560);
    const nominal = estimate(inputOf(scenarioWith({ entries })));
    assert.equal(nominal.loads[0]!.in_bytes_per_s, 1000 * 2560);
    assert.equal(nominal.billing!.payload_only.messages_per_s, 2000 * 1.7);
    assert.equal(nominal.billing!.messages_per_s, 2000 * 1.8, 'the envelope of 16 KB is a message');
    assert.ok(nominal.warnings.includes('message-floor'), 'a part of the messages is small');
    assert.match(
      nominal.formula[0]!,
      /1,000 msg\/s × 2\.5 KB \(counted for 1\.8 KB\) = 2\.5 MB\/s/,
    );
    assert.match(notes.at(-1)!, /each size counts, and is billed, by its share/);
  });

  it('leaves connections alone when nothing is sent', () => {
    const entries = [{ name: 'connectOnly', parameters: {} }];
    // Without senders a step is a round of connecting, of which there is one.
    const load = loadFrom({ entries }, { index: 1 });
    assert.deepEqual(load.useCases, []);
    assert.equal(recommend(load).unit, 1);
  });

  it('takes the items that a hub has made as large as they came', () => {
    const call = { method: 'Prices', arguments: '[]', reply: 'stream', receivers: 'self' };
    const items = { streamingItemCount: 5, streamingItemSendDelay: 0 };
    const entries = [{ name: 'invoke', parameters: { ...messages, ...call, ...items } }];
    const sizeOf = (change: Partial<MeasuredStep>): unknown => {
      const [traffic] = loadFrom({ entries }, change).useCases;
      return [traffic!.messageBytes, traffic!.leaving!.map(({ bytes }) => bytes)];
    };
    // What the estimate takes where nobody says it.
    assert.deepEqual(sizeOf({}), [2048, [2048]]);
    assert.deepEqual(sizeOf({ received: 0, payloadBytesOut: 0 }), [2048, [2048]]);
    assert.deepEqual(sizeOf({ received: 9700, payloadBytesOut: 9700 * 38 }), [38, [38]]);
    const { useCases, ...load } = loadFrom({ entries }, { received: 9, payloadBytesOut: 9 * 38 });
    assert.match(recommend({ ...load, useCases }).reasons[0]!, /msg\/s out of 38 B/);
  });

  it('takes those of each stream of a session, wherever it stands', () => {
    const stream = (method: string): object => ({
      ...{ kind: 'stream', method, arguments: [], items: 4, itemBytes: 2048 },
      ...{ withinMs: 5000, everyMs: 0 },
    });
    const ways = [{ weight: 1, steps: [stream('Ticks')] }];
    const steps = [
      ...[stream('Prices'), { kind: 'repeat', times: 2, everyMs: 0, steps: [stream('Ticks')] }],
      { kind: 'choose', ways },
    ];
    const [session] = sessionsOf(steps).entries as [Scenario['entries'][number]];
    const sizesOf = (entries: Scenario['entries'], calls: MeasuredStep['calls']): unknown =>
      loadFrom({ entries }, { calls: calls!, entries: entries.map(() => step) }).useCases.map(
        ({ leaving }) => leaving!.map(({ bytes }) => bytes),
      );
    const counts = { sent: 100, expected: 400, received: 400 };
    const calls = [
      { name: 'Prices', ...counts, payloadBytesOut: 400 * 38 },
      { name: 'Ticks 1', ...counts, payloadBytesOut: 400 * 7 },
      { name: 'Ticks 2', ...counts, received: 0 },
    ];
    assert.deepEqual(sizesOf([session], calls), [[38, 7, 2048]]);
    const ofSecond = calls.map((each) => ({ ...each, entry: 'session 2' }));
    assert.deepEqual(sizesOf([session, session], ofSecond), [
      ...[
        [2048, 2048, 2048],
        [38, 7, 2048],
      ],
    ]);
  });

  it('is a problem for a step the scenario has not', () => {
    assert.deepEqual(measuredLoadOf(scenarioWith(), { ...step, index: 3 }), {
      problem: 'The scenario has no step 3.',
    });
  });
});
