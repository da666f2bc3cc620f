import assert from 'node:assert/strict';
import { noStamp, replayStartUs, replayFlag } from '../../../../src/plan/plan';
import {
  readReplay,
  replayBounds,
  type ReplayProtocol,
  type ReadReplay,
} from '../../../../src/record/replay/readReplay';
import type { Recording } from '../../../../src/record/recording';
import { listCalls } from '../../../../src/usecases/sessionSteps';
import { codecForProtocol } from '../../../../src/wire/connect/connectHub';
import { stampLength } from '../../../../src/wire/message/stamp';
import { MadeRecording } from '../analyse/madeRecording';

const read = (
  made: MadeRecording,
  protocol: ReplayProtocol = 'json',
  bounds = {},
): Promise<ReadReplay> => readReplay(made.recording, 'x', protocol, { ...replayBounds, ...bounds });

/** What the operations of a client are, as its hub would read them. */
function sentBy({ tracks, steps }: ReadReplay, client: number, protocol: ReplayProtocol = 'json') {
  const names = listCalls(steps).map(({ name }) => name);
  const { first, at, length, stampAt, bytes, dueUs, call, flags } = tracks;
  return Array.from(dueUs.subarray(first[client], first[client + 1]), (due, index) => {
    const number = first[client]! + index;
    const message = Buffer.from(bytes.subarray(at[number], at[number]! + length[number]!));
    if (stampAt[number] !== noStamp)
      message.fill(0x61, stampAt[number], stampAt[number]! + stampLength);
    const codec = codecForProtocol(protocol);
    const span = { start: 0, end: 0, next: 0 };
    codec.find(message, 0, message.length, span);
    assert.equal(span.next, message.length);
    const said = codec.read(message, span.start, span.end);
    return [due, names[call[number]!], flags[number], said] as const;
  });
}

const id = 'a'.repeat(stampLength);

describe('readReplay', () => {
  it('keeps each message of each client with its time, and what was answered', async () => {
    const made = new MadeRecording();
    made.at(1000).open(1).wait(10).call(1, 'Join', ['room']);
    made.at(1005).open(2).wait(20).send(2, 'Typing', []);
    made.at(1100).heard([1, 2], 'Posted', ['x']).close(1);
    made.at(1200).call(2, 'Refused', [{ a: 'ä"' }], { error: 'no' });
    made.at(1300).out(2, { type: 1, invocationId: 'open', target: 'Slow', arguments: [] });
    made.at(1400).out(2, { type: 6 });
    const replay = await read(made);
    const { answered, refused } = replayFlag;
    const called = { type: 1, invocationId: id };
    assert.deepEqual(sentBy(replay, 0), [
      [10_000, 'Join', answered, { ...called, target: 'Join', arguments: ['room'] }],
    ]);
    assert.deepEqual(sentBy(replay, 1), [
      [25_000, 'Typing', 0, { type: 1, target: 'Typing', arguments: [] }],
      [
        ...[200_000, 'Refused', answered | refused],
        { ...called, target: 'Refused', arguments: [{ a: 'ä"' }] },
      ],
      [300_000, 'Slow', 0, { ...called, target: 'Slow', arguments: [] }],
    ]);
    assert.deepEqual([...replay.tracks.payloadBytes], [8, 2, 14, 2]);
    assert.equal(replay.lengthUs, 400_000);
    assert.deepEqual(
      listCalls(replay.steps).map(({ name, step, times }) => [
        ...[name, step.kind === 'call' ? step.reply : step.kind, times],
      ]),
      [
        ['Join', 'completion', 0.5],
        ['Typing', 'none', 0.5],
        ['Refused', 'completion', 0.5],
        ['Slow', 'none', 0.5],
        ['Posted', 'on', 1],
      ],
    );
    assert.deepEqual([...replay.leftOut], []);
  });

  it('opens streams and cancels them, and counts their items', async () => {
    const made = new MadeRecording();
    made.open(1).at(10).stream(1, 'Count', [3], ['a', 'b', 'c']);
    made.at(50).out(1, { type: 4, invocationId: 'ticks', target: 'Ticks', arguments: [] });
    made.at(60).in(1, { type: 2, invocationId: 'ticks', item: 1 });
    made.at(70).out(1, { type: 5, invocationId: 'ticks' });
    made.at(80).in(1, { type: 3, invocationId: 'ticks' });
    const replay = await read(made);
    const { answered, cancels, isCancelled } = replayFlag;
    assert.deepEqual(sentBy(replay, 0), [
      ...[[10_000, 'Count', answered, [3]] as const].map(([due, name, flags, args]) => [
        ...[due, name, flags, { type: 4, invocationId: id, target: 'Count', arguments: args }],
      ]),
      [
        ...[50_000, 'Ticks', answered | isCancelled],
        { type: 4, invocationId: id, target: 'Ticks', arguments: [] },
      ],
      [70_000, 'Ticks', cancels, { type: 5, invocationId: id }],
    ]);
    assert.deepEqual([...replay.tracks.of], [0, 1, 1]);
    const names = listCalls(replay.steps).map(({ name }) => name);
    assert.deepEqual(names, ['Count', 'Ticks', 'Count items', 'Ticks items']);
    assert.deepEqual(replay.tracks.itemsOf, [2, 3]);
  });

  for (const protocol of ['json', 'messagepack'] as const)
    it(`sends streams that go up, item by item (${protocol})`, async () => {
      const made = new MadeRecording();
      made.open(1, { protocol });
      const upload = { type: 1, target: 'Upload', arguments: [], streamIds: ['7', '8'] };
      made.at(10).out(1, { ...upload, invocationId: '6' });
      made.at(20).out(1, { type: 2, invocationId: '7', item: { no: 1 } });
      made.at(30).out(1, { type: 2, invocationId: '8', item: [0] });
      made.at(40).out(1, { type: 3, invocationId: '8' });
      made.at(50).out(1, { type: 3, invocationId: '7', error: 'gave up' });
      made.at(60).in(1, { type: 3, invocationId: '6', result: 2 });
      const both = { type: 4, target: 'Shout', arguments: ['!'], streamIds: ['10'] };
      made.at(70).out(1, { ...both, invocationId: '9' });
      made.at(75).in(1, { type: 2, invocationId: '9', item: 'A!' });
      // It is answered before the client has sent all.
      made.at(80).in(1, { type: 3, invocationId: '9' });
      made.at(85).out(1, { type: 2, invocationId: '10', item: 'late' });
      made.at(90).out(1, { type: 3, invocationId: '10' });
      made.at(95).out(1, { type: 1, target: 'Log', arguments: [], streamIds: ['11'] });
      const replay = await read(made, protocol);
      const { answered, ends } = replayFlag;
      assert.deepEqual(
        sentBy(replay, 0, protocol).map(([due, name, flags, message]) => [
          ...[due / 1000, name, flags, JSON.parse(JSON.stringify(message)) as unknown],
        ]),
        [
          [10, 'Upload', answered, { ...upload, invocationId: id }],
          [20, 'Upload items sent', 0, { type: 2, invocationId: '7', item: { no: 1 } }],
          [30, 'Upload items sent', 0, { type: 2, invocationId: '8', item: [0] }],
          [40, 'Upload', ends, { type: 3, invocationId: '8' }],
          [50, 'Upload', ends, { type: 3, invocationId: '7', error: 'gave up' }],
          [70, 'Shout', answered, { ...both, invocationId: id }],
          [85, 'Shout items sent', 0, { type: 2, invocationId: '10', item: 'late' }],
          [90, 'Shout', ends, { type: 3, invocationId: '10' }],
          [95, 'Log', 0, { type: 1, target: 'Log', arguments: [], streamIds: ['11'] }],
        ],
      );
      // What an answer waits for: the last end before it.
      assert.deepEqual([...replay.tracks.of], [4, 1, 2, 3, 4, 5, 6, 7, 8]);
      assert.deepEqual([...replay.leftOut], []);
      const few = await read(made, protocol, { messages: 3 });
      assert.deepEqual([...few.tracks.flags], [0, 0, 0]);
    });

  it('says what it leaves out, with how often it was seen', async () => {
    const made = new MadeRecording();
    made.open(1).at(10).call(1, 'Next', [1]).raw(1, 'longer than 1 MB').raw(1, 'longer than 1 MB');
    made.out(1, { type: 1, target: 'u'.repeat(1000), arguments: [], streamIds: ['7'] });
    made.out(1, { type: 2, invocationId: '7', item: 1 });
    made.out(1, { type: 3, invocationId: '7' });
    made.out(1, { type: 3, invocationId: 'question', result: true });
    made.out(1, { type: 1, target: 'x'.repeat(1000), arguments: [] });
    made.open(2, { path: '/other' }).open(3, { protocol: 'unknown' }).call(3, 'Next', []);
    const { leftOut, opens } = await read(made);
    assert.equal(opens.length, 1);
    assert.deepEqual(
      new Set(leftOut),
      new Set([
        ['message of a client, not understood: longer than 1 MB', 2],
        ['call of a method whose name is longer than 200', 2],
        ['item or end of a stream whose call is not replayed', 2],
        ['answer of a client to a call of the server', 1],
        ['client without a handshake', 1],
        ['client of another hub, /other', 1],
      ]),
    );
  });

  it('ends at its bounds, and says so', async () => {
    const made = new MadeRecording();
    made.open(1);
    for (let number = 0; number < 10; number++)
      made.at(number).send(1, `Method${number % 4}`, ['a text of some bytes']);
    const few = await read(made, 'json', { messages: 6 });
    assert.equal(few.tracks.dueUs.length, 6);
    assert.deepEqual([...few.leftOut], [['message behind the first part, which is replayed', 4]]);
    const small = await read(made, 'json', { bytes: 200 });
    assert.ok(small.tracks.bytes.length < 300, String(small.tracks.bytes.length));
    const { tracks, leftOut } = await read(made, 'json', { names: 3 });
    assert.equal(tracks.dueUs.length, 8);
    assert.deepEqual([...leftOut], [['call of a method beyond the first 3', 2]]);
    made.open(2);
    const alone = await read(made, 'json', { clients: 1 });
    assert.deepEqual([...alone.leftOut], [['client beyond 1', 1]]);
  });

  it('sends values of MessagePack in either protocol, as far as they have a form there', async () => {
    const made = new MadeRecording();
    made.open(1, { protocol: 'messagepack' });
    made.at(1).send(1, 'Bytes', [{ $bytes: 'AQID' }, { $own: 1 }]);
    made.at(2).send(1, 'Wide', [{ $integer: '18446744073709551615' }]);
    made.at(3).send(1, 'Float', [[{ $float: 'NaN' }]]);
    made.at(4).send(1, 'Own', [{ a: { $extension: [5, 'AQ=='] } }]);
    made.at(5).send(1, 'Wider', [{ $integer: '28446744073709551615' }]);
    const packed = await read(made, 'messagepack');
    const values = sentBy(packed, 0, 'messagepack').map(
      ([, , , message]) => (message as { readonly arguments: readonly unknown[] }).arguments,
    );
    assert.deepEqual(Buffer.from(values[0]![0] as Uint8Array), Buffer.from([1, 2, 3]));
    assert.deepEqual(values[0]![1], { $own: 1 });
    assert.deepEqual(values[1], [18446744073709551615n]);
    assert.deepEqual(values[2], [[NaN]]);
    assert.equal((values[3]![0] as { a: { type: number } }).a.type, 5);
    assert.deepEqual(
      [...packed.leftOut.keys()],
      ['call of Wider with a whole number beyond 64 bits'],
    );
    const json = await read(made, 'json');
    assert.deepEqual(
      sentBy(json, 0).map(([, , , message]) => message),
      [{ type: 1, target: 'Bytes', arguments: ['AQID', { $own: 1 }] }],
    );
    assert.equal(json.leftOut.size, 4);
  });

  it('refuses what has nothing to replay', async () => {
    const refused = (made: Recording | MadeRecording, problem: RegExp): Promise<void> => {
      const recording = made instanceof MadeRecording ? made.recording : made;
      return assert.rejects(readReplay(recording, 'x.recording.jsonl', 'json'), problem);
    };
    await refused(new MadeRecording(), /: x.recording.jsonl has no client of a SignalR hub/);
    await refused(
      new MadeRecording().open(1).raw(1, 'binary'),
      /No client .* nothing to replay. Not replayed: 1 × message of a client, not understood: binary/,
    );
    const { header, events } = new MadeRecording().open(1).recording;
    await refused({ header: { ...header, kind: 'webpubsub' }, events }, /with config.service: web/);
    const hub = readReplay(new MadeRecording().open(1).recording, 'x', 'webpubsub');
    await assert.rejects(hub, /SignalR hub, which Azure Web PubSub does not understand: remove/);
  });

  it('keeps what clients of Web PubSub sent, with a number of the run to be acknowledged by', async () => {
    const made = new MadeRecording();
    const protocol = 'protobuf.reliable.webpubsub.azure.v1';
    made.at(1).open(1, { protocol, path: '/client/hubs/chat' }).open(2, { protocol: 'none' });
    const group = 'g 34359738368 "ä"';
    made.at(10).out(1, { type: 'joinGroup', group, ackId: 7 });
    made.at(11).in(1, { type: 'ack', ackId: 7, success: true });
    made
      .at(20)
      .out(1, { type: 'sendToGroup', group, noEcho: true, dataType: 'binary', data: 'AQI=' });
    made.at(30).out(1, { type: 'event', event: 'order', ackId: '8', dataType: 'text', data: 'x' });
    const error = { name: 'NotFound', message: 'no' };
    made.at(31).in(1, { type: 'ack', ackId: 8, success: false, error });
    made.at(32).in(1, { type: 'message', from: 'group', group, sequenceId: 4, data: 1 });
    made.at(33).out(1, { type: 'sequenceAck', sequenceId: 4 }).out(1, { type: 'ping' });
    made.at(40).out(1, { type: 'invoke', event: 'later' });
    made.at(50).out(1, { type: 'leaveGroup', group, ackId: 9 });
    const { header, events } = made.recording;
    const recording = { header: { ...header, kind: 'webpubsub' as const }, events };
    const { tracks, steps, leftOut } = await readReplay(recording, 'x', 'webpubsub');
    const { at, length, stampAt, bytes, flags, dueUs } = tracks;
    const texts = Array.from(at, (start, number) =>
      Buffer.from(bytes.subarray(start, start + length[number]!)).toString('utf8'),
    );
    const name = '"group":"g 34359738368 \\"ä\\""';
    assert.deepEqual(texts, [
      `{"type":"joinGroup","ackId":34359738368,${name}}`,
      `{"type":"sendToGroup",${name},"noEcho":true,"dataType":"binary","data":"AQI="}`,
      '{"type":"event","ackId":34359738368,"event":"order","dataType":"text","data":"x"}',
      `{"type":"leaveGroup","ackId":34359738368,${name}}`,
    ]);
    assert.deepEqual(
      Array.from(stampAt, (start, number) =>
        start === noStamp ? '' : texts[number]!.slice(start - 8, start),
      ),
      ['"ackId":', '', '"ackId":', '"ackId":'],
    );
    const { answered, refused } = replayFlag;
    assert.deepEqual([...flags], [answered, 0, answered | refused, 0]);
    assert.deepEqual([...dueUs], [9000, 19_000, 29_000, 49_000]);
    assert.deepEqual(
      listCalls(steps).map((call) => call.name),
      ['joinGroup', 'sendToGroup', 'event order', 'leaveGroup', 'message'],
    );
    assert.deepEqual(
      [...leftOut],
      [
        ['client that spoke none', 1],
        ['message of type invoke', 1],
      ],
    );
  });
});

describe('replayStartUs', () => {
  it('spreads the replays of a client, and keeps clients of one replay together', () => {
    const tracks = { clients: 2, spreadUs: 1_000_000 };
    const begins = Array.from({ length: 8 }, (_, at) => replayStartUs(tracks, at, 8));
    assert.deepEqual(begins, [0, 0, 250_000, 250_000, 500_000, 500_000, 750_000, 750_000]);
    assert.equal(replayStartUs({ ...tracks, spreadUs: 0 }, 7, 8), 0);
  });
});
