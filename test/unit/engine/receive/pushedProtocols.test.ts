import assert from 'node:assert/strict';
import type { WireProtocol } from '../../../../src/base/message';
import type { StepSample } from '../../../../src/measure/sample';
import { populationsOf } from '../../../../src/plan/population';
import { Receiver } from '../../../../src/engine/receive/receiver';
import { Recorder } from '../../../../src/engine/recorder';
import { classicCodec } from '../../../../src/wire/classic/classicCodec';
import { writeProtobufServerMessage } from '../../../../src/wire/webpubsub/protobufMessages';
import { FakeConnection } from '../../../fakes/connection';
import { planOf } from '../../../fakes/plan';

/** What a receiver of that protocol counts of these frames, one after the other. */
function sampleOf(protocol: WireProtocol, frames: readonly (string | Uint8Array)[]): StepSample {
  const plan = planOf({ protocol });
  const recorder = new Recorder(0, undefined, plan.entries.length);
  recorder.beginStep(1);
  const receiver = new Receiver(plan, populationsOf(plan), recorder, {
    nowUs: () => 1000,
    members: { wasMember: () => true, changedNear: () => false },
    other: () => undefined,
    ...(protocol === 'classic' && { codec: classicCodec('prices') }),
  });
  for (const frame of frames) {
    const bytes = Buffer.from(frame as string);
    receiver.received(new FakeConnection(1).asHub, bytes, 0, bytes.length, bytes.length + 2);
  }
  return recorder.take(0, 1, { step: 0, elapsedUs: 0, busyUs: 0, gcUs: 0 }).steps[0]!;
}

describe('what a server sends on its own', () => {
  it('counts by its name in ASP.NET SignalR, each of several in one frame', () => {
    const price = (value: string): string => `{"H":"Prices","M":"price","A":[${value}]}`;
    const alarm = '{"H":"Prices","M":"alarm","A":["fire",{"floor":3}]}';
    const frame = (...messages: string[]): string =>
      `{"C":"d-1,0|a,1","M":[${messages.join(',')}]}`;
    // An empty frame keeps the connection, an answer is none of its own.
    const frames = [
      ...['{}', frame(price('5'), alarm, price('"}],{"')), '{"R":7,"I":"0"}', frame(price('66'))],
    ];
    const { pushed, received, extra, wireBytesOut } = sampleOf('classic', frames);
    const sum = (...texts: string[]): number => texts.join('').length;
    assert.deepEqual(pushed, [
      {
        ...{ name: 'price', messages: 3 },
        bytes: sum(price('5'), price('"}],{"'), price('66')),
      },
      { name: 'alarm', messages: 1, bytes: alarm.length },
    ]);
    assert.deepEqual([received, extra], [0, 0]);
    // With the frames around them, but not what keeps the connection.
    assert.equal(
      wireBytesOut,
      frames.slice(1).reduce((total, { length }) => total + length + 2, 0),
    );
  });

  const data = '{"price":5}';
  const json = (more: string): string =>
    `{"type":"message",${more}"from":"server","dataType":"json","data":${data}}`;
  const payload = { dataType: 'json', bytes: Buffer.from(data) } as const;
  const protobuf = (sequenceId: number | undefined): Uint8Array =>
    writeProtobufServerMessage({
      ...{ type: 'message', from: 'server', group: undefined, fromUserId: undefined },
      ...{ sequenceId, payload },
    });
  const ways: [WireProtocol, string | Uint8Array][] = [
    ['webpubsub', json('')],
    ['webpubsubReliable', json('"sequenceId":1,')],
    ['webpubsubNone', data],
    ['webpubsubProtobuf', protobuf(undefined)],
    ['webpubsubReliableProtobuf', protobuf(1)],
  ];
  for (const [protocol, frame] of ways)
    it(`counts as message with Azure Web PubSub: ${protocol}`, () => {
      const { pushed, received, extra } = sampleOf(protocol, [frame, frame, frame]);
      assert.deepEqual(pushed, [{ name: 'message', messages: 3, bytes: 3 * frame.length }]);
      assert.deepEqual([received, extra], [0, 0]);
    });
});
