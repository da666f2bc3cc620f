import assert from 'node:assert/strict';
import { maxSources } from '../../../../src/base/message';
import { notRunnable } from '../../../../src/scenario/check/notRunnable';
import { useCases } from '../../../../src/usecases/registry';
import { problemOf, scenarioOf, withConfig } from '../parsed';

const sdkMessagePack = ['driver: sdk', 'protocol: messagepack'];
const invoke = (argument: string): string =>
  `scenario:\n  name: invoke\n  parameters:\n    method: M\n    arguments: [[{ a: '${argument}' }]]\n`;

const classic = (useCase: string): string =>
  `${withConfig('connectionType: AspNet')}scenario:\n  name: ${useCase}\n`;
const service = 'Endpoint=https://a.service.signalr.net;AccessKey=abc;Version=1.0;';

describe('what this version cannot run', () => {
  const reasons: [text: string, reason: RegExp][] = [
    ['kind: resultparser\n', /resultparser/],
    [classic('streamingEcho'), /streamingEcho opens streams, and ASP\.NET SignalR has none/],
    [classic('restSendToUser'), /clients are those of ASP\.NET Core SignalR/],
    [classic('restPersistBroadcast'), /clients are those of ASP\.NET Core SignalR/],
    [
      `${withConfig('connectionType: AspNet')}scenario:\n  name: session\n  parameters:\n    steps: [{ stream: S }]\n`,
      /session opens streams/,
    ],
    [withConfig('connectionType: AspNet', 'driver: sdk'), /leave driver out/],
    [withConfig('connectionType: AspNet', 'skipNegotiation: true'), /always negotiate/],
    [withConfig('connectionType: AspNet', 'service: webpubsub'), /remove connectionType/],
    [
      withConfig('connectionType: AspNet').replace('target: local', `connectionString: ${service}`),
      /reach Azure SignalR Service through an app of \.NET Framework.*webAppTarget/,
    ],
    [withConfig('dialect: measure', ...sdkMessagePack), /cannot write ticks.*driver to native/],
    [`${withConfig(...sdkMessagePack)}${invoke('{ticks}')}`, /cannot write ticks/],
  ];
  for (const [text, reason] of reasons) {
    it(`is reported as one sentence: ${String(reason)}`, () => {
      const sentence = notRunnable(scenarioOf(text));
      assert.match(sentence ?? '', reason);
      assert.match(sentence ?? '', /^[^.]*\S.*\.$/);
    });
  }

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

  it('is reported when the file is checked, at the key it is about', () => {
    for (const [text, place] of [
      [classic('streamingEcho'), 'AspNet'],
      [withConfig('dialect: measure', ...sdkMessagePack), 'sdk'],
      [withConfig('service: webpubsub', 'driver: sdk', 'subprotocol: none'), 'none'],
    ] as const) {
      const found = problemOf(text, 'not-runnable');
      assert.equal(found.severity, 'warning');
      assert.equal(found.message, notRunnable(scenarioOf(text)));
      assert.equal(text.slice(found.offset, found.offset + found.length), place);
    }
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

  it('is the official client of Azure Web PubSub in what it does not speak', () => {
    const sdk = (service: string): string | undefined =>
      notRunnable(
        scenarioOf(
          `config: { target: local, connections: 10, driver: sdk, service: ${service} }\nscenario: { name: echo }\n`,
        ),
      );
    for (const service of ['signalr', 'webpubsub', 'webpubsub, subprotocol: reliableJson'])
      assert.equal(sdk(service), undefined);
    for (const other of ['protobuf', 'reliableProtobuf', 'none'])
      assert.match(
        sdk(`webpubsub, subprotocol: ${other}`)!,
        new RegExp(`not ${other}: .* leave driver out`),
      );
  });

  it('is no transport, protocol or ramp mode, and no ticks where they can be sent', () => {
    for (const text of [
      ...['ServerSentEvents', 'LongPolling'].map((each) => withConfig(`transport: ${each}`)),
      withConfig('protocol: messagepack', 'transport: LongPolling'),
      withConfig('dialect: measure', 'driver: sdk'),
      withConfig('dialect: measure', 'protocol: messagepack'),
      withConfig(...sdkMessagePack),
      `${withConfig(...sdkMessagePack)}${invoke('at {ticks}')}`,
      `${withConfig('driver: sdk')}${invoke('{ticks}')}`,
      withConfig('arrivingBatchMode: LowPress'),
    ])
      assert.equal(notRunnable(scenarioOf(text)), undefined);
  });
});
