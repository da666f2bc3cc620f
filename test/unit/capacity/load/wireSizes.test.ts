import assert from 'node:assert/strict';
import {
  wireSizes,
  messageSizeProblems,
  messageSizeRefusal,
} from '../../../../src/capacity/load/wireSizes';
import type { Scenario, ScenarioEntry } from '../../../../src/scenario/scenario';
import { payloadOf, hubRunOf } from '../../../../src/usecases/useCase';
import { findUseCase } from '../../../../src/usecases/registry';
import { userIdOf } from '../../../../src/wire/connect/accessTokens';
import {
  measureShape,
  recordLatencyShape,
  streamLayoutFor,
  type HoleLengths,
  type MessageShape,
} from '../../../../src/wire/message/messageLayout';
import { type HubCodec, jsonCodec, messagePackCodec } from '../../../../src/wire/message/hubCodec';
import { codecForProtocol } from '../../../../src/wire/connect/connectHub';
import { restBodyLayout } from '../../../../src/wire/rest/restCalls';
import { encodeServiceMessage } from '../../../../src/wire/service/serviceMessage';
import { writeJsonServerMessage } from '../../../../src/wire/webpubsub/jsonMessages';
import { writeProtobufServerMessage } from '../../../../src/wire/webpubsub/protobufMessages';
import type { DataMessage } from '../../../../src/wire/webpubsub/pubSubMessage';
import { messages, scenarioWith } from '../scenarios';
import { say } from '../../../../src/base/sentence';
import { scenarioEstimate } from '../../../../src/capacity/estimate';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { goodScenario, rowsOf } from '../../scenario/parsed';

const connectionId = 'C'.repeat(22);
const runId = 0xfedcba98;
/** Payloads at which lengths get another byte somewhere. */
const payloads = [54, 100, 127, 255, 256, 2048, 16_384, 65_535, 65_536, 1_048_576];

const entryOf = (name: string, more: object = {}): ScenarioEntry => ({
  name,
  parameters: { ...messages, ...more },
});

function sizesOf(
  changes: Partial<Scenario>,
  entry: ScenarioEntry,
  bytes: number,
): ReturnType<typeof wireSizes>[number] {
  const scenario = scenarioWith({ ...changes, entries: [entry] });
  return wireSizes(scenario, entry, [{ bytes, weight: 1 }])[0]!;
}

function shapeOf(
  name: string,
  method: 'sent' | 'called',
  bytes: number,
  { measures = false, binary = false } = {},
): MessageShape {
  const { message } = hubRunOf(findUseCase(name)!, messages);
  const blob = 'x'.repeat(bytes);
  const { receiverKey } = message!;
  const hasReceiver = receiverKey !== undefined && (!measures || method === 'sent');
  const content = { blob, binary, ...(hasReceiver && { receiverKey }) };
  if (measures)
    return measureShape({
      method: method === 'sent' ? message!.measureMethod! : 'Measure',
      ...content,
    });
  return recordLatencyShape({
    method: method === 'sent' ? message!.method : 'RecordLatency',
    ...content,
  });
}

const lengthsFor = (receiver: number): HoleLengths => ({ receiver, sender: 0, senderIndex: 1 });
const encoded = (codec: HubCodec, shape: MessageShape, receiver: number): Buffer =>
  codec.layout(shape, lengthsFor(receiver)).body;
const toAppServer = (payload: Buffer): number =>
  encodeServiceMessage({ type: 6, connectionId, payload }).length;

const items = { streamingItemCount: 2, streamingItemSendDelay: 0 };
const codecs = { json: jsonCodec, messagepack: messagePackCodec } as const;

describe('wireSizes', () => {
  for (const [protocol, codec] of Object.entries(codecs) as [keyof typeof codecs, HubCodec][]) {
    for (const measures of [false, true]) {
      const dialect = measures ? 'measure' : 'auto';
      for (const name of ['echo', 'broadcast', 'sendToClient', 'sendToGroup']) {
        it(`are those of the encoder: ${name} in ${protocol}, dialect ${dialect}`, () => {
          const entry = entryOf(name, name === 'sendToGroup' ? { groupCount: 300 } : {});
          const group = `sendToGroup_${runId.toString(16)}_299`.length;
          const receiver = name === 'sendToGroup' ? group : connectionId.length;
          for (const bytes of payloads) {
            const found = sizesOf({ protocol, dialect }, entry, bytes);
            const called = encoded(codec, shapeOf(name, 'called', bytes, { measures }), receiver);
            const sent = encoded(codec, shapeOf(name, 'sent', bytes, { measures }), receiver);
            assert.equal(found.toClient, called.length, `${bytes} to the client`);
            assert.equal(found.sent, sent.length, `${bytes} to the service`);
            assert.equal(found.toApplication, toAppServer(sent), `${bytes} to the app server`);
          }
        });
      }
    }

    it(`are those of the encoder: items of streams in ${protocol}`, () => {
      const layout = streamLayoutFor(protocol);
      for (const bytes of payloads) {
        const [payload] = recordLatencyShape({ method: 'Any', blob: 'x'.repeat(bytes) }).arguments;
        const found = sizesOf({ protocol }, entryOf('streamingEcho', items), bytes);
        const item = layout.item(payload!, lengthsFor(0)).body.length;
        assert.equal(found.toClient, item);
        assert.equal(found.toApplication, toAppServer(Buffer.alloc(item)));
      }
      const download = entryOf('streamingEcho', {
        ...{ ...items, streamDirection: 'download' },
      });
      // A hub numbers the items that it makes; their beginnings differ by that.
      const numbered = layout.numbered.body.length - layout.echoed.body.length;
      const echoed = sizesOf({ protocol }, entryOf('streamingEcho', items), 2048);
      assert.equal(sizesOf({ protocol }, download, 2048).toClient, echoed.toClient + numbered);
    });

    it(`are those of the encoder: calls of one's own in ${protocol}`, () => {
      const invocation = (args: readonly unknown[]): number =>
        codec.encode({ type: 1, target: 'Said', arguments: args }).length;
      const own = (parameters: object): ScenarioEntry => ({
        name: 'invoke',
        parameters: {
          sendingInterval: 1000,
          method: 'Say',
          arguments: '["{text:500}"]',
          ...parameters,
        },
      });
      // In JSON the arguments count as they are written: brackets and quotes with the text.
      const bytes = protocol === 'json' ? 504 : 1 + 3 + 500;
      const called = sizesOf(
        { protocol },
        own({ reply: 'callback', callback: 'Said', receivers: 'self' }),
        bytes,
      );
      assert.equal(called.toClient, invocation(['x'.repeat(500)]));
      const answered = sizesOf({ protocol }, own({ reply: 'completion' }), bytes);
      const stamp = 's'.repeat(54);
      const result = 'x'.repeat(protocol === 'json' ? 502 : 501);
      assert.equal(
        answered.toClient,
        codec.encode({ type: 3, invocationId: stamp, result }).length,
      );
      const sent = codec.encode({
        ...{ type: 1, invocationId: stamp, target: 'Say', arguments: ['x'.repeat(500)] },
      });
      assert.equal(answered.toApplication, toAppServer(sent));
    });
  }

  it('are those of the encoder: bytes in MessagePack', () => {
    for (const bytes of payloads) {
      const entry = entryOf('echo', { payload: 'binary' });
      const found = sizesOf({ protocol: 'messagepack' }, entry, bytes);
      const shape = shapeOf('echo', 'called', bytes, { binary: true });
      assert.equal(found.toClient, encoded(messagePackCodec, shape, 0).length);
    }
  });

  it('are bare messages to an upstream', () => {
    const found = sizesOf({ upstream: { port: 0 } }, entryOf('echo'), 2048);
    const sent = encoded(jsonCodec, shapeOf('echo', 'sent', 2048), 0);
    assert.equal(found.toApplication, sent.length - 1, 'without what marks its end');
  });

  it('are those of the encoder: REST calls', () => {
    const found = sizesOf({}, entryOf('restBroadcast'), 2048);
    assert.equal(
      found.toClient,
      encoded(jsonCodec, shapeOf('restBroadcast', 'called', 2048), 0).length,
    );
    const body = restBodyLayout('signalr')(
      shapeOf('restBroadcast', 'sent', 2048),
      lengthsFor(0),
    ).body;
    assert.equal(found.sent, body.length);
  });

  const subprotocols = {
    json: 'webpubsub',
    reliableJson: 'webpubsubReliable',
    none: 'webpubsubNone',
    protobuf: 'webpubsubProtobuf',
    reliableProtobuf: 'webpubsubReliableProtobuf',
  } as const;
  for (const subprotocol of Object.keys(subprotocols) as (keyof typeof subprotocols)[]) {
    it(`are those of the service's encoder: Web PubSub, ${subprotocol}`, () => {
      const plain = codecForProtocol('webpubsubNone');
      for (const [name, more] of [
        ['sendToGroup', { groupCount: 300 }],
        ['echo', {}],
        ['restBroadcast', {}],
        ['restSendToGroup', { groupCount: 300 }],
      ] as const) {
        for (const bytes of payloads) {
          const isGroup = name.endsWith('Group');
          const group = isGroup ? `${name}_${runId.toString(16)}_299` : undefined;
          const data = encoded(plain, shapeOf(name, 'sent', bytes), group?.length ?? 0);
          const isReliable = subprotocol.startsWith('reliable');
          const message: DataMessage = {
            type: 'message',
            from: isGroup ? 'group' : 'server',
            group,
            fromUserId: name === 'sendToGroup' ? userIdOf(runId, 1234) : undefined,
            sequenceId: isReliable ? 54_321 : undefined,
            payload: { dataType: subprotocol.endsWith('rotobuf') ? 'text' : 'json', bytes: data },
          };
          const written =
            subprotocol === 'none'
              ? data
              : subprotocol.endsWith('rotobuf')
                ? writeProtobufServerMessage(message)
                : writeJsonServerMessage(message);
          const scenario = { service: 'webpubsub', subprotocol } as const;
          const found = sizesOf(scenario, entryOf(name, more), bytes);
          assert.equal(found.toClient, written.length, `${name}, ${bytes}`);
          assert.equal(found.toApplication, data.length, 'to the event handler');
          const shape = shapeOf(name, 'sent', bytes);
          const asked = { ...shape, toGroup: name === 'sendToGroup', answered: true };
          const sent = name.startsWith('rest')
            ? restBodyLayout('webpubsub')(shape, lengthsFor(group?.length ?? 0)).body
            : encoded(codecForProtocol(subprotocols[subprotocol]), asked, group?.length ?? 0);
          assert.equal(found.sent, sent.length, `${name}, ${bytes}, to the service`);
        }
      }
    });
  }

  it('keep the weights of several sizes', () => {
    const parameters = { ...messages, messageSizes: '256B 90%, 16KB 10%' };
    assert.equal(payloadOf(parameters).sizes.at(-1)?.bytes, 16_384);
    const entry = { name: 'echo', parameters };
    const sizes = [
      { bytes: 256, weight: 90 },
      { bytes: 16_384, weight: 10 },
    ];
    const found = wireSizes(scenarioWith({ entries: [entry] }), entry, sizes);
    assert.deepEqual(
      found.map(({ weight, toClient }) => [weight, toClient]),
      [
        [90, 256 + 182],
        [10, 16_384 + 182],
      ],
    );
  });
});

const text = (config: string, name: string, parameters: string): string =>
  `config: { target: local, ${config}, connections: 100, baseSending: 1 }\nscenario: { name: ${name}, parameters: { ${parameters} } }\n`;

const scenarioOf = (...of: Parameters<typeof text>): Scenario => goodScenario(text(...of));

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
