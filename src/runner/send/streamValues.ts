import { hubMessageType } from '../../wire/hub/hubMessage';
import type { MessageArgument } from '../../base/messageArgument';
import { payloadPicker, type PayloadPicker } from '../../plan/draws';
import type { Plan, PlanEntry } from '../../plan/plan';
import { ownArguments } from '../../usecases/ownArguments';
import type { StreamShape } from '../../usecases/streams';
import type { HubConnection } from '../../wire/hub/clientConnection';
import { recordLatencyShape } from '../../wire/message/messageLayout';
import { valueOf, type HoleContent } from '../../wire/message/messageValue';
import { emptyStamp, type Stamp } from '../../wire/message/stamp';
import { ownMessage, payloadBytes, textOfLength } from './messageShape';
import type { OpenStream } from './openStream';
import { bytesOf, type StreamMessages } from './streamMessages';

/** What goes up, and how long it is. */
interface Item {
  readonly argument: MessageArgument;
  readonly payloadBytes: number;
}

/** The messages of streams, of the bench contract or the user's own, for an official client. */
export class StreamValues implements StreamMessages {
  /** Of the bench contract by size of the payload, of the user's own in turn. */
  private readonly items: readonly Item[];
  /** The user's own, with their bytes. */
  private readonly ownCall:
    { readonly arguments: readonly MessageArgument[]; readonly payloadBytes: number } | undefined;
  private readonly payload: PayloadPicker;
  private readonly ownStamp = emptyStamp();
  /** Calls and items of the user's own so far, by sender. */
  private readonly calls: Uint32Array;
  private readonly sentItems: Uint32Array;

  constructor(
    private readonly plan: Plan,
    entry: PlanEntry,
    private readonly shape: StreamShape,
    private readonly idOf: (index: number) => Buffer | undefined,
  ) {
    const { own } = shape;
    this.payload = payloadPicker(entry, plan.seed);
    this.calls = new Uint32Array(plan.connections);
    this.sentItems = new Uint32Array(plan.connections);
    this.ownStamp.runId = plan.runId;
    if (own === undefined) {
      const binary = entry.payload.content === 'binary';
      const letters = payloadBytes(entry.payload, plan.seed, Math.max(0, ...this.payload.sizes));
      this.items = this.payload.sizes.map((bytes) => {
        const blob = textOfLength(letters, bytes);
        const [argument] = recordLatencyShape({ method: '', blob, binary }).arguments;
        return { argument: argument!, payloadBytes: bytes };
      });
    } else {
      const args = ownArguments(own.arguments);
      const bytes = bytesOf(args, entry);
      this.ownCall = { arguments: ownMessage(args, entry, plan.seed), payloadBytes: bytes };
      this.items = ownArguments(own.items).map((item) => ({
        argument: ownMessage([item], entry, plan.seed)[0]!,
        payloadBytes: bytesOf([item], entry),
      }));
    }
  }

  open(stream: OpenStream): number {
    const { direction, delayMs } = this.shape;
    if (this.ownCall === undefined) return this.call(stream, direction === 'both' ? [delayMs] : []);
    const holes = this.ownHoles(stream, this.calls);
    return this.call(
      stream,
      this.ownCall.arguments.map((argument) => valueOf(argument, holes)),
    );
  }

  request(stream: OpenStream, stamp: Stamp): number {
    if (this.ownCall !== undefined) return this.open(stream);
    const { items, sender: index } = stream;
    const holes = { protocol: this.plan.protocol, stamp, nowMs: Date.now(), source: { index } };
    const { argument } = this.items[this.sizeOf(stamp)]!;
    return this.call(stream, [valueOf(argument, holes), items, this.shape.delayMs]);
  }

  item(stream: OpenStream, stamp: Stamp): number {
    const { argument } = this.itemOf(stream, stamp);
    const { sender: index, streamId } = stream;
    const holes =
      this.ownCall === undefined
        ? { protocol: this.plan.protocol, stamp, nowMs: Date.now(), source: { index } }
        : this.ownHoles(stream, this.sentItems);
    const item = valueOf(argument, holes);
    return stream.connection!.sendMessage({
      type: hubMessageType.streamItem,
      invocationId: idText(streamId),
      item,
    });
  }

  payloadBytes(stream: OpenStream, stamp: Stamp): number {
    const call = stream.position === 0 ? (this.ownCall?.payloadBytes ?? 0) : 0;
    const hasItem = this.ownCall === undefined || this.items.length > 0;
    return hasItem ? call + this.itemOf(stream, stamp).payloadBytes : call;
  }

  /** No further items; returns the bytes on the wire. */
  end({ connection, streamId }: OpenStream): number {
    return connection!.sendMessage({
      type: hubMessageType.completion,
      invocationId: idText(streamId),
    });
  }

  cancel({ callId }: OpenStream, connection: HubConnection): void {
    connection.sendMessage({ type: hubMessageType.cancelInvocation, invocationId: idText(callId) });
  }

  private call({ connection, callId, streamId }: OpenStream, args: readonly unknown[]): number {
    const { method, direction } = this.shape;
    return connection!.sendMessage({
      type: direction === 'upload' ? hubMessageType.invocation : hubMessageType.streamInvocation,
      invocationId: idText(callId),
      target: method,
      arguments: args,
      ...(direction !== 'download' && { streamIds: [idText(streamId)] }),
    });
  }

  private itemOf({ position }: OpenStream, stamp: Stamp): Item {
    const { items } = this;
    return items[this.ownCall === undefined ? this.sizeOf(stamp) : position % items.length]!;
  }

  private sizeOf({ source, sequence }: Stamp): number {
    return this.payload.pick(source, 0, sequence);
  }

  private ownHoles({ sender, callId, streamId }: OpenStream, sent: Uint32Array): HoleContent {
    const { ownStamp: stamp } = this;
    stamp.sequence = sent[sender]!++;
    const source = { index: sender, id: this.idOf(sender), callId, streamId };
    return { protocol: this.plan.protocol, stamp, nowMs: Date.now(), source };
  }
}

const idText = (id: Buffer): string => id.toString('latin1');
