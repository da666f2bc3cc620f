import { HoleFrame } from './holeFrame';
import type { HubCodec } from '../hub/hubCodec';
import { jsonCodec } from '../hub/codecs';
import type { Hole, HoleLengths, MessageLayout, MessageShape } from './messageLayout';
import { stampLength, writeStamp, type Stamp } from './stamp';

/** Ticks of 100 ns from the year 1 to 1970, as .NET counts them. */
const unixEpochTicks = 621_355_968_000_000_000n;

/** Ticks of .NET's clock for a Unix time: more than a number holds exactly. */
export const ticksOf = (unixMs: number): bigint => BigInt(unixMs) * 10_000n + unixEpochTicks;

/** Who sends a message, where it says so. */
export interface MessageSource {
  /** Connection id as the codec's `textBytes` gives it; absent where no message names it. */
  readonly id?: Uint8Array | undefined;
  readonly index: number;
  /** Number under which the message is to be acknowledged, where it asks for that. */
  readonly ackId?: number;
  /** Ids of the call that opens a stream, and of the items that go up in it, where it is about one. */
  readonly callId?: Uint8Array;
  readonly streamId?: Uint8Array;
}

const noReceiver = Buffer.alloc(0);
const nobody: MessageSource = { index: 0 };

/** Bytes of what has no fixed length in a message. */
export function holeLengths(
  receiver: Uint8Array | undefined,
  { id, index }: MessageSource = nobody,
): HoleLengths {
  return {
    receiver: receiver?.length ?? 0,
    sender: id?.length ?? 0,
    senderIndex: String(index).length,
  };
}

/** A hub invocation encoded once, whose holes are filled for each message; see {@link HoleFrame}. */
export class MessageTemplate {
  private readonly holeFrame: HoleFrame;
  private readonly holes: readonly Hole[];
  private readonly stampBytes = Buffer.alloc(stampLength);
  /** Room for the digits or bytes of one number. */
  private readonly scratch = Buffer.alloc(20);
  private timestampMs = -1;

  /** @param framed whether a WebSocket frame is wanted; otherwise the bare hub message, for HTTP bodies */
  constructor({ body, holes }: MessageLayout, codec: HubCodec, framed: boolean) {
    this.holes = holes;
    this.holeFrame = new HoleFrame(body, holes, codec, framed);
  }

  /** @param lengths bytes of receiver and sender; the frame's length depends on them */
  static of(
    shape: MessageShape,
    lengths: HoleLengths,
    codec = jsonCodec,
    framed = true,
  ): MessageTemplate {
    return new MessageTemplate(codec.layout(shape, lengths), codec, framed);
  }

  /** Bytes on the wire of every message made from this template. */
  get wireBytes(): number {
    return this.holeFrame.frame.length;
  }

  /**
   * Writes what belongs into the holes and returns the frame.
   *
   * @param receiver as the codec's `textBytes` gives it, of the template's length
   * @param nowMs Unix time
   */
  fill(
    stamp: Stamp,
    receiver: Uint8Array | undefined,
    nowMs: number,
    source: MessageSource = nobody,
  ): Buffer {
    writeStamp(this.stampBytes, 0, stamp);
    const timeIsNew = nowMs !== this.timestampMs;
    this.timestampMs = nowMs;
    const { holes, holeFrame } = this;
    for (let position = 0; position < holes.length; position++) {
      switch (holes[position]!.kind) {
        case 'stamp':
          holeFrame.put(position, this.stampBytes);
          break;
        case 'receiver':
          holeFrame.put(position, receiver ?? noReceiver);
          break;
        case 'sender':
          holeFrame.put(position, source.id ?? noReceiver);
          break;
        case 'senderIndex':
          this.putNumber(position, source.index);
          break;
        case 'sequence':
          this.putNumber(position, stamp.sequence);
          break;
        case 'callId':
          holeFrame.put(position, source.callId!);
          break;
        case 'streamId':
          holeFrame.put(position, source.streamId!);
          break;
        case 'ackId':
          this.putNumber(position, source.ackId ?? 0);
          break;
        default:
          if (timeIsNew) this.putTime(position, nowMs);
      }
    }
    return holeFrame.frame;
  }

  /** Fills the holes, see {@link fill}, and sends the frame. */
  sendTo(
    to: { send(frame: Buffer): boolean },
    ...content: readonly [Stamp, Uint8Array | undefined, number, MessageSource]
  ): void {
    if (!to.send(this.fill(...content))) this.detach();
  }

  /** Gives the current frame away: the next message is written into a copy. */
  detach(): void {
    this.holeFrame.detach();
  }

  /** Integers of 4 bytes, varints, or digits behind blanks in a number of JSON and behind zeros in a text. */
  private putNumber(position: number, value: number): void {
    const { scratch } = this;
    const hole = this.holes[position]!;
    if (hole.form === 'integer') {
      scratch.writeUInt32BE(value);
    } else if (hole.form === 'varint') {
      for (let at = 0, left = value; at < hole.length; at++, left = Math.floor(left / 128))
        scratch[at] = (left % 128) | (at < hole.length - 1 ? 0x80 : 0);
    } else {
      let left = value;
      for (let at = hole.length - 1; at >= 0; at--) {
        const done = left === 0 && at < hole.length - 1;
        scratch[at] = done && hole.form === 'number' ? 0x20 : 0x30 + (left % 10);
        left = Math.floor(left / 10);
      }
    }
    this.holeFrame.put(position, scratch, hole.length);
  }

  /** Once a millisecond at most. */
  private putTime(position: number, nowMs: number): void {
    const hole = this.holes[position]!;
    const time = hole.kind === 'ticks' ? ticksOf(nowMs) : BigInt(nowMs);
    const { scratch } = this;
    if (hole.form === 'integer') scratch.writeBigUInt64BE(time);
    else scratch.write(String(time).padStart(hole.length, '0'), 'latin1');
    this.holeFrame.put(position, scratch, hole.length);
  }
}
