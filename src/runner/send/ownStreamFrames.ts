import { digitsOf } from '../../base/digits';
import type { Plan, PlanEntry } from '../../plan/plan';
import { argumentBytes, ownArguments, type OwnArgument } from '../../usecases/ownArguments';
import type { StreamShape } from '../../usecases/streams';
import type { HubCodec } from '../../wire/hub/hubCodec';
import { codecOf } from '../../wire/hub/codecs';
import type { HoleLengths, MessageLayout } from '../../wire/message/messageLayout';
import {
  holeLengths,
  MessageTemplate,
  type MessageSource,
} from '../../wire/message/messageTemplate';
import { emptyStamp } from '../../wire/message/stamp';
import { streamLayoutOf } from '../../wire/message/streamLayout';
import { ownMessage } from './messageShape';
import type { OpenStream } from './openStream';
import { bytesBeyondEstimate } from '../lead/payloadFiles';
import type { StreamMessages } from './streamMessages';

/** What messages of the user's own need to know about the run. */
interface OwnStreamDependencies {
  /** Whether messages leave as WebSocket frames, not as bare hub messages in HTTP bodies. */
  readonly framed: boolean;
  /** Connection id of any connection of the run, as it stands in a message. */
  readonly idOf: (index: number) => Buffer | undefined;
}

/** Streams to and from the user's own method, with the user's own arguments and items. */
export class OwnStreamFrames implements StreamMessages {
  private readonly call: OwnFrame;
  /** What goes up, in turn. */
  private readonly items: readonly OwnFrame[];
  /** Calls and items so far, by sender. */
  private readonly calls: Uint32Array;
  private readonly sentItems: Uint32Array;
  private readonly stamp = emptyStamp();
  private readonly source: Mutable<MessageSource> = { index: 0 };

  constructor(
    plan: Plan,
    entry: PlanEntry,
    { method, direction, own }: StreamShape,
    private readonly dependencies: OwnStreamDependencies,
  ) {
    const codec = codecOf(plan.protocol);
    const layout = streamLayoutOf(plan.protocol);
    const { framed } = dependencies;
    const opens = { down: direction !== 'upload', up: direction !== 'download' };
    const args = ownArguments(own!.arguments);
    const shape = { method, opens, arguments: ownMessage(args, entry, plan.seed) };
    const bytes = bytesOf(args, entry);
    this.call = new OwnFrame((lengths) => codec.layout(shape, lengths), codec, framed, bytes);
    this.items = ownArguments(own!.items).map((item) => {
      const [content] = ownMessage([item], entry, plan.seed);
      const itemLayout = (lengths: HoleLengths) => layout.ownItem(content!, lengths);
      return new OwnFrame(itemLayout, codec, framed, bytesOf([item], entry));
    });
    this.calls = new Uint32Array(plan.connections);
    this.sentItems = new Uint32Array(plan.connections);
    this.stamp.runId = plan.runId;
  }

  open(stream: OpenStream): number {
    return this.send(stream, this.call, this.calls);
  }

  request(stream: OpenStream): number {
    return this.open(stream);
  }

  item(stream: OpenStream): number {
    return this.send(stream, this.itemOf(stream), this.sentItems);
  }

  /** The arguments of the call count with the first item that goes up. */
  payloadBytes(stream: OpenStream): number {
    const call = stream.position === 0 ? this.call.payloadBytes : 0;
    return this.items.length === 0 ? call : call + this.itemOf(stream).payloadBytes;
  }

  private itemOf({ position }: OpenStream): OwnFrame {
    return this.items[position % this.items.length]!;
  }

  private send(stream: OpenStream, frame: OwnFrame, sent: Uint32Array): number {
    const { stamp, source } = this;
    const { sender, callId, streamId } = stream;
    stamp.sequence = sent[sender]!++;
    source.index = sender;
    source.id = this.dependencies.idOf(sender);
    source.callId = callId;
    source.streamId = streamId;
    const template = frame.templateFor(source);
    const bytes = template.fill(stamp, undefined, Date.now(), source);
    if (!stream.connection!.send(bytes)) template.detach();
    return bytes.length;
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** One message, encoded once for each length of what names its sender. */
class OwnFrame {
  private readonly templates = new Map<number, MessageTemplate>();

  constructor(
    private readonly layout: (lengths: HoleLengths) => MessageLayout,
    private readonly codec: HubCodec,
    private readonly framed: boolean,
    readonly payloadBytes: number,
  ) {}

  templateFor(source: MessageSource): MessageTemplate {
    // Indexes are shorter than 16 digits.
    const key = (source.id?.length ?? 0) * 16 + digitsOf(source.index);
    let template = this.templates.get(key);
    if (template === undefined) {
      const layout = this.layout(holeLengths(undefined, source));
      template = new MessageTemplate(layout, this.codec, this.framed);
      this.templates.set(key, template);
    }
    return template;
  }
}

/** As JSON text, with what the files hold. */
const bytesOf = (items: readonly OwnArgument[], { files = {} }: PlanEntry): number =>
  argumentBytes(items) + bytesBeyondEstimate(items, files);
