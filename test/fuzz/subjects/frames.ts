import assert from 'node:assert/strict';
import * as ws from 'ws';
import { FrameError, noCloseCode, opcode } from '../../../src/wire/socket/frame';
import { FrameReader, type FrameListener } from '../../../src/wire/socket/frameReader';
import { serverFrame } from '../../fakes/frames';
import { inPieces, unless, type Subject } from '../subject';

/** The parser of the official package, which its types do not list. */
interface OfficialReceiver {
  on(event: 'message', take: (bytes: Buffer, isBinary: boolean) => void): void;
  on(event: 'conclude', take: (code: number, reason: Buffer) => void): void;
  on(event: 'ping', take: (payload: Buffer) => void): void;
  _write(bytes: Buffer, encoding: string, done: (error?: Error | null) => void): void;
}
const { Receiver } = ws as unknown as {
  Receiver: new (options: { isServer: boolean; maxPayload: number }) => OfficialReceiver;
};

const maximumBytes = 2048;
/** Ends what is open, so that one who judges heads and one who judges frames judge the same. */
const padding = Buffer.from('8100'.repeat(maximumBytes), 'hex');

interface Read {
  readonly messages: string[];
  readonly pings: string[];
  close?: string;
  isBroken: boolean;
}

class Listener implements FrameListener {
  stopped = false;
  readonly read: Read = { messages: [], pings: [], isBroken: false };

  onMessage(buffer: Buffer, start: number, end: number): void {
    this.read.messages.push(buffer.toString('latin1', start, end));
  }
  onPing(payload: Buffer): void {
    this.read.pings.push(payload.toString('latin1'));
  }
  onClose(code: number, reason: string): void {
    this.stopped = true;
    this.read.close = `${code} ${reason}`;
  }
}

function ours(input: Buffer, reader: FrameReader, listener: Listener, isCut: boolean): Read {
  const { read } = listener;
  const take = (buffer: Buffer, start: number, end: number): void => {
    if (!listener.stopped && !read.isBroken) reader.read(buffer, start, end, listener);
  };
  const all = (): true => {
    if (isCut) inPieces(input, take);
    else take(input, 0, input.length);
    return true;
  };
  if (unless([FrameError], all) === undefined) read.isBroken = true;
  return read;
}

function theirs(input: Buffer): Read {
  const receiver = new Receiver({ isServer: false, maxPayload: maximumBytes });
  const read: Read = { messages: [], pings: [], isBroken: false };
  receiver.on('message', (bytes) => read.messages.push(bytes.toString('latin1')));
  receiver.on('ping', (payload) => read.pings.push(payload.toString('latin1')));
  receiver.on('conclude', (code, reason) => (read.close = `${code} ${reason.toString('utf8')}`));
  receiver._write(input, '', (error) => (read.isBroken = error instanceof Error));
  return read;
}

const { text, binary, continuation, ping, pong, close } = opcode;
const code = Buffer.from([3, 0xe8]);

export const frames: Subject = {
  name: 'frames',
  holds:
    'messages, close and violations are those that `ws` finds, however the bytes are cut, and a claimed length gets no memory',
  seeds: () => [
    serverFrame(text, Buffer.from('hello')),
    serverFrame(binary, Buffer.alloc(126)),
    serverFrame(binary, Buffer.alloc(300), { lengthBits: 64 }),
    Buffer.concat([
      serverFrame(text, Buffer.from('gr\xc3'), { last: false }),
      serverFrame(ping, Buffer.from('p')),
      serverFrame(continuation, Buffer.from([0xbc, 0xc3]), { last: false }),
      serverFrame(continuation, Buffer.from([0x9f])),
    ]),
    Buffer.concat([serverFrame(pong, code), serverFrame(close, code)]),
    serverFrame(close, Buffer.concat([code, Buffer.from('bye')])),
    serverFrame(close, Buffer.alloc(0)),
    Buffer.from([0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    Buffer.from([0x82, 127, 0, 0, 0, 0, 2, 0, 0, 0]),
  ],
  check: (input) => {
    // A limit that nothing meets: what is claimed must not be believed.
    ours(input, new FrameReader(2 ** 40), new Listener(), true);
    const padded = Buffer.concat([input, padding]);
    const whole = ours(padded, new FrameReader(maximumBytes), new Listener(), false);
    const cut = ours(padded, new FrameReader(maximumBytes), new Listener(), true);
    const official = theirs(padded);
    // Within one read only the newest ping is reported, and no more texts are checked than the first ones.
    const { pings, ...found } = whole;
    const { pings: cutPings, ...foundCut } = cut;
    const { pings: officialPings, ...expected } = official;
    for (const each of [...pings, ...cutPings]) assert.ok(officialPings.includes(each), 'ping');
    assert.deepEqual(found, foundCut);
    if (found.messages.length > 8) return;
    if (expected.close?.startsWith(`${noCloseCode} `)) expected.close = `${noCloseCode} `;
    assert.deepEqual(found, expected);
  },
};
