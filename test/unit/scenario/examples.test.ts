import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { notRunnable } from '../../../src/scenario/check/notRunnable';
import { parseScenario } from '../../../src/scenario/parseScenario';
import type { TargetSpec } from '../../../src/scenario/target/targetKinds';
import { stepsOf } from '../../../src/scenario/steps';
import { scenarioOf } from './parsed';

const read = (file: string): string => readFileSync(`examples/${file}`, 'utf8');
const files = readdirSync('examples').filter((file) => file.endsWith('.yaml'));

const hub: TargetSpec = { kind: 'hubUrl', urls: ['http://localhost:5050/signalrbench'] };
const service: TargetSpec = {
  kind: 'connectionString',
  value: 'Endpoint=https://xxx;AccessKey=xxx',
};
const message = { messageSize: 2048, sendingInterval: 1000 };
const groups = {
  ...message,
  groupCount: 500,
  groupsPerConnection: 1,
  sendersPer: 'connection',
  targets: 'fixed',
};

/** What the documentation of the Azure SignalR benchmark says each of its scenarios does. */
const seed: Record<string, { target: TargetSpec; senders: number[]; entry: object }> = {
  'echo.yaml': { target: hub, senders: [500, 1000], entry: { name: 'echo', parameters: message } },
  'echo-minimal.yaml': {
    target: hub,
    senders: [500, 1000],
    entry: { name: 'echo', parameters: message },
  },
  'echo-internalAppServer.yaml': {
    target: service,
    senders: [500, 1000],
    entry: { name: 'echo', parameters: message },
  },
  'broadcast.yaml': {
    target: hub,
    senders: [1],
    entry: { name: 'broadcast', parameters: message },
  },
  'sendToClient.yaml': {
    target: hub,
    senders: [500, 1000],
    entry: { name: 'sendToClient', parameters: { ...message, targets: 'fixed' } },
  },
  'sendToGroup.yaml': {
    target: hub,
    senders: [500, 1000],
    entry: { name: 'sendToGroup', parameters: groups },
  },
  'streamingEcho.yaml': {
    target: hub,
    senders: [500, 1000],
    entry: {
      name: 'streamingEcho',
      parameters: {
        messageSize: 1048,
        sendingInterval: 1000,
        streamingItemCount: 2,
        streamingItemSendDelay: 0,
        streamDirection: 'both',
      },
    },
  },
  'restBroadcast.yaml': {
    target: service,
    senders: [1],
    entry: { name: 'restBroadcast', parameters: message },
  },
  'restSendToUser.yaml': {
    target: service,
    senders: [500, 1000],
    entry: { name: 'restSendToUser', parameters: { ...message, targets: 'fixed' } },
  },
  'restSendToGroup.yaml': {
    target: service,
    senders: [500, 1000],
    entry: { name: 'restSendToGroup', parameters: groups },
  },
};

describe('the examples', () => {
  it('are the scenarios of the Azure SignalR benchmark and those with our keys', () => {
    const own = files.filter((file) => /\.signalr\.yaml$|^restPersist/.test(file));
    assert.deepEqual(files.sort(), [...Object.keys(seed), ...own].sort());
  });

  for (const file of files) {
    it(`${file} has neither errors nor warnings and begins with what it is`, () => {
      const { problems } = parseScenario(read(file));
      assert.deepEqual(
        problems.filter(({ severity }) => severity !== 'info'),
        [],
      );
      assert.match(read(file), /^# \S.*\.\n/);
    });
  }

  for (const [file, { target, senders, entry }] of Object.entries(seed)) {
    it(`${file} means what it meant to the Azure SignalR benchmark`, () => {
      const scenario = scenarioOf(read(file));
      assert.deepEqual(scenario.target, target);
      assert.deepEqual(scenario.service, target === service ? 'signalr' : 'hub');
      assert.deepEqual(scenario.entries, [entry]);
      assert.deepEqual(
        stepsOf(scenario).map((step) => step.senders),
        senders,
      );
    });
  }

  it('echo.yaml has the short steps and the debug output of the seed', () => {
    const { connections, singleStepDurationMs, debug } = scenarioOf(read('echo.yaml'));
    assert.deepEqual([connections, singleStepDurationMs, debug], [1000, 1000, true]);
  });

  it('connect-only.signalr.yaml runs, in two rounds without senders', () => {
    const scenario = scenarioOf(read('connect-only.signalr.yaml'));
    assert.equal(notRunnable(scenario), undefined);
    assert.deepEqual(
      stepsOf(scenario).map(({ senders, perEntry }) => [senders, perEntry]),
      [
        [0, [0]],
        [0, [0]],
      ],
    );
  });

  it('churn.signalr.yaml and reconnect-storm.signalr.yaml run, and say what comes back', () => {
    const [churn, storm] = ['churn', 'reconnect-storm'].map((name) =>
      scenarioOf(read(`${name}.signalr.yaml`)),
    );
    assert.deepEqual([notRunnable(churn!), notRunnable(storm!)], [undefined, undefined]);
    assert.deepEqual([churn!.lifetimeMs, churn!.repair], [60_000, true]);
    assert.deepEqual([storm!.dropAllAfterMs, storm!.reconnectPolicy], [10_000, 'signalr']);
  });

  it('mix.signalr.yaml runs, each use case with its part of the senders', () => {
    const scenario = scenarioOf(read('mix.signalr.yaml'));
    assert.equal(notRunnable(scenario), undefined);
    assert.deepEqual(
      stepsOf(scenario).map(({ senders, perEntry }) => [senders, perEntry]),
      [
        [100, [50, 5, 45]],
        [200, [100, 10, 90]],
      ],
    );
  });

  it('chat-room.signalr.yaml runs, in rooms of ten', () => {
    const scenario = scenarioOf(read('chat-room.signalr.yaml'));
    assert.equal(notRunnable(scenario), undefined);
    assert.deepEqual(
      stepsOf(scenario).map((step) => step.senders),
      [700, 1300, 1900],
    );
    // Whoever tries it looks at percentiles within seconds, and has a verdict within two minutes.
    const firstMs = (scenario.connections / scenario.arrivingRate) * 1000 + scenario.warmupMs;
    assert.ok(firstMs <= 10_000, `${firstMs} ms`);
    const stepMs = scenario.warmupMs + scenario.singleStepDurationMs + scenario.drainMs;
    assert.ok(firstMs + 3 * stepMs <= 120_000);
    assert.equal(scenario.connections / Number(scenario.entries[0]!.parameters['groupCount']), 10);
  });
});
