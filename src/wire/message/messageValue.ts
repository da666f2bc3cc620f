import {
  isHubProtocol,
  type HoleKind,
  type MessageArgument,
  type NumberHole,
  type WireProtocol,
} from '../../base/message';
import { hubMessageType, type HubMessage } from './hubMessage';
import { holeDigits, type MessageShape } from './messageLayout';
import { ticksOf, type MessageSource } from './messageTemplate';
import { stampLength, writeStamp, type Stamp } from './stamp';

interface MessageTaker {
  sendMessage?(message: HubMessage): number;
}

export interface HoleContent {
  readonly protocol: WireProtocol;
  readonly stamp: Stamp;
  readonly receiver?: Uint8Array | undefined;
  readonly nowMs: number;
  readonly source: MessageSource;
}

/**
 * Messages of one shape for an official client, which encodes them by itself: they share nothing with
 * {@link import('./messageTemplate').MessageTemplate} but the shape.
 */
export class MessageValue {
  /** Of the last message; NaN where the client does not show them. */
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
    source: MessageSource,
  ): void {
    const holes = { protocol: this.protocol, stamp, receiver, nowMs, source };
    this.wireBytes = to.sendMessage!(invocationOf(this.shape, holes));
  }
}

function invocationOf(shape: MessageShape, holes: HoleContent): HubMessage {
  const { method: target, answered } = shape;
  const values = shape.arguments.map((argument) => valueOf(argument, holes));
  // Web PubSub names the group besides the data, and numbers what is to be acknowledged.
  const isPubSub = !isHubProtocol(holes.protocol);
  const toGroup = isPubSub && target === 'SendToGroup';
  return {
    type: hubMessageType.invocation,
    ...(answered === true && { invocationId: textOf(isPubSub ? 'ackId' : 'stamp', holes) }),
    target,
    arguments: toGroup ? [textOf('receiver', holes), ...values] : values,
  };
}

export function valueOf(argument: MessageArgument, holes: HoleContent): unknown {
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
      return argument.items.map((item) => valueOf(item, holes));
    case 'map':
      return Object.fromEntries(
        argument.members.map(([key, member]) => [key, valueOf(member, holes)]),
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
      return String(ticksOf(nowMs));
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
      // As precise as any JSON of a JavaScript client is.
      return Number(ticksOf(nowMs));
  }
}
