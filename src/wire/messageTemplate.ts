import { clientFrame, clientHeaderLength, opcode } from './frame';
import { stampKey, stampLength, stampMarker, writeStamp, type Stamp } from './stamp';

/** What one message of a run looks like, apart from its stamp and its receiver. */
export interface MessageShape {
  readonly method: string;
  /** Dictionary key for the receiver's id or name, when the method needs one. */
  readonly receiverKey?: string;
  /** Payload text; its length is the message size. Must need no escaping in JSON. */
  readonly blob: string;
}

/** Digits of a Unix time in milliseconds until the year 2286. */
const timestampDigits = 13;

/**
 * A hub invocation encoded once: a masked WebSocket frame in which only stamp, time and receiver are
 * overwritten for each message. The frame's bytes may be handed to a socket that takes them at once;
 * a socket that keeps them needs {@link detach} before the next message.
 */
export class MessageTemplate {
  private frame: Buffer;
  private readonly maskAt: number;
  private readonly bodyAt: number;
  private readonly stampAt: number;
  private readonly timestampAt: number;
  private readonly receiverAt: number;
  private readonly stampBytes = Buffer.alloc(stampLength);
  private timestampMs = -1;

  /** @param receiverLength bytes of the receiver's text; the frame's length depends on it */
  constructor(
    shape: MessageShape,
    private readonly receiverLength: number,
  ) {
    const head = `{"type":1,"target":${JSON.stringify(shape.method)},"arguments":[{"${stampKey}":"`;
    const stampHole = stampMarker.padEnd(stampLength, '0');
    const beforeReceiver = shape.receiverKey === undefined ? '' : `","${shape.receiverKey}":"`;
    const receiverHole = 'x'.repeat(receiverLength);
    const beforeTimestamp = `","payload.Timestamp":`;
    const timestampHole = '1'.repeat(timestampDigits);
    const tail = `,"payload.MessageBlob":"${shape.blob}"}]}\x1e`;
    const text =
      head + stampHole + beforeReceiver + receiverHole + beforeTimestamp + timestampHole + tail;
    const body = Buffer.from(text, 'utf8');
    this.frame = clientFrame(opcode.text, body);
    this.bodyAt = clientHeaderLength(body.length);
    this.maskAt = this.bodyAt - 4;
    this.stampAt = this.bodyAt + Buffer.byteLength(head);
    this.receiverAt = this.stampAt + stampLength + Buffer.byteLength(beforeReceiver);
    this.timestampAt = this.receiverAt + receiverLength + Buffer.byteLength(beforeTimestamp);
  }

  /** Bytes on the wire of every message made from this template. */
  get wireBytes(): number {
    return this.frame.length;
  }

  /**
   * Writes stamp, time and receiver into the frame and returns it.
   *
   * @param receiver exactly `receiverLength` bytes, already escaped for JSON
   * @param nowMs Unix time, for hubs that read `payload.Timestamp`
   */
  fill(stamp: Stamp, receiver: Uint8Array | undefined, nowMs: number): Buffer {
    writeStamp(this.stampBytes, 0, stamp);
    this.put(this.stampAt, this.stampBytes);
    if (receiver !== undefined) {
      if (receiver.length !== this.receiverLength)
        throw new Error('receiver does not fit the template');
      this.put(this.receiverAt, receiver);
    }
    if (nowMs !== this.timestampMs) {
      this.timestampMs = nowMs;
      this.put(
        this.timestampAt,
        Buffer.from(String(nowMs).padStart(timestampDigits, '0'), 'latin1'),
      );
    }
    return this.frame;
  }

  /** Gives the current frame away: the next message is written into a copy. */
  detach(): void {
    this.frame = Buffer.from(this.frame);
  }

  private put(at: number, bytes: Uint8Array): void {
    const { frame, maskAt, bodyAt } = this;
    const shift = at - bodyAt;
    for (let index = 0; index < bytes.length; index++) {
      frame[at + index] = bytes[index]! ^ frame[maskAt + ((shift + index) & 3)]!;
    }
  }
}
