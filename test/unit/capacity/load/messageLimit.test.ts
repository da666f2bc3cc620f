import { say } from '../../../../src/base/sentence';
import assert from 'node:assert/strict';
import { scenarioEstimate } from '../../../../src/capacity/estimate';
import {
  messageSizeProblems,
  messageSizeRefusal,
  wireSizes,
} from '../../../../src/capacity/load/wireSizes';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Scenario } from '../../../../src/scenario/scenario';
import { rowsOf } from '../../scenario/parsed';

const text = (config: string, name: string, parameters: string): string =>
  `config: { target: local, ${config}, connections: 100, baseSending: 1 }\nscenario: { name: ${name}, parameters: { ${parameters} } }\n`;

function scenarioOf(config: string, name: string, parameters: string): Scenario {
  const { scenario, problems } = parseScenario(text(config, name, parameters));
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  );
  return scenario!;
}

/** The way of a message, and its bytes around a payload of one size, which the limit holds for. */
const limited = rowsOf(`
  service: signalr | restSendToUser | | Azure SignalR Service .* body of a REST call.* or take restPersistSendToUser\\.$
  service: signalr | restBroadcast | | or take restPersistBroadcast\\.$
  service: signalr | restSendToGroup | groupCount: 10, | or take restPersistSendToGroup\\.$
  service: signalr, transport: LongPolling | echo | | request of a client without WebSockets\\. Send less at a time\\.$
  service: webpubsub | restBroadcast | | Azure Web PubSub .* body of a REST call\\. Send less at a time\\.$
  service: webpubsub | sendToGroup | groupCount: 10, | frame of a client\\. Send less
  service: webpubsub, subprotocol: protobuf | sendToGroup | groupCount: 10, | frame of a client
  service: webpubsub, subprotocol: none | echo | | frame of a client
`) as [config: string, name: string, parameters: string, way: string][];

describe('the largest message', () => {
  for (const [config, name, more, way] of limited)
    it(`is 1 MB with its envelope: ${name}, ${config}`, () => {
      const mebibyte = 1024 * 1024;
      const of = (messageSize: number): Scenario =>
        scenarioOf(config, name, `${more}messageSize: ${messageSize}`);
      const whole = of(mebibyte);
      const [size] = wireSizes(whole, whole.entries[0]!, [{ bytes: mebibyte, weight: 1 }]);
      const around = size!.sent - mebibyte;
      const [fits, beyond] = [of(mebibyte - around), of(mebibyte - around + 1)];
      assert.equal(messageSizeRefusal(fits, fits.entries[0]!), undefined);
      const sentence = say(messageSizeRefusal(beyond, beyond.entries[0]!)!);
      assert.match(
        sentence,
        /^A message of \w+ is 1,048,577 bytes with its envelope, and .* takes at most 1,048,576 \(1 MB\) in /,
      );
      assert.match(sentence, new RegExp(way));
      assert.ok('estimate' in scenarioEstimate(fits));
      assert.deepEqual(scenarioEstimate(beyond), { problem: sentence });
    });

  it('is underlined at the key of its size, as a warning', () => {
    const source = text('service: webpubsub', 'restBroadcast', 'messageSizes: "1KB 99%, 2MB 1%"');
    assert.deepEqual(
      messageSizeProblems(parseScenario(source)).map(({ severity, offset, length }) => [
        severity,
        source.slice(offset, offset + length),
      ]),
      [['warning', '"1KB 99%, 2MB 1%"']],
    );
  });

  it('is underlined at the end of a range that a search goes through, and not by itself', () => {
    for (const [config, name, more] of limited) {
      const source = text(config, name, `${more}messageSize: 1KB`);
      const underlined = (search: string): string[] => {
        const whole = `search: ${search}\n${source}`;
        return messageSizeProblems(parseScenario(whole)).map(({ offset, length }) =>
          whole.slice(offset, offset + length),
        );
      };
      assert.deepEqual(underlined('{ of: messageSize, from: 1KB, to: 2MB }'), ['2MB'], name);
      assert.deepEqual(underlined('{ of: messageSize }'), [], `${name}, ${config}`);
      assert.deepEqual(underlined('{ of: senders, to: 100 }'), [], name);
    }
  });

  it('counts each call of a session, and what goes up in a stream, but not what comes down', () => {
    const slow = 'service: signalr, transport: LongPolling';
    const session = (size: string): Scenario =>
      scenarioOf(
        slow,
        'session',
        `sessionInterval: 10s, steps: [{ call: A, arguments: ['{text:1KB}'] }, { call: B, arguments: ['{text:${size}}'] }]`,
      );
    assert.match(
      say(messageSizeRefusal(session('2MB'), session('2MB').entries[0]!)!),
      /^A message of session/,
    );
    assert.equal(messageSizeRefusal(session('1000KB'), session('1000KB').entries[0]!), undefined);
    const stream = (streamDirection: string): string | undefined => {
      const scenario = scenarioOf(
        slow,
        'streamingEcho',
        `messageSize: 2MB, streamDirection: ${streamDirection}`,
      );
      const refused = messageSizeRefusal(scenario, scenario.entries[0]!);
      return refused && say(refused);
    };
    assert.match(stream('upload')!, /^A message of streamingEcho/);
    assert.equal(stream('download'), undefined);
  });

  it('has no limit over WebSockets of SignalR, over lasting connections, and without a service', () => {
    for (const [config, name] of [
      ['service: signalr', 'echo'],
      ['service: signalr', 'restPersistSendToUser'],
      ['transport: LongPolling', 'echo'],
    ] as const) {
      const scenario = scenarioOf(config, name, 'messageSize: 10MB');
      assert.equal(messageSizeRefusal(scenario, scenario.entries[0]!), undefined, name);
      assert.ok('estimate' in scenarioEstimate(scenario), name);
    }
  });
});
