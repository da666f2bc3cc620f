import assert from 'node:assert/strict';
import type { Scenario } from '../../../src/scenario/scenario';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { loadNumbers } from '../../../src/run/loadNumbers';
import { howWords, loadWords, marksOf } from '../../../src/run/runWords';
import { sampleScenario } from '../results/sampleResult';

describe('loadWords', () => {
  it('counts the members of a group with all groups that a connection joins', () => {
    const { scenario } = parseScenario(
      'config: { connections: 20, baseSending: 20 }\n' +
        'scenario: { name: sendToGroup, parameters: { groupCount: 4, groupsPerConnection: 2 } }\n',
    );
    assert.ok(scenario);
    assert.match(loadWords(scenario), /groups of 10,/);
  });

  it('counts every call of a session, as often as it makes it', () => {
    const call = '{ call: Say, reply: none }';
    const words = (steps: string): string => {
      const { scenario } = parseScenario(
        `scenario: { name: session, parameters: { sessionInterval: 9s, steps: [${steps}] } }`,
      );
      return loadWords(scenario!);
    };
    assert.match(words(`${call}, { repeat: 4, steps: [${call}, ${call}] }`), /, 9 calls every 9 s/);
    assert.match(words(call), /, 1 call every 9 s/);
  });

  it('says how often the steps are run', () => {
    const words = loadWords({ ...sampleScenario, repeat: 5 });
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
    const words = loadWords(hostile);
    assert.match(words, / \+ 9,990 more, .* in 10,000 steps$/);
    assert.ok(words.length < 1500, `${words.length} characters`);
  });
});

describe('howWords', () => {
  it('says nothing of the usual way, however the dialect was found', () => {
    assert.equal(howWords(sampleScenario), '');
    assert.equal(howWords(sampleScenario, 'recordLatency'), '');
  });

  it('names each way that differs, and the dialect that was spoken before the one written', () => {
    const closed = { ...sampleScenario, transport: 'ServerSentEvents', pacing: 'closed' } as const;
    assert.equal(howWords(closed), 'over ServerSentEvents, closed pacing');
    const written = { ...sampleScenario, dialect: 'measure' } as const;
    assert.equal(howWords(written), 'dialect measure');
    assert.equal(howWords(written, 'recordLatency'), '');
    const packed = { ...sampleScenario, protocol: 'messagepack' } as const;
    assert.equal(howWords(packed), 'messagepack');
    assert.equal(howWords({ ...packed, connectionType: 'AspNet' }), '', 'it is JSON all the same');
  });

  it('comes after what has answered, where that was no service', () => {
    const closed = { ...sampleScenario, pacing: 'closed' } as const;
    const url = { kind: 'hubUrl', emulated: true } as const;
    assert.equal(marksOf({ ...sampleScenario, service: 'hub' }, { kind: 'hubUrl' }), '');
    assert.equal(
      marksOf({ ...closed, service: 'hub' }, url),
      'against the embedded hub, closed pacing',
    );
    assert.equal(
      marksOf({ ...closed, service: 'signalr' }, url),
      'against an emulator, closed pacing',
    );
    const text = { ...url, kind: 'connectionString' };
    assert.equal(marksOf({ ...sampleScenario, service: 'hub' }, text), 'against an emulator');
    const named = { ...sampleScenario, driver: 'emulator' } as unknown as Scenario;
    assert.equal(marksOf(named, {}), '', 'nothing of the file is believed');
  });

  it('repeats nothing of a file that it does not know', () => {
    const hostile = { transport: { toString: 1 }, protocol: '\u001b[2J', driver: 'toString' };
    assert.equal(howWords(hostile as unknown as Scenario), '');
  });
});
