import assert from 'node:assert/strict';
import { maxSources } from '../../../../src/base/message';
import { notRunnable } from '../../../../src/scenario/check/notRunnable';
import { useCases } from '../../../../src/usecases/registry';
import { scenarioOf, testProblems, withConfig } from '../parsed';

const classic = (useCase: string): string =>
  `${withConfig('connectionType: AspNet')}scenario:\n  name: ${useCase}\n`;
const service = 'Endpoint=https://a.service.signalr.net;AccessKey=abc;Version=1.0;';

describe('what this version cannot run', () => {
  const classicFile = 'connectionType: AspNet';
  const sdk = 'driver: sdk // protocol: messagepack';
  testProblems(`
    classic streams | ${classicFile} | scenario: { name: streamingEcho } | warning not-runnable "AspNet" | ^streamingEcho opens streams, and ASP\\.NET SignalR has none[^.]*\\.
    classic REST | ${classicFile} | scenario: { name: restSendToUser } | warning not-runnable "AspNet" | clients are those of ASP\\.NET Core SignalR
    classic lasting connections | ${classicFile} | scenario: { name: restPersistBroadcast } | warning not-runnable "AspNet" | clients are those of ASP\\.NET Core SignalR
    classic official clients | ${classicFile} // driver: sdk | | warning not-runnable "AspNet" | leave driver out
    classic without negotiate | ${classicFile} // skipNegotiation: true | | warning not-runnable "AspNet" | always negotiate
    classic Web PubSub | ${classicFile} // service: webpubsub | | warning not-runnable "AspNet" | remove connectionType
    ticks of the official client | dialect: measure // ${sdk} | | warning not-runnable "sdk" | cannot write ticks.*driver to native
    ticks in an argument | ${sdk} | scenario: { name: invoke, parameters: { method: M, arguments: [[{ a: '{ticks}' }]] } } | warning not-runnable "sdk" | cannot write ticks
    ticks in a text | ${sdk} | scenario: { name: invoke, parameters: { method: M, arguments: ['at {ticks}'] } } | none
    ticks in JSON | driver: sdk | scenario: { name: invoke, parameters: { method: M, arguments: ['{ticks}'] } } | none
    measure in JSON | dialect: measure // driver: sdk | | none
    measure in messagepack | dialect: measure // protocol: messagepack | | none
    the official client in messagepack | ${sdk} | | none
    server-sent events | transport: ServerSentEvents | | none
    long polling | protocol: messagepack // transport: LongPolling | | none
    a ramp mode | arrivingBatchMode: LowPress | | none
    the official client | driver: sdk // service: signalr | | none
    the official client of Web PubSub | driver: sdk // service: webpubsub // subprotocol: reliableJson | | none
    its protobuf | driver: sdk // service: webpubsub // subprotocol: protobuf | | warning not-runnable "protobuf" | not protobuf: .* leave driver out
    its reliable protobuf | driver: sdk // service: webpubsub // subprotocol: reliableProtobuf | | warning not-runnable "reliableProtobuf" | not reliableProtobuf: .* leave driver out
    its plain WebSockets | driver: sdk // service: webpubsub // subprotocol: none | | warning not-runnable "none" | not none: .* leave driver out
  `);

  it('is reading counters, classic clients of a service, and streams of their sessions', () => {
    const aspNet = withConfig('connectionType: AspNet');
    const steps = 'scenario:\n  name: session\n  parameters:\n    steps: [{ stream: S }]\n';
    for (const [text, reason] of [
      ['kind: resultparser\n', /resultparser/],
      [`${aspNet}${steps}`, /session opens streams/],
      [
        aspNet.replace('target: local', `connectionString: ${service}`),
        /reach Azure SignalR Service through an app of \.NET Framework.*webAppTarget/,
      ],
    ] as const)
      assert.match(notRunnable(scenarioOf(text)) ?? '', reason);
  });

  it('is more sources than can be distinguished, by one', () => {
    const groups = (connections: number): string =>
      `${withConfig(`connections: ${connections}`)}scenario:\n  name: sendToGroup\n  parameters: { groupCount: 1000, groupsPerConnection: 1000 }\n`;
    const most = Math.floor(maxSources / 1000);
    assert.equal(notRunnable(scenarioOf(groups(most))), undefined);
    assert.match(notRunnable(scenarioOf(groups(most + 1))) ?? '', /more than one run can follow/);
  });

  it('is sending to another connection where no process or agent has two', () => {
    const session =
      "session\n  parameters:\n    sessionInterval: 1s\n    steps: [{ call: Say, arguments: ['{receiver}', '{text:60B}'], reply: callback, callback: Said, receivers: client }]";
    const cases = [
      ['processes', 'process', 'sendToClient'],
      ['agents', 'agent', 'sendToClient'],
      ['processes', 'process', session],
    ] as const;
    let name = 'sendToClient';
    const found = (...config: string[]): string =>
      notRunnable(scenarioOf(`${withConfig(...config)}scenario:\n  name: ${name}\n`)) ?? '';
    for (const [key, what, useCase] of cases) {
      name = useCase;
      const words = `another connection of the same ${what}, and none of 4 has two of 4 connections`;
      assert.ok(found('connections: 4', `${key}: 4`).includes(words), key);
      assert.equal(found('connections: 5', `${key}: 4`), '', key);
    }
    assert.equal(found('connections: 4'), '');
    const echo = withConfig('connections: 4', 'processes: 4');
    assert.equal(notRunnable(scenarioOf(echo)), undefined);
  });

  it('is no use case, alone or in a mix', () => {
    for (const { name } of useCases) {
      const alone = `${withConfig()}scenario:\n  name: ${name}\n  parameters:\n    groupCount: 10\n`;
      assert.equal(notRunnable(scenarioOf(alone)), undefined, name);
      const mix = `${withConfig()}scenarios: [{ name: echo }, { name: ${name} }]\n`;
      assert.equal(notRunnable(scenarioOf(mix)), undefined, name);
    }
  });

  it('is none of the use cases that clients of ASP.NET SignalR can run', () => {
    const named = ['echo', 'broadcast', 'sendToClient', 'sendToGroup', 'frequentJoinLeaveGroup'];
    for (const name of [...named, 'connectOnly', 'invoke', 'session'])
      assert.equal(notRunnable(scenarioOf(classic(name))), undefined, name);
  });
});
