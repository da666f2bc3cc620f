import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { EntrySample, StepSample } from '../../../../src/measure/sample';
import { createPayloadPicker } from '../../../../src/plan/draws';
import { populationsOf } from '../../../../src/plan/population';
import type { Plan } from '../../../../src/plan/plan';
import { Receiver } from '../../../../src/engine/receive/receiver';
import { Recorder, type StepRecorder } from '../../../../src/engine/recorder';
import { messagePackCodec } from '../../../../src/wire/message/hubCodec';
import { HubMessageError, type HubMessage } from '../../../../src/wire/message/hubMessage';
import {
  arrayHead,
  encodeText,
  encodeValue,
  withLengthPrefix,
  mapHead,
} from '../../../../src/wire/message/messagePack';
import {
  emptyStamp,
  stampKey,
  stampLength,
  writeStamp,
  type Stamp,
} from '../../../../src/wire/message/stamp';
import { FakeConnection } from '../../../fakes/connection';
import { planOf } from '../../../fakes/plan';

const separator = '\x1e';
const generator = { step: 0, elapsedUs: 0, busyUs: 0, gcUs: 0 };
const { runId } = planOf();

function stampText(changes: Partial<Stamp>): string {
  const buffer = Buffer.alloc(stampLength);
  writeStamp(buffer, 0, { ...emptyStamp(), runId, step: 1, ...changes });
  return buffer.toString('latin1');
}

/** Ways in which a hub may write the same delivery. */
const encodings = {
  asDotNet: (stamp: string) =>
    `{"type":1,"target":"RecordLatency","arguments":[{"${stampKey}":"${stamp}","payload.Timestamp":1,"payload.MessageBlob":"x"}]}`,
  reordered: (stamp: string) =>
    `{"arguments":[{"payload.MessageBlob":"x","${stampKey}":"${stamp}"}],"target":"RecordLatency","type":1}`,
  spaced: (stamp: string) =>
    `{ "type": 1, "target": "recordLatency", "arguments": [ { "${stampKey}": "${stamp}" } ] }`,
  escaped: (stamp: string) =>
    `{"type":1,"target":"RecordLatency","arguments":[{"${stampKey}":"\\u0053${stamp.slice(1)}"}]}`,
  streamed: (stamp: string) =>
    `{"type":1,"headers":{},"target":"RecordLatency","arguments":[{"${stampKey}":"${stamp}"},7]}`,
} as const;
type Encoding = keyof typeof encodings;

/** What sockets read into; it holds something else as soon as a call is over. */
const shared = Buffer.alloc(16_384);

/** A receiver for a plan, with what it reported. */
class Bench {
  readonly recorder: Recorder;
  readonly step: StepRecorder;
  readonly others: HubMessage[] = [];
  readonly away = new Set<number>();
  private nowUs = 0;
  private readonly receiver: Receiver;

  constructor(plan: Plan = planOf()) {
    this.recorder = new Recorder(0, undefined, plan.entries.length);
    this.step = this.recorder.beginStep(1);
    this.receiver = new Receiver(plan, populationsOf(plan), this.recorder, {
      nowUs: () => this.nowUs,
      members: { wasMember: (index) => !this.away.has(index), changedNear: () => false },
      other: (_connection, message) => this.others.push(message),
    });
  }

  /** Delivers hub messages in one WebSocket message with a header of 4 bytes, as a chunk in a larger buffer. */
  deliver(to: number | FakeConnection, texts: readonly string[], nowUs = 1000): void {
    const connection = typeof to === 'number' ? new FakeConnection(to) : to;
    const bytes = Buffer.from(texts.map((text) => text + separator).join(''));
    this.bytes(connection, bytes, nowUs);
  }

  bytes(connection: FakeConnection, bytes: Buffer, nowUs = 1000): void {
    this.nowUs = nowUs;
    shared.fill(separator).write('{"type":1');
    bytes.copy(shared, 9);
    const end = 9 + bytes.length;
    this.receiver.received(connection.asHub, shared, 9, end, bytes.length + 4);
    shared.fill('#');
  }

  take(): StepSample | undefined {
    return this.recorder.take(0, 1, generator).steps[0];
  }
}

const echoed = (index: number, sequence: number, changes: Partial<Stamp> = {}): string =>
  stampText({ source: index, sequence, intendedUs: 100, sentUs: 300, ...changes });

describe('Receiver', () => {
  for (const encoding of Object.keys(encodings) as Encoding[]) {
    it(`counts a delivery written ${encoding} with its latencies, again and again`, () => {
      const bench = new Bench();
      const connection = new FakeConnection(3);
      for (const sequence of [0, 1, 2])
        bench.deliver(connection, [encodings[encoding](echoed(3, sequence))]);
      const sample = bench.take();
      assert.equal(sample?.received, 3);
      assert.deepEqual([...sample.latency!.pairs], [900, 3]);
      assert.deepEqual([...sample.sendLatency!.pairs], [700, 3]);
      assert.equal(sample.wireBytesOut, 3 * (encodings[encoding](echoed(3, 0)).length + 1 + 4));
      assert.equal(connection.lastReceivedUs, 1000);
      assert.deepEqual(bench.others, []);
    });
  }

  it('recognises nothing by what the shared buffer holds later', () => {
    const bench = new Bench();
    bench.deliver(3, [encodings.reordered(echoed(3, 0))]);
    const lookalike = '#'.repeat(encodings.reordered('').indexOf('"}')) + echoed(3, 1);
    assert.throws(() => bench.deliver(3, [lookalike]), HubMessageError);
  });

  it('counts each of several deliveries in one WebSocket message, its header once', () => {
    const bench = new Bench();
    const texts = [0, 1, 2].map((sequence) => encodings.asDotNet(echoed(2, sequence)));
    bench.deliver(2, texts);
    const sample = bench.take();
    assert.equal(sample?.received, 3);
    assert.equal(sample.wireBytesOut, texts.join('').length + 3 + 4);
  });

  it('counts duplicates, overtaken ones, late ones and those not meant for the connection', () => {
    const bench = new Bench();
    const deliver = (to: number, source: number, sequence: number): void =>
      bench.deliver(to, [encodings.asDotNet(echoed(source, sequence))]);
    for (const sequence of [0, 2, 2, 1, 0]) deliver(4, 4, sequence);
    deliver(5, 4, 3);
    bench.away.add(6);
    deliver(6, 6, 0);
    bench.step.drained = true;
    deliver(4, 4, 3);
    const { received, duplicated, outOfOrder, late, extra, leaving, latency } = bench.take()!;
    assert.deepEqual(
      { received, duplicated, outOfOrder, late, extra, leaving },
      { received: 3, duplicated: 2, outOfOrder: 1, late: 1, extra: 1, leaving: 1 },
    );
    assert.deepEqual([...latency!.pairs], [900, 3]);
  });

  it('does not count warm-up, yet knows its sequence numbers', () => {
    const bench = new Bench();
    bench.deliver(1, [encodings.asDotNet(echoed(1, 0, { warmup: true }))]);
    assert.equal(bench.take(), undefined);
    bench.deliver(1, [encodings.asDotNet(echoed(1, 1)), encodings.asDotNet(echoed(1, 0))]);
    const { received, duplicated } = bench.take()!;
    assert.deepEqual([received, duplicated], [1, 1]);
  });

  it('counts messages of other runs and of steps that do not exist as pushed', () => {
    const bench = new Bench();
    for (const changes of [{ runId: 5 }, { step: 2 }, { step: 0 }, { step: 0x7fff }])
      bench.deliver(1, [encodings.asDotNet(echoed(1, 0, changes))]);
    const { received, extra, pushed } = bench.take()!;
    assert.deepEqual([received, extra], [0, 0]);
    const bytes = 4 * encodings.asDotNet(echoed(1, 0)).length;
    assert.deepEqual(pushed, [{ name: 'RecordLatency', messages: 4, bytes }]);
    assert.deepEqual(bench.others, []);
  });

  it('counts a source that the run does not have as not meant', () => {
    const bench = new Bench(planOf({ useCase: 'broadcast' }));
    for (const source of [9, 10, 2 ** 26, 2 ** 28 - 1])
      bench.deliver(1, [encodings.asDotNet(echoed(source, 0))]);
    const { received, extra } = bench.take()!;
    assert.deepEqual([received, extra], [1, 3]);
  });

  it('hands on what is no delivery, counts what the hub calls, and ignores what it does not know', () => {
    const bench = new Bench();
    const texts = [
      '{"type":6}',
      '{"type":3,"invocationId":"1"}',
      '{"type":1,"target":"OnConnected","arguments":["id"]}',
      '{"type":1,"target":"RecordLatency","arguments":[]}',
      '{"type":1,"target":"RecordLatency","arguments":[null]}',
      `{"type":1,"target":"RecordLatency","arguments":[{"${stampKey}":5}]}`,
    ];
    bench.deliver(1, [...texts, '{"type":99}']);
    assert.deepEqual(
      bench.others,
      texts.map((text) => JSON.parse(text) as HubMessage),
    );
    // All but the ping and what is of no type that a client knows; the header counts with the first.
    const [, completion, greeting, ...calls] = texts;
    const sum = (some: readonly string[], more: number): number =>
      some.reduce((total, { length }) => total + length + more, 0);
    const { wireBytesOut, pushed } = bench.take()!;
    assert.equal(wireBytesOut, sum([completion!, greeting!, ...calls], 1));
    assert.deepEqual(pushed, [
      { name: 'OnConnected', messages: 1, bytes: greeting!.length },
      { name: 'RecordLatency', messages: calls.length, bytes: sum(calls, 0) },
    ]);
  });

  it('counts what hubs push in the measured time alone, and under no more than a hundred names', () => {
    const bench = new Bench();
    bench.step.measuredFromUs = 2000;
    bench.step.measuredToUs = 3000;
    const call = (name: string): string => `{"type":1,"target":"${name}","arguments":[]}`;
    for (const us of [1999, 2000, 3000, 3001]) bench.deliver(1, [call('price')], us);
    for (let at = 0; at < 1000; at++)
      bench.deliver(at % 10, [call(`${at}`.padEnd(500, 'x'))], 2500);
    bench.deliver(1, [call('price')], 2600);
    const { pushed } = bench.take()!;
    assert.equal(pushed!.length, 101);
    assert.deepEqual([pushed![0]!.name, pushed![0]!.messages], ['price', 3]);
    const [rest] = pushed!.slice(-1);
    assert.equal(
      pushed!.reduce((sum, { messages }) => sum + messages, 0),
      1003,
    );
    assert.ok(pushed!.every(({ name }) => name.length <= 100));
    assert.equal(rest!.name, '…');
  });

  it('counts a delivery with a damaged stamp as an error that shows the first, and as nothing else', () => {
    const damages = fc.array(
      fc.record({
        encoding: fc.constantFrom<Encoding>('asDotNet', 'reordered', 'spaced'),
        at: fc.nat(stampLength - 1),
        by: fc.constantFrom(...Array.from('0123456789abcdefzZ')),
      }),
      { minLength: 1, maxLength: 20 },
    );
    const property = fc.property(damages, (list) => {
      const bench = new Bench();
      const whole = echoed(3, 0, { intendedUs: 3_160_000, sentUs: 3_160_100 });
      // What a delivery looks like is known by then.
      bench.deliver(3, [encodings.asDotNet(whole)]);
      bench.recorder.take(0, 1, generator);
      const texts = list
        .map(({ at, by, encoding }) => [encoding, whole.slice(0, at) + by + whole.slice(at + 1)])
        .filter(([, text]) => text !== whole) as [Encoding, string][];
      for (const [encoding, text] of texts) bench.deliver(3, [encodings[encoding](text)]);
      const { steps, errorExamples } = bench.recorder.take(0, 1, generator);
      if (texts.length === 0) return;
      assert.deepEqual(steps[0]!.errors, { other: texts.length });
      const { received, duplicated, extra } = steps[0]!;
      assert.deepEqual([received, duplicated, extra], [0, 0, 0]);
      assert.equal(errorExamples.length, 1);
      assert.ok(errorExamples[0]!.text.includes(texts[0]![1]), errorExamples[0]!.text);
    });
    fc.assert(property, { numRuns: 60 });
  });

  it('refuses what is cut off, without looking behind its end, and what is no hub message', () => {
    const whole = Buffer.from(encodings.asDotNet(echoed(1, 0)));
    for (const bytes of [whole, whole.subarray(0, 60), Buffer.from('{"type":1}\x1e')])
      assert.throws(() => new Bench().bytes(new FakeConnection(1), bytes), HubMessageError);
  });

  it('leaves the rest alone once the connection was given up', () => {
    const bench = new Bench();
    const connection = new FakeConnection(1);
    connection.isOpen = false;
    bench.deliver(connection, [encodings.asDotNet(echoed(1, 0))]);
    assert.equal(bench.take(), undefined);
  });

  it('counts the same whether it reads stamps in place or parses every message', () => {
    const deliveries = fc.array(
      fc.record({
        to: fc.nat(4),
        encoding: fc.constantFrom<Encoding>('asDotNet', 'asDotNet', 'reordered', 'spaced'),
        stamp: fc.record({
          source: fc.nat(4),
          sequence: fc.nat(12),
          warmup: fc.boolean(),
          runId: fc.constantFrom(runId, runId, runId, 1),
          step: fc.constantFrom(1, 1, 1, 2),
        }),
      }),
      { maxLength: 40 },
    );
    for (const useCase of ['echo', 'broadcast']) {
      const same = fc.property(deliveries, fc.integer({ min: 1, max: 4 }), (list, together) => {
        const quick = new Bench(planOf({ useCase, connections: 5 }));
        const slow = new Bench(planOf({ useCase, connections: 5 }));
        for (let at = 0; at < list.length; at += together) {
          const { to } = list[at]!;
          const group = list.slice(at, at + together);
          const texts = group.map(({ encoding, stamp }) => encodings[encoding](stampText(stamp)));
          quick.deliver(to, texts);
          // What stands before the stamp differs each time, so nothing is ever recognised.
          const unlike = group.map(
            ({ stamp }, index) =>
              `{"type":1,"pad":${at + index},"target":"RecordLatency","arguments":[{"${stampKey}":"${stampText(stamp)}"}]}`,
          );
          slow.deliver(to, unlike);
        }
        const [first, second] = [quick.take(), slow.take()];
        // Messages of other runs are pushed; those that are written otherwise have other sizes.
        const withoutBytes = ({ pushed = [], ...counts }: Partial<StepSample> = {}): unknown => ({
          ...{ ...counts, wireBytesOut: 0 },
          pushed: pushed.map(({ messages }) => messages),
        });
        assert.deepEqual(withoutBytes(first), withoutBytes(second));
      });
      fc.assert(same, { numRuns: 40 });
    }
  });
});

describe('received payload bytes', () => {
  const sizes = { messageSize: 46, messageSizes: '10B 50%, 40B 30%, 140B 20%' };
  const mixed = { ...sizes, sendingInterval: 10 };
  const plan = planOf({ parameters: mixed });

  it('are those of the sizes the sender has chosen, each first delivery once', () => {
    const bench = new Bench(plan);
    const picker = createPayloadPicker(plan.entries[0]!.payload.sizes, plan.seed);
    let expected = 0;
    for (let sequence = 0; sequence < 50; sequence++) {
      const text = encodings.asDotNet(stampText({ source: 3, sequence }));
      bench.deliver(3, sequence % 2 === 0 ? [text] : [text, text]);
      expected += picker.sizes[picker.pick(3, 0, sequence)]!;
    }
    assert.equal(bench.step.received, 50);
    assert.equal(bench.step.payloadBytesOut, expected);
  });

  it('follow the receiver where senders choose another one each time', () => {
    const parameters = { ...mixed, targets: 'random' };
    const random = planOf({ useCase: 'sendToClient', parameters });
    const bench = new Bench(random);
    const picker = createPayloadPicker(random.entries[0]!.payload.sizes, random.seed);
    let expected = 0;
    for (let receiver = 1; receiver < 10; receiver++) {
      bench.deliver(receiver, [encodings.asDotNet(stampText({ source: 0, sequence: 0 }))]);
      expected += picker.sizes[picker.pick(0, receiver, 0)]!;
    }
    assert.equal(bench.step.payloadBytesOut, expected);
  });
});

describe('Receiver of a mix', () => {
  it('counts a delivery for the entry its source belongs to, and in the sum', () => {
    const parameters = { messageSize: 5, sendingInterval: 100 };
    const echo = { useCase: 'echo', parameters };
    const bench = new Bench(
      planOf({ entries: [echo, { ...echo, parameters: { ...parameters, messageSize: 7 } }] }),
    );
    const { asDotNet } = encodings;
    bench.deliver(3, [asDotNet(echoed(3, 0)), asDotNet(echoed(13, 0)), asDotNet(echoed(13, 0))]);
    // Its own number in the other entry, and one that no entry has.
    bench.deliver(3, [asDotNet(echoed(14, 0)), asDotNet(echoed(20, 0))]);
    const sample = bench.take()!;
    const counts = ({ received, duplicated, extra, payloadBytesOut }: EntrySample): number[] => [
      ...[received, duplicated, extra, payloadBytesOut],
    ];
    assert.deepEqual(sample.entries!.map(counts), [
      [1, 0, 0, 5],
      [1, 1, 1, 7],
    ]);
    assert.deepEqual(counts(sample), [2, 1, 2, 12]);
    assert.deepEqual([...sample.latency!.pairs], [900, 2]);
    assert.deepEqual([...sample.entries![1]!.latency!.pairs], [900, 1]);
    assert.equal(bench.take(), undefined);
  });
});

describe('Receiver of MessagePack', () => {
  const plan = planOf({ protocol: 'messagepack' });
  const { encode } = messagePackCodec;
  const call = (target: string, ...args: unknown[]): Buffer =>
    encode({ type: 1, target, arguments: args });

  /** The same ways of the same delivery, and heads that are wider than they need be. */
  const packings = {
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
      withLengthPrefix([
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

  type Packing = keyof typeof packings;
  const deliver = (bench: Bench, to: number, ...messages: readonly Uint8Array[]): void =>
    bench.bytes(new FakeConnection(to), Buffer.concat(messages));

  for (const [packing, write] of Object.entries(packings))
    it(`counts a delivery written ${packing} with its latencies, again and again`, () => {
      const bench = new Bench(plan);
      for (const sequence of [0, 1, 2]) deliver(bench, 3, write(echoed(3, sequence)));
      const sample = bench.take();
      assert.equal(sample?.received, 3);
      assert.deepEqual([...sample.latency!.pairs], [900, 3]);
      assert.equal(sample.wireBytesOut, 3 * (write(echoed(3, 0)).length + 4));
      assert.deepEqual(bench.others, []);
    });

  it('counts each of several deliveries in one WebSocket message, its header once', () => {
    const bench = new Bench(plan);
    const list = [0, 1, 2].map((sequence) => packings.asSent(echoed(2, sequence)));
    deliver(bench, 2, encode({ type: 6 }), ...list, encode({ type: 6 }));
    const sample = bench.take();
    assert.equal(sample?.received, 3);
    // The header belongs to the first message, which is no delivery.
    assert.equal(sample.wireBytesOut, Buffer.concat(list).length);
    assert.deepEqual(bench.others, [{ type: 6 }, { type: 6 }]);
  });

  it('refuses what is cut off, and reads no stamp beyond the end of what begins like a delivery', () => {
    const whole = packings.asSent(echoed(1, 0));
    const head = [Buffer.from([0x96, 1, 0x80, 0xc0]), encodeText('RecordLatency'), arrayHead(1)];
    const begun = withLengthPrefix([
      ...head,
      mapHead(3),
      encodeText(stampKey),
      Buffer.from([0xd9, 54]),
    ]);
    const wrong = [[begun, Buffer.from(echoed(1, 0))]];
    for (let length = 1; length < whole.length; length += 7)
      wrong.push([whole.subarray(0, length)]);
    for (const messages of wrong) {
      const bench = new Bench(plan);
      assert.throws(() => deliver(bench, 1, ...messages), HubMessageError);
      assert.equal(bench.take(), undefined);
    }
  });

  it('counts the same whether it reads stamps in place or parses every message', () => {
    const delivery = fc.record({
      to: fc.nat(4),
      packing: fc.constantFrom<Packing>('asSent', 'asSent', 'withReceiver', 'reordered', 'wide'),
      source: fc.nat(4),
      sequence: fc.nat(12),
    });
    const property = fc.property(fc.array(delivery, { maxLength: 60 }), (deliveries) => {
      const [inPlace, parsed] = [new Bench(plan), new Bench(plan)];
      for (const { to, packing, source, sequence } of deliveries) {
        deliver(inPlace, to, packings[packing](echoed(source, sequence)));
        deliver(parsed, to, packings.lowerCase(echoed(source, sequence)));
      }
      // Its ways differ in length.
      const counts = (bench: Bench): unknown => ({ ...bench.take(), wireBytesOut: 0 });
      assert.deepEqual(counts(inPlace), counts(parsed));
    });
    fc.assert(property, { numRuns: 50 });
  });
});
