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

const streams = {
  ...{ messageSize: 1048, sendingInterval: 1000, streamingItemCount: 2 },
  ...{ streamingItemSendDelay: 0, streamDirection: 'both' },
};
const [one, two] = [[1], [500, 1000]];

/** What the documentation of the Azure SignalR benchmark says each of its scenarios does. */
const seed: Record<string, readonly [TargetSpec, senders: number[], name: string, object]> = {
  'echo.yaml': [hub, two, 'echo', message],
  'echo-minimal.yaml': [hub, two, 'echo', message],
  'echo-internalAppServer.yaml': [service, two, 'echo', message],
  'broadcast.yaml': [hub, one, 'broadcast', message],
  'sendToClient.yaml': [hub, two, 'sendToClient', { ...message, targets: 'fixed' }],
  'sendToGroup.yaml': [hub, two, 'sendToGroup', groups],
  'streamingEcho.yaml': [hub, two, 'streamingEcho', streams],
  'restBroadcast.yaml': [service, one, 'restBroadcast', message],
  'restSendToUser.yaml': [service, two, 'restSendToUser', { ...message, targets: 'fixed' }],
  'restSendToGroup.yaml': [service, two, 'restSendToGroup', groups],
};

describe('the examples', () => {
  it('are the scenarios of the Azure SignalR benchmark and those with our keys', () => {
    const own = files.filter((file) => /\.signalr\.yaml$|^restPersist/.test(file));
    assert.deepEqual(files.sort(), [...Object.keys(seed), ...own].sort());
  });

  for (const file of files) {
    it(`${file} runs without errors or warnings and begins with what it is`, () => {
      const { scenario, problems } = parseScenario(read(file));
      assert.equal(notRunnable(scenario!), undefined);
      assert.deepEqual(
        problems.filter(({ severity }) => severity !== 'info'),
        [],
      );
      assert.match(read(file), /^# \S.*\.\n/);
    });
  }

  for (const [file, [target, senders, name, parameters]] of Object.entries(seed)) {
    it(`${file} means what it meant to the Azure SignalR benchmark`, () => {
      const scenario = scenarioOf(read(file));
      assert.deepEqual(scenario.target, target);
      assert.deepEqual(scenario.service, target === service ? 'signalr' : 'hub');
      assert.deepEqual(scenario.entries, [{ name, parameters }]);
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

  it('chat-room.signalr.yaml runs, in rooms of ten', () => {
    const scenario = scenarioOf(read('chat-room.signalr.yaml'));
    assert.equal(
      stepsOf(scenario)
        .map((step) => step.senders)
        .join(),
      '700,1300,1900',
    );
    // Whoever tries it looks at percentiles within seconds, and has a verdict within two minutes.
    const firstMs = (scenario.connections / scenario.arrivingRate) * 1000 + scenario.warmupMs;
    assert.ok(firstMs <= 10_000, `${firstMs} ms`);
    const stepMs = scenario.warmupMs + scenario.singleStepDurationMs + scenario.drainMs;
    assert.ok(firstMs + 3 * stepMs <= 120_000);
    assert.equal(scenario.connections / Number(scenario.entries[0]!.parameters['groupCount']), 10);
  });
});
