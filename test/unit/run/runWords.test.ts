import assert from 'node:assert/strict';
import type { Scenario } from '../../../src/scenario/scenario';
import { parseScenario } from '../../../src/scenario/parseScenario';
import {
  loadNumbers,
  describeHow,
  describeLoad,
  describeUnusual,
  formatLoadNumbers,
} from '../../../src/run/runWords';
import { sampleScenario } from '../results/sampleResult';
import { scenarioEstimate } from '../../../src/capacity/estimate';
import type { EstimateLoad } from '../../../src/capacity/model';

describe('loadWords', () => {
  it('counts the members of a group with all groups that a connection joins', () => {
    const { scenario } = parseScenario(
      'config: { connections: 20, baseSending: 20 }\n' +
        'scenario: { name: sendToGroup, parameters: { groupCount: 4, groupsPerConnection: 2 } }\n',
    );
    assert.ok(scenario);
    assert.match(describeLoad(scenario), /groups of 10,/);
  });

  it('counts every call of a session, as often as it makes it', () => {
    const call = '{ call: Say, reply: none }';
    const words = (steps: string): string => {
      const { scenario } = parseScenario(
        `scenario: { name: session, parameters: { sessionInterval: 9s, steps: [${steps}] } }`,
      );
      return describeLoad(scenario!);
    };
    assert.match(words(`${call}, { repeat: 4, steps: [${call}, ${call}] }`), /, 9 calls every 9 s/);
    assert.match(words(call), /, 1 call every 9 s/);
  });

  it('says how often the steps are run', () => {
    const words = describeLoad({ ...sampleScenario, repeat: 5 });
    assert.match(words, /1,900 connections in 3 steps, repeated 5 times$/);
    const once = loadNumbers(sampleScenario).durationS;
    const ramp = sampleScenario.connections / sampleScenario.arrivingRate;
    const five = loadNumbers({ ...sampleScenario, repeat: 5 }).durationS;
    assert.equal(five - ramp, 5 * (once - ramp));
  });

  it('is soon done with a mix from a file that nobody has checked', () => {
    const { scenario } = parseScenario('scenario: { name: echo }\n');
    assert.ok(scenario);
    const [entry] = scenario.entries;
    const entries = Array.from({ length: 10_000 }, () => entry!);
    const hostile = { ...scenario, entries, connections: 1e308, baseSending: 1, step: 1e-300 };
    const words = describeLoad(hostile);
    assert.match(words, / \+ 9,990 more, .* in 10,000 steps$/);
    assert.ok(words.length < 1500, `${words.length} characters`);
  });
});

describe('howWords', () => {
  it('says nothing of the usual way, however the dialect was found', () => {
    assert.equal(describeHow(sampleScenario), '');
    assert.equal(describeHow(sampleScenario, 'recordLatency'), '');
  });

  it('names each way that differs, and the dialect that was spoken before the one written', () => {
    const closed = { ...sampleScenario, transport: 'ServerSentEvents', pacing: 'closed' } as const;
    assert.equal(describeHow(closed), 'over ServerSentEvents, closed pacing');
    const written = { ...sampleScenario, dialect: 'measure' } as const;
    assert.equal(describeHow(written), 'dialect measure');
    assert.equal(describeHow(written, 'recordLatency'), '');
    const packed = { ...sampleScenario, protocol: 'messagepack' } as const;
    assert.equal(describeHow(packed), 'messagepack');
    assert.equal(
      describeHow({ ...packed, connectionType: 'AspNet' }),
      '',
      'it is JSON all the same',
    );
  });

  it('comes after what has answered, where that was no service', () => {
    const closed = { ...sampleScenario, pacing: 'closed' } as const;
    const url = { kind: 'hubUrl', emulated: true } as const;
    assert.equal(describeUnusual({ ...sampleScenario, service: 'hub' }, { kind: 'hubUrl' }), '');
    assert.equal(
      describeUnusual({ ...closed, service: 'hub' }, url),
      'against the embedded hub, closed pacing',
    );
    assert.equal(
      describeUnusual({ ...closed, service: 'signalr' }, url),
      'against an emulator, closed pacing',
    );
    const text = { ...url, kind: 'connectionString' };
    assert.equal(
      describeUnusual({ ...sampleScenario, service: 'hub' }, text),
      'against an emulator',
    );
    const named = { ...sampleScenario, driver: 'emulator' } as unknown as Scenario;
    assert.equal(describeUnusual(named, {}), '', 'nothing of the file is believed');
  });

  it('repeats nothing of a file that it does not know', () => {
    const hostile = { transport: { toString: 1 }, protocol: '\u001b[2J', driver: 'toString' };
    assert.equal(describeHow(hostile as unknown as Scenario), '');
  });
});

const head = 'config: { target: local, connections: 200, baseSending: 200, arrivingRate: 200';

function scenarioOf(name: string, parameters: string, config = ''): Scenario {
  const { scenario, problems } = parseScenario(
    `${head}${config} }\nscenario: { name: ${name}, parameters: { ${parameters} } }\n`,
  );
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  );
  return scenario!;
}

const calls = `[{ call: Join, arguments: ['{group}'], group: join }, { repeat: 5, steps: [{ call: Send, arguments: ['{group}', '{text:4KB}'], reply: callback, callback: Posted, receivers: group }] }, { call: History, arguments: ['{text:8KB}'], reply: none }]`;

const loads: readonly [what: string, scenario: () => Scenario][] = [
  ['echo', () => scenarioOf('echo', 'messageSize: 3KB')],
  ['broadcast', () => scenarioOf('broadcast', 'sendingInterval: 10s')],
  ['groups', () => scenarioOf('sendToGroup', 'groupCount: 20, messageSizes: "2KB 90%, 16KB 10%"')],
  [
    'a stream up',
    () => scenarioOf('streamingEcho', 'streamingItemCount: 4, streamDirection: upload'),
  ],
  [
    'calls that nobody answers',
    () => scenarioOf('invoke', "method: A, arguments: ['{text:2KB}'], reply: none"),
  ],
  ['REST', () => scenarioOf('restSendToUser', 'messageSize: 2KB', ', service: signalr')],
  ['stages', () => scenarioOf('echo', 'messageSize: 3KB', ', stages: [{ to: 200, over: 20s }]')],
  [
    'a session',
    () =>
      scenarioOf(
        'session',
        `sessionInterval: 20s, groupCount: 20, steps: [{ call: Join, arguments: ['{group}', '{text:1KB}'], group: join }, { repeat: 5, steps: [{ call: Send, arguments: ['{group}', '{text:4KB}'], reply: callback, callback: Posted, receivers: group }] }, { call: History, arguments: ['{text:8KB}'], reply: none }]`,
      ),
  ],
];

describe('the numbers that are asked about before a run', () => {
  for (const [what, make] of loads)
    it(`are those of the estimate: ${what}`, () => {
      const scenario = make();
      const found = scenarioEstimate(scenario);
      assert.ok('estimate' in found, JSON.stringify(found));
      const all = found.estimate.loads;
      const sum = (of: (load: EstimateLoad) => number): number =>
        all.reduce((total, load) => total + of(load), 0);
      const { inPerSecond, outPerSecond, bytesPerSecond } = loadNumbers(scenario);
      assert.ok(Math.abs(inPerSecond - sum((load) => load.in_messages_per_s)) < 0.01);
      assert.ok(Math.abs(outPerSecond - sum((load) => load.out_messages_per_s)) < 0.01);
      const bytes = sum((load) => load.in_bytes_per_s + load.out_bytes_per_s);
      assert.ok(Math.abs(bytesPerSecond - bytes) < 1, `${bytesPerSecond}, ${bytes}`);
      assert.ok(bytesPerSecond > 0);
    });

  it('have the bytes of all calls of a session, and of a replay whose recording was read', () => {
    const session = scenarioOf('session', `sessionInterval: 20s, groupCount: 20, steps: ${calls}`);
    // 10 a second: 10 that join and are answered, 50 to ten members each, 10 that nobody answers.
    const { bytesPerSecond, ...numbers } = loadNumbers(session);
    assert.deepEqual([numbers.inPerSecond, numbers.outPerSecond], [70, 510]);
    const [join, send, history] = ['["{group}"]', '["{group}",""]', '[""]'].map(
      (args) => args.length,
    );
    const exact = 20 * join! + 550 * (send! + 4096) + 10 * (history! + 8192);
    assert.ok(Math.abs(bytesPerSecond - exact) / exact < 0.02, `${bytesPerSecond}, ${exact}`);
    assert.match(formatLoadNumbers(loadNumbers(session)), /510 msg\/s out \(2\.3 MB\/s\)/);
    const [entry] = session.entries;
    const { steps, ...more } = entry!.parameters;
    const replay = { ...session, entries: [{ name: 'replay', parameters: more }] };
    assert.equal(loadNumbers(replay).bytesPerSecond, 0, 'not read yet');
    const read = {
      ...session,
      entries: [{ name: 'replay', parameters: { ...more, steps: steps! } }],
    };
    assert.equal(loadNumbers(read).bytesPerSecond, bytesPerSecond);
    const webPubSub = { ...read, service: 'webpubsub' as const };
    assert.ok(loadNumbers(webPubSub).bytesPerSecond > 0, 'no table has it');
  });

  it('say MB as the estimate does', () => {
    const scenario = scenarioOf('sendToGroup', 'groupCount: 20, messageSize: 2KB');
    assert.match(formatLoadNumbers(loadNumbers(scenario)), /2,000 msg\/s out \(4\.4 MB\/s\)/);
    const found = scenarioEstimate(scenario);
    assert.ok('estimate' in found);
    assert.match(found.estimate.formula.join(), /2,000 msg\/s × 2 KB = 4 MB\/s/);
  });

  it('are there for messages that no service takes', () => {
    const scenario = scenarioOf('restSendToUser', 'messageSize: 2MB', ', service: signalr');
    assert.ok('problem' in scenarioEstimate(scenario));
    assert.equal(loadNumbers(scenario).bytesPerSecond, 200 * 2 * 2 * 1024 * 1024);
  });
});
