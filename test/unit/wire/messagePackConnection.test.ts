import assert from 'node:assert/strict';
import { opcode } from '../../../src/wire/socket/frame';
import { type Span, messagePackCodec } from '../../../src/wire/message/hubCodec';
import { WebSocketConnection } from '../../../src/wire/hub/webSocketConnection';
import {
  type HubConnection,
  type HubListener,
  Invocations,
} from '../../../src/wire/hub/clientConnection';
import type { HubMessage } from '../../../src/wire/message/hubMessage';
import { endpointOf } from '../../fakes/endpoint';
import { serverFrame } from '../../fakes/frames';
import { startRawHub, type Peer, type RawHubOptions } from '../../fakes/rawHub';
import type { Loss } from '../../fakes/recordingListener';

const { encode } = messagePackCodec;
const frame = (...bodies: Uint8Array[]): Buffer =>
  serverFrame(opcode.binary, Buffer.concat(bodies));
const handshakeAnswer = Buffer.from('{}\x1e');

/** Reads all messages, completes invocations and remembers the rest. */
class ReadingListener implements HubListener {
  readonly invocations = new Invocations();
  readonly messages: (HubMessage | undefined)[] = [];
  readonly lostOnce: Promise<Loss>;
  private tellLoss: (loss: Loss) => void = () => undefined;

  constructor() {
    this.lostOnce = new Promise((resolve) => (this.tellLoss = resolve));
  }

  received(connection: HubConnection, buffer: Buffer, start: number, end: number): void {
    const span: Span = { start, end, next: start };
    while (span.next < end) {
      connection.codec.find(buffer, span.next, end, span);
      const message = connection.codec.read(buffer, span.start, span.end);
      if (message?.type === 3) this.invocations.completed(connection, message);
      else this.messages.push(message);
    }
  }

  lost(connection: HubConnection, errorClass: Loss['errorClass'], text: string): void {
    this.invocations.lost(connection);
    this.tellLoss({ errorClass, text });
  }
}

describe('HubConnection in MessagePack', () => {
  const disposals: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const dispose of disposals.splice(0)) await dispose();
  });

  async function connected(
    options: RawHubOptions = {},
  ): Promise<{ connection: HubConnection; listener: ReadingListener; peer: Peer }> {
    const hub = await startRawHub(options);
    const listener = new ReadingListener();
    const connection = await WebSocketConnection.open(
      { url: new URL(hub.url), headers: {} },
      {
        index: 0,
        endpoint: endpointOf(hub.url),
        listener,
        options: {
          maximumMessageBytes: 200_000,
          maximumUnsentBytes: 1_000_000,
          codec: messagePackCodec,
        },
        signal: AbortSignal.timeout(5000),
      },
    );
    disposals.push(hub.dispose, async () => connection.destroy());
    return { connection, listener, peer: await hub.nextPeer() };
  }

  it('shakes hands in JSON and sends binary frames', async () => {
    const { connection, peer } = await connected();
    const { code, payload } = peer.handshake!;
    assert.equal(code, opcode.binary);
    assert.equal(payload.toString(), '{"protocol":"messagepack","version":1}\x1e');
    connection.sendMessage({ type: 6 });
    const ping = await peer.nextFrame();
    assert.deepEqual([ping.code, ...ping.payload], [opcode.binary, 2, 0x91, 6]);
  });

  it('reads messages that come in one frame with the answer to its handshake', async () => {
    const greeting = { type: 1, target: 'OnConnected', arguments: ['id'] } as const;
    const answer = frame(handshakeAnswer, encode(greeting), encode({ type: 6 }));
    const { listener } = await connected({ answer });
    assert.deepEqual(listener.messages, [greeting, { type: 6 }]);
  });

  it('completes its invocations', async () => {
    const { connection, listener, peer } = await connected();
    const invoke = (...args: unknown[]): ReturnType<Invocations['invoke']> =>
      listener.invocations.invoke(connection, 'JoinGroup', args, 5000);
    const outcomes = [invoke('ü'), invoke('b'), invoke()];
    const sent: Buffer[] = [];
    while (sent.length < 3) sent.push((await peer.nextFrame()).payload);
    const invocationIds = sent.map((payload) => {
      const span: Span = { start: 0, end: 0, next: 0 };
      messagePackCodec.find(payload, 0, payload.length, span);
      const message = messagePackCodec.read(payload, span.start, span.end);
      assert.ok(message?.type === 1 && message.target === 'JoinGroup');
      return message.invocationId!;
    });
    const [first, second, third] = invocationIds as [string, string, string];
    const completions: HubMessage[] = [
      { type: 3, invocationId: second, error: 'no' },
      { type: 3, invocationId: first },
      { type: 3, invocationId: third, result: [1] },
    ];
    peer.socket.write(frame(...completions.map(encode)));
    assert.deepEqual(await Promise.all(outcomes), [
      { ok: true, result: undefined },
      { ok: false, errorClass: 'invocation', text: 'no' },
      { ok: true, result: [1] },
    ]);
  });

  const broken: Readonly<Record<string, Buffer>> = {
    'a message that is cut off': frame(Buffer.from([9, 0x91, 6])),
    'a length that is none': frame(Buffer.alloc(6, 0xff)),
    'an array without end': frame(Buffer.from([6, 0xdd, 0xff, 0xff, 0xff, 0xff, 6])),
    'nesting without end': frame(
      Buffer.from([0xa5, 0x8d, 0x06, 0x94, 2, 0x80, 0xa1, 0x73]),
      Buffer.alloc(100_000, 0x91),
    ),
    JSON: serverFrame(opcode.text, Buffer.from('{"type":6}\x1e')),
    'a frame that is too long': frame(Buffer.alloc(200_001)),
  };
  for (const [title, bytes] of Object.entries(broken)) {
    it(`is lost with class protocol when the server sends ${title}`, async () => {
      const { connection, listener, peer } = await connected();
      peer.socket.write(bytes);
      assert.equal((await listener.lostOnce).errorClass, 'protocol');
      assert.equal(connection.isOpen, false);
      assert.deepEqual(listener.messages, []);
    });
  }
});
