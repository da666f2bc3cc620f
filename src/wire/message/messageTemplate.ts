/** Hub messages that are encoded once, so that sending one only fills in what changes. */
import type { HubCodec } from './hubCodec';
import { clientFrame, clientHeaderLength } from '../socket/frame';
import {
  type Hole,
  type HoleLengths,
  type MessageLayout,
  type MessageShape,
  holeDigits,
} from './messageLayout';
import { stampLength, writeStamp, type Stamp } from './stamp';
import {
  isHubProtocol,
  dotNetTicks,
  type HoleKind,
  type MessageArgument,
  type NumberHole,
  type WireProtocol,
} from '../../base/message';
import { hubMessageType, type HubMessage } from './hubMessage';

export interface SenderFields {
  /** Connection id as the codec's `textBytes` gives it. */
  readonly id?: Uint8Array | undefined;
  readonly index: number;
  readonly ackId?: number;
  /** Ids of the call that opens a stream, and of the items that go up in it. */
  readonly callId?: Uint8Array;
  readonly streamId?: Uint8Array;
  readonly itemCount?: number;
}

const noReceiver = Buffer.alloc(0);
const nobody: SenderFields = { index: 0 };

export function holeLengths(
  receiver: Uint8Array | undefined,
  { id, index }: SenderFields = nobody,
): HoleLengths {
  return {
    receiver: receiver?.length ?? 0,
    sender: id?.length ?? 0,
    senderIndex: String(index).length,
  };
}

/**
 * A masked WebSocket frame, or a bare message, in which only the holes are overwritten for each message. A socket
 * that keeps the bytes needs {@link MessageTemplate.detach} before the next message.
 */
export class MessageTemplate {
  private bytes: Buffer;
  private readonly holes: readonly Hole[];
  private readonly maskAt: number;
  private readonly bodyAt: number;
  private readonly stampBytes = Buffer.alloc(stampLength);
  private readonly scratch = Buffer.alloc(20);
  private timestampMs = -1;

  /** @param framed false: the bare hub message, for HTTP bodies */
  constructor(
    { body, holes }: MessageLayout,
    codec: Pick<HubCodec, 'opcode'>,
    private readonly framed: boolean,
  ) {
    this.holes = holes;
    this.bytes = framed ? clientFrame(codec.opcode, body) : body;
    this.bodyAt = framed ? clientHeaderLength(body.length) : 0;
    this.maskAt = this.bodyAt - 4;
  }

  static of(
    shape: MessageShape,
    lengths: HoleLengths,
    codec: HubCodec,
    framed = true,
  ): MessageTemplate {
    return new MessageTemplate(codec.layout(shape, lengths), codec, framed);
  }

  get wireBytes(): number {
    return this.bytes.length;
  }

  /** @param receiver as the codec's `textBytes` gives it, of the template's length @param nowMs Unix time */
  fill(
    stamp: Stamp,
    receiver: Uint8Array | undefined,
    nowMs: number,
    source: SenderFields = nobody,
  ): Buffer {
    writeStamp(this.stampBytes, 0, stamp);
    const timeIsNew = nowMs !== this.timestampMs;
    this.timestampMs = nowMs;
    for (const hole of this.holes) {
      switch (hole.kind) {
        case 'stamp':
          this.put(hole, this.stampBytes);
          break;
        case 'receiver':
          this.put(hole, receiver ?? noReceiver);
          break;
        case 'sender':
          this.put(hole, source.id ?? noReceiver);
          break;
        case 'callId':
        case 'streamId':
          this.put(hole, source[hole.kind]!);
          break;
        case 'senderIndex':
          this.putNumber(hole, source.index);
          break;
        case 'sequence':
          this.putNumber(hole, stamp.sequence);
          break;
        case 'ackId':
        case 'itemCount':
          this.putNumber(hole, source[hole.kind] ?? 0);
          break;
        default:
          if (timeIsNew) this.putTime(hole, nowMs);
      }
    }
    return this.bytes;
  }

  sendTo(
    to: { send(frame: Buffer): boolean },
    stamp: Stamp,
    receiver: Uint8Array | undefined,
    nowMs: number,
    source?: SenderFields,
  ): number {
    if (!to.send(this.fill(stamp, receiver, nowMs, source))) this.detach();
    return this.bytes.length;
  }

  detach(): void {
    this.bytes = Buffer.from(this.bytes);
  }

  private put({ at: shift, length }: Hole, from: Uint8Array, count = from.length): void {
    if (count !== length) throw new Error('bytes do not fit the hole');
    const { bytes, maskAt, bodyAt } = this;
    const at = bodyAt + shift;
    if (!this.framed) {
      for (let index = 0; index < length; index++) bytes[at + index] = from[index]!;
      return;
    }
    for (let index = 0; index < length; index++) {
      bytes[at + index] = from[index]! ^ bytes[maskAt + ((shift + index) & 3)]!;
    }
  }

  /** Numbers are padded with blanks as JSON numbers, with zeros in texts. */
  private putNumber(hole: Hole, value: number): void {
    const { scratch } = this;
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
    this.put(hole, scratch, hole.length);
  }

  private putTime(hole: Hole, nowMs: number): void {
    const time = hole.kind === 'ticks' ? dotNetTicks(nowMs) : BigInt(nowMs);
    const { scratch } = this;
    if (hole.form === 'integer') scratch.writeBigUInt64BE(time);
    else scratch.write(String(time).padStart(hole.length, '0'), 'latin1');
    this.put(hole, scratch, hole.length);
  }
}

interface MessageTaker {
  sendMessage?(message: HubMessage): number;
}

export interface HoleContent {
  readonly protocol: WireProtocol;
  readonly stamp: Stamp;
  readonly receiver?: Uint8Array | undefined;
  readonly nowMs: number;
  readonly source: SenderFields;
}

/** The same for an official client, which encodes messages itself. */
export class MessageValue {
  wireBytes = NaN;

  constructor(
    private readonly shape: MessageShape,
    private readonly protocol: WireProtocol,
  ) {}

  sendTo(
    to: MessageTaker,
    stamp: Stamp,
    receiver: Uint8Array | undefined,
    nowMs: number,
    source: SenderFields,
  ): void {
    const holes = { protocol: this.protocol, stamp, receiver, nowMs, source };
    this.wireBytes = to.sendMessage!(invocationOf(this.shape, holes));
  }
}

function invocationOf(shape: MessageShape, holes: HoleContent): HubMessage {
  const { method: target, answered, toGroup = false } = shape;
  const values = shape.arguments.map((argument) => argumentValue(argument, holes));
  const isPubSub = !isHubProtocol(holes.protocol);
  return {
    type: hubMessageType.invocation,
    ...(answered === true && { invocationId: textOf(isPubSub ? 'ackId' : 'stamp', holes) }),
    target,
    arguments: isPubSub && toGroup ? [textOf('receiver', holes), ...values] : values,
  };
}

export function argumentValue(argument: MessageArgument, holes: HoleContent): unknown {
  switch (argument.kind) {
    case 'value':
      return argument.value;
    case 'number':
      return numberIn(argument.hole, holes);
    case 'text': {
      const text = argument.parts
        .map((part) => (typeof part === 'string' ? part : textOf(part.hole, holes)))
        .join('');
      const isBinary = argument.binary === true && holes.protocol === 'messagepack';
      return isBinary ? Buffer.from(text, 'utf8') : text;
    }
    case 'list':
      return argument.items.map((item) => argumentValue(item, holes));
    case 'map':
      return Object.fromEntries(
        argument.members.map(([key, member]) => [key, argumentValue(member, holes)]),
      );
  }
}

function textOf(hole: HoleKind, holes: HoleContent): string {
  const { stamp, receiver, source, nowMs } = holes;
  switch (hole) {
    case 'stamp': {
      const bytes = Buffer.alloc(stampLength);
      writeStamp(bytes, 0, stamp);
      return bytes.toString('latin1');
    }
    case 'receiver':
      return unescaped(receiver, holes);
    case 'sender':
      return unescaped(source.id, holes);
    case 'callId':
    case 'streamId':
      return Buffer.from(source[hole] ?? []).toString('latin1');
    case 'senderIndex':
      return String(source.index);
    case 'ackId':
      return String(source.ackId ?? 0);
    case 'ticks':
      return String(dotNetTicks(nowMs));
    default:
      return String(numberIn(hole, holes)).padStart(holeDigits[hole], '0');
  }
}

function unescaped(bytes: Uint8Array = new Uint8Array(), { protocol }: HoleContent): string {
  const text = Buffer.from(bytes).toString('utf8');
  return protocol === 'messagepack' ? text : (JSON.parse(`"${text}"`) as string);
}

function numberIn(hole: NumberHole, { stamp, source, nowMs }: HoleContent): number {
  switch (hole) {
    case 'senderIndex':
      return source.index;
    case 'sequence':
      return stamp.sequence;
    case 'itemCount':
      return source.itemCount ?? 0;
    case 'unixMs':
      return nowMs;
    case 'ticks':
      // As precise as any JSON of a JavaScript client.
      return Number(dotNetTicks(nowMs));
  }
}
