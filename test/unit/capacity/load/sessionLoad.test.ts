import assert from 'node:assert/strict';
import { scenarioEstimate } from '../../../../src/capacity/estimate';
import type { Estimate } from '../../../../src/capacity/model';
import {
  measuredLoadOf,
  recommend,
  type MeasuredLoad,
  type MeasuredStep,
} from '../../../../src/capacity/judge/recommend';
import { assumptionsOf } from '../../../../src/capacity/load/loadOf';
import { sessionTraffic } from '../../../../src/capacity/load/sessionLoad';
import { inlayHints } from '../../../../src/extension/language/lensesAndHints';
import { analyseScenario } from '../../../../src/extension/language/analyseScenario';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Scenario } from '../../../../src/scenario/scenario';
import { goodScenario } from '../../scenario/parsed';
import { inputOf, loadsOf } from '../scenarios';

const head = `config:
  target: local
  connections: 2000
  baseSending: 2000
  singleStepDuration: 1m
scenario:
  name: session
  parameters:
    sessionInterval: 20s
    groupCount: 200
    steps:
`;
const text = (steps: readonly string[]): string =>
  head + steps.map((line) => `      ${line}\n`).join('');

const scenarioOf = (...steps: readonly string[]): Scenario => goodScenario(text(steps));

/** A mix of sessions, each with the keys and steps of its own. */
const mixOf = (...entries: readonly (readonly [keys: string, ...steps: string[]])[]): string =>
  `${head.slice(0, head.indexOf('scenario:'))}scenarios:\n${entries
    .map(
      ([keys, ...steps]) =>
        `  - name: session\n${keys}      sessionInterval: 20s\n      steps:\n${steps.map((line) => `        ${line}\n`).join('')}`,
    )
    .join('')}`;

function estimateOf(...steps: readonly string[]): Estimate {
  const found = scenarioEstimate(scenarioOf(...steps));
  assert.ok('estimate' in found, JSON.stringify(found));
  return found.estimate;
}

const chat = [
  "- { call: JoinRoom, arguments: ['{group}'], group: join }",
  '- repeat: 5',
  '  every: 2s',
  '  steps:',
  "    - { call: SendMessage, arguments: ['{group}', '{text:2KB}'], reply: callback, callback: MessagePosted, receivers: group }",
  "- { call: GetHistory, arguments: ['{group}', 20] }",
  "- { call: LeaveRoom, arguments: ['{group}'], group: leave, reply: none }",
];

/** By kind: messages a second of all senders, and the members of the group. */
function ratesOf(scenario: Scenario): Record<string, [perSecond: number, members?: number]> {
  return Object.fromEntries(
    inputOf(scenario).useCases.map(({ kind, senders, intervalS, groupMembers }) => [
      kind,
      [
        Number((senders / intervalS).toFixed(6)),
        ...(groupMembers === undefined ? [] : [groupMembers]),
      ] as [number, number?],
    ]),
  );
}

/** What a minute of the chat, and of `more`, has measured. */
function measuredOf(more: readonly string[], change: Partial<MeasuredStep> = {}): MeasuredLoad {
  const counts = [
    ['JoinRoom', 6000, 6000],
    ['SendMessage', 30_000, 297_000],
    ['GetHistory', 6000, 6000],
    ['LeaveRoom', 6000, 0],
  ] as const;
  const measured = measuredLoadOf(scenarioOf(...chat, ...more), {
    ...{ index: 1, status: 'pass', connections: 2000, lostConnections: 0, lost: 0, seconds: 60 },
    ...{ sent: 48_000, expected: 309_000, extra: 0 },
    calls: counts.map(([name, sent, expected]) => ({ name, sent, expected })),
    ...change,
  });
  assert.ok('load' in measured);
  return measured.load;
}

describe('the estimate of a session', () => {
  it('counts each size of a text by its weight', () => {
    const call = (text: string): string => `- { call: A, arguments: ['${text}'] }`;
    const [traffic] = sessionTraffic(
      scenarioOf(call('{text:2KB 3, 32KB 1}'), call('{text:100B}')).entries[0]!.parameters,
      { connections: 2000, senders: 2000 },
    );
    // The brackets and quotes of JSON; two calls in 20 s.
    assert.deepEqual(traffic!.traffic.messageSizes, [
      { bytes: 2052, weight: 0.75 },
      { bytes: 32_772, weight: 0.25 },
      { bytes: 104, weight: 1 },
    ]);
    assert.equal(traffic!.traffic.intervalS, 10);
    assert.equal(traffic!.traffic.messageBytes, Math.round((2052 * 0.75 + 32_772 / 4 + 104) / 2));
    assert.equal(traffic!.ownCalls.map(({ method }) => method).join(), 'A,A,A');
    const said = (text: string): boolean =>
      assumptionsOf(scenarioOf(call(text))).some((sentence) => /differ in size/.test(sentence));
    assert.deepEqual([said('{text:2KB 3, 32KB 1}'), said('{text:2KB}')], [true, false]);
    estimateOf(call('{text:2KB 3, 32KB 1}'));
  });

  it('counts each call by its receivers and repeats, over the interval', () => {
    // 2,000 senders begin 100 sessions a second: two calls that are answered, one that is not, five to groups of ten.
    assert.deepEqual(loadsOf(estimateOf(...chat)), [
      'echo 200 200',
      'small_group 500 5000',
      'echo 100 0',
    ]);
  });

  it('counts all that join where sessions of a mix share their groups', () => {
    const keys = (senders: string): string =>
      `    senders: ${senders}\n    parameters:\n      groupCount: 200\n      sharedGroups: rooms\n`;
    const post =
      "- { call: Post, arguments: ['{group}', '{text:2KB}'], reply: callback, callback: Posted, receivers: group }";
    const mix = mixOf(
      [keys('20%'), ...chat],
      [keys('70%'), chat[0]!, '- { wait: 10s }', '- on: MessagePosted'],
      [keys('10%'), post],
    );
    // 400 and 1,400 of the 2,000 join 200 groups; 200 post without being there.
    assert.deepEqual(
      inputOf(goodScenario(mix)).useCases.flatMap(({ groupMembers }) => groupMembers ?? []),
      [9, 9],
    );
  });

  it('takes choose by its weights, and of an if the dearer branch, and says so', () => {
    const scenario = scenarioOf(
      "- { call: Ask, arguments: ['{text:20B}'], keep: { answer: '$' } }",
      '- choose:',
      '    - { weight: 3, steps: [{ call: Read }] }',
      '    - { weight: 1, steps: [{ call: Tell, reply: callback, callback: Told, receivers: everyone, arguments: ["{text:100B}"] }] }',
      '- if: answer',
      '  steps: [{ call: Small }]',
      "  else: [{ call: Large, arguments: ['{text:8KB}'] }]",
    );
    assert.deepEqual(ratesOf(scenario), { echo: [275], broadcast: [25] });
    const input = inputOf(scenario);
    const [echo] = input.useCases;
    assert.ok(echo?.messageSizes?.some(({ bytes, weight }) => bytes > 8192 && weight === 1));
    assert.equal(echo?.messageSizes?.length, 3, 'Ask, Read and Large');
    const said = (input.assumptions ?? []).join(' ');
    assert.match(
      said,
      /Each way of a choose counts by its weight\. The more expensive branch of an if counts\./,
    );
  });

  it('has an envelope of its own for each call', () => {
    for (const { leaving = [], messageSizes, kind } of inputOf(scenarioOf(...chat)).useCases) {
      assert.equal(leaving.length, messageSizes?.length ?? 1, kind);
      for (const { bytes, toClient, toApplication } of leaving)
        assert.ok(toClient > bytes && toApplication > bytes, kind);
    }
  });

  it('is compared with what its calls have measured, each kind by its own', () => {
    assert.deepEqual(
      measuredOf([], { extra: 120 }).useCases.map(
        (one) => `${one.kind} ${one.inPerSecond} ${one.outPerSecond}`,
      ),
      ['echo 200 200', 'send_to_group 500 4952', 'echo 100 0'],
    );
  });

  it('counts callbacks that nothing waits for as often as their steps say, and says which it leaves out', () => {
    const calls = ['echo 200 200', 'small_group 500 5000', 'echo 100 0'];
    // 100 sessions a second: 3.4 and 1.6 callbacks each, and one that is waited for; nothing of these goes in.
    const known = estimateOf(
      ...chat,
      '- { on: Typing, within: 0, perSession: 3.4, eventSize: 26 }',
      '- repeat: 2',
      '  steps: [{ on: Left, within: 0, perSession: 1.6, eventSize: 4KB }]',
      '- { on: Ready }',
    );
    assert.deepEqual(loadsOf(known), [...calls, 'echo 0 600']);
    assert.equal(
      known.formula[3],
      'callbacks: 2,000 senders × 1 msg per 3.333333 s = 600 msg/s × 1.8 KB (counted for 1.1 KB) = 1.08 MB/s',
    );
    assert.doesNotMatch(known.notes.join(' '), /Not in this estimate/);
    const left = ['Typing', 'Joined', 'Left'].map((on) => `- { on: ${on}, within: 0 }`);
    const unknown = estimateOf(...chat, ...left);
    assert.deepEqual(loadsOf(unknown), calls);
    const sentence =
      'Not in this estimate: callbacks that are only counted (Typing, Joined and Left). Write in their steps how often they come, perSession, or go by the recommendation after a run, which counts them.';
    assert.ok(unknown.notes.includes(sentence), unknown.notes.join('\n'));
    // Where only some are known, the others are named.
    const some = estimateOf(...chat, left[0]!, '- { on: Left, within: 0, perSession: 0 }');
    assert.deepEqual(loadsOf(some), calls);
    assert.match(some.notes.join(' '), /only counted \(Typing\)\./);
    // A run counts them all, so there is nothing to say.
    const { assumptions = [] } = measuredOf(left, { calls: [] });
    assert.doesNotMatch(assumptions.join(' '), /Not in this estimate/);
  });

  it('names behind the interval what it leaves out, and keeps the entries of a mix apart', () => {
    const keys = '    parameters:\n';
    const mix = mixOf(
      [keys, '- { call: A }', '- { on: Typing, within: 0 }', '- { on: Left, within: 0 }'],
      [keys, '- { call: B }', '- { call: C }'],
    );
    assert.deepEqual(
      inlayHints(analyseScenario(mix)).map(({ label }) => label),
      [
        'planned: 50 msg/s in, 50 msg/s out, without callbacks Typing, Left',
        'planned: 100 msg/s in, 100 msg/s out',
      ],
    );
  });

  it('says of hubs of their own that what they send on their own is not in the estimate', () => {
    const assumptions = (useCase: string, target = 'http://localhost:5000/chat'): string => {
      const { scenario } = parseScenario(
        `config: { target: '${target}', connections: 10 }\nscenario: { name: ${useCase} }\n`,
      );
      return inputOf(scenario!).assumptions!.join(' ');
    };
    const said = /What the hub sends on its own is not in this estimate/;
    assert.match(assumptions('connectOnly'), said);
    assert.doesNotMatch(assumptions('echo'), said);
    assert.doesNotMatch(assumptions('connectOnly', 'local'), said);
  });

  it('counts callbacks that nothing waits for as they came, with their sizes', () => {
    const left = ['Typing', 'Left', 'Never'].map((on) => `- { on: ${on}, within: 0 }`);
    const push = (name: string, messages: number, bytes: number | null) => ({
      ...{ name, messages, bytes },
    });
    const loadWith = (pushed: NonNullable<MeasuredStep['pushed']>): MeasuredLoad =>
      measuredOf(left, { pushed });
    // An invocation in JSON: 41 bytes around the arguments of Typing, 39 around those of Left, without what marks its end.
    const load = loadWith([
      push('Typing', 30_000, 30_000 * (41 + 26)),
      push('Left', 10_000, 10_000 * (39 + 4000)),
    ]);
    const recommendation = recommend(load);
    assert.deepEqual(loadsOf(recommendation), [
      'echo 200 200',
      'small_group 500 4950',
      'echo 100 0',
      // 40,000 in 60 s.
      'echo 0 666.6667',
    ]);
    assert.deepEqual(load.useCases.at(-1)!.messageSizes, [
      { bytes: 26, weight: 30_000 },
      { bytes: 4000, weight: 10_000 },
    ]);
    assert.equal(load.useCases.at(-1)!.messageBytes, Math.round((26 * 3 + 4000) / 4));
    // Pieces of 2 KB: one of Typing and two of Left.
    const bare = recommend(loadWith([]));
    assert.equal(
      Math.round(recommendation.billing!.messages_per_day - bare.billing!.messages_per_day),
      ((30_000 + 2 * 10_000) / 60) * 86_400,
    );
    assert.ok(recommendation.traffic_utilisation > 0);
    assert.match(
      recommendation.reasons.join(' '),
      /; callbacks \(compared with echo\) 666\.7 msg\/s out of 1,020 B\. Outbound includes 666\.7 msg\/s that the hub sent on its own: Typing and Left\./,
    );
    assert.doesNotMatch(bare.reasons.join(' '), /on its own/);
    // Where nobody sees the bytes on the wire, they are taken for small.
    const unseen = loadWith([push('Typing', 30_000, null)]).useCases.at(-1)!;
    assert.deepEqual([unseen.messageBytes, unseen.outPerSecond], [1, 500]);
  });
});
