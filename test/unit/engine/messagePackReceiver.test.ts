import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { StepSample } from '../../../src/measure/sample';
import { populationsOf } from '../../../src/plan/population';
import { Receiver } from '../../../src/engine/receive/receiver';
import { Recorder } from '../../../src/engine/recorder';
import { messagePackCodec } from '../../../src/wire/message/hubCodec';
import { HubMessageError, type HubMessage } from '../../../src/wire/message/hubMessage';
import {
  framed,
  arrayHead,
  encodeText,
  encodeValue,
  mapHead,
} from '../../../src/wire/message/messagePack';
import {
  emptyStamp,
  stampKey,
  stampLength,
  writeStamp,
  type Stamp,
} from '../../../src/wire/message/stamp';
import { FakeConnection } from '../../fakes/connection';
import { planOf } from '../../fakes/plan';

const plan = planOf({ protocol: 'messagepack' });
const { encode } = messagePackCodec;

function stampText(changes: Partial<Stamp>): string {
  const buffer = Buffer.alloc(stampLength);
  const stamp = { ...emptyStamp(), runId: plan.runId, step: 1, intendedUs: 100, sentUs: 300 };
  writeStamp(buffer, 0, { ...stamp, ...changes });
  return buffer.toString('latin1');
}

const call = (target: string, ...args: unknown[]): Buffer =>
  encode({ type: 1, target, arguments: args });

/** Ways in which a hub may write the same delivery. */
const encodings = {
  asSent: (stamp: string) =>
    call('RecordLatency', {
      [stampKey]: stamp,
      'payload.Timestamp': 1_800_000_000_000,
      'payload.MessageBlob': 'x'.repeat(100),
    }),
  withReceiver: (stamp: string) =>
    call('RecordLatency', {
      [stampKey]: stamp,
      'information.GroupName': 'g',
      'payload.Timestamp': 1_800_000_000_000,
      'payload.MessageBlob': new Uint8Array(300),
    }),
  reordered: (stamp: string) =>
    call('RecordLatency', { 'payload.MessageBlob': 'x', [stampKey]: stamp }),
  lowerCase: (stamp: string) => call('recordlatency', { [stampKey]: stamp }, 7),
  // [1, {a: 'b'}, nil, 'RecordLatency', [{stamp}]] with wide heads
  wide: (stamp: string) =>
    framed([
      Buffer.from([0xdc, 0, 5, 0xd0, 1]),
      encodeValue({ a: 'b' }),
      Buffer.from([0xc0]),
      encodeText('RecordLatency'),
      Buffer.from([0xdd, 0, 0, 0, 1, 0xde, 0, 1]),
      encodeText(stampKey),
      Buffer.from([0xda, 0, stampLength]),
      Buffer.from(stamp, 'latin1'),
    ]),
} as const;
type Encoding = keyof typeof encodings;

/** What sockets read into; it holds something else as soon as a call is over. */
const shared = Buffer.alloc(64 * 1024);

/** A receiver with what it reported. */
class Bench {
  readonly recorder = new Recorder();
  readonly step = this.recorder.beginStep(1);
  readonly others: HubMessage[] = [];
  private readonly receiver = new Receiver(plan, populationsOf(plan), this.recorder, {
    nowUs: () => 1000,
    members: { wasMember: () => true, changedNear: () => false },
    other: (_connection, message) => this.others.push(message),
  });

  /** Delivers bytes of one WebSocket message with a header of 4 bytes, as a chunk in a larger buffer. */
  deliver(to: number, ...messages: readonly Uint8Array[]): void {
    const bytes = Buffer.concat(messages);
    shared.fill(0x91);
    bytes.copy(shared, 9);
    const connection = new FakeConnection(to).asHub;
    this.receiver.received(connection, shared, 9, 9 + bytes.length, bytes.length + 4);
    shared.fill(0x23);
  }

  take(): StepSample | undefined {
    return this.recorder.take(0, 1, { step: 0, elapsedUs: 0, busyUs: 0, gcUs: 0 }).steps[0];
  }
}

describe('Receiver of MessagePack', () => {
  for (const encoding of Object.keys(encodings) as Encoding[]) {
    it(`counts a delivery written ${encoding} with its latencies, again and again`, () => {
      const bench = new Bench();
      const write = encodings[encoding];
      for (const sequence of [0, 1, 2]) bench.deliver(3, write(stampText({ source: 3, sequence })));
      const sample = bench.take();
      assert.equal(sample?.received, 3);
      assert.deepEqual([...sample.latency!.pairs], [900, 3]);
      assert.deepEqual([...sample.sendLatency!.pairs], [700, 3]);
      assert.equal(sample.wireBytesOut, 3 * (write(stampText({})).length + 4));
      assert.deepEqual(bench.others, []);
    });
  }

  it('counts each of several deliveries in one WebSocket message, its header once', () => {
    const bench = new Bench();
    const list = [0, 1, 2].map((sequence) => encodings.asSent(stampText({ source: 2, sequence })));
    bench.deliver(2, encode({ type: 6 }), ...list, encode({ type: 6 }));
    const sample = bench.take();
    assert.equal(sample?.received, 3);
    // The header belongs to the first message, which is no delivery.
    assert.equal(sample.wireBytesOut, Buffer.concat(list).length);
    assert.deepEqual(bench.others, [{ type: 6 }, { type: 6 }]);
  });

  it('hands on what is no delivery and ignores what it does not know', () => {
    const bench = new Bench();
    const others: HubMessage[] = [
      { type: 3, invocationId: '1', result: 'id' },
      { type: 1, target: 'OnConnected', arguments: ['id'] },
      { type: 1, target: 'RecordLatency', arguments: [] },
      { type: 1, target: 'RecordLatency', arguments: [null] },
      { type: 1, target: 'RecordLatency', arguments: [{ [stampKey]: 5 }] },
      { type: 7, error: 'gone', allowReconnect: false },
    ];
    bench.deliver(1, ...others.map(encode), framed([Buffer.from([0x91, 99])]));
    assert.deepEqual(bench.others, others);
    assert.deepEqual(
      bench.take()!.pushed!.map(({ name, messages }) => [name, messages]),
      [
        ['OnConnected', 1],
        ['RecordLatency', 3],
      ],
    );
  });

  it('refuses what is cut off, without looking behind its end', () => {
    const whole = encodings.asSent(stampText({ source: 1 }));
    for (let length = 1; length < whole.length; length += 7) {
      const bench = new Bench();
      assert.throws(() => bench.deliver(1, whole.subarray(0, length)), HubMessageError);
      assert.equal(bench.take(), undefined);
    }
  });

  it('reads no stamp beyond the end of a message that begins like a delivery', () => {
    const bench = new Bench();
    const head = [Buffer.from([0x96, 1, 0x80, 0xc0]), encodeText('RecordLatency')];
    const begun = [
      ...head,
      arrayHead(1),
      mapHead(3),
      encodeText(stampKey),
      Buffer.from([0xd9, 54]),
    ];
    assert.throws(
      () => bench.deliver(1, framed(begun), Buffer.from(stampText({ source: 1 }))),
      HubMessageError,
    );
    assert.equal(bench.take(), undefined);
  });

  it('counts the same whether it reads stamps in place or parses every message', () => {
    const delivery = fc.record({
      to: fc.nat(4),
      encoding: fc.constantFrom<Encoding>('asSent', 'asSent', 'withReceiver', 'reordered', 'wide'),
      source: fc.nat(4),
      sequence: fc.nat(12),
    });
    const property = fc.property(fc.array(delivery, { maxLength: 60 }), (deliveries) => {
      const inPlace = new Bench();
      // Its encodings differ in length.
      const counts = (bench: Bench): unknown => {
        const sample = bench.take();
        return sample === undefined ? undefined : { ...sample, wireBytesOut: 0 };
      };
      const parsed = new Bench();
      for (const { to, encoding, source, sequence } of deliveries) {
        const stamp = stampText({ source, sequence });
        inPlace.deliver(to, encodings[encoding](stamp));
        parsed.deliver(to, encodings.lowerCase(stamp));
      }
      assert.deepEqual(counts(inPlace), counts(parsed));
    });
    fc.assert(property, { numRuns: 200 });
  });
});
