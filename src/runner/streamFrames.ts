import type { Plan, PlanEntry } from '../plan/plan';
import { payloadPicker, type PayloadPicker } from '../plan/payloadPicker';
import { entryRun } from '../plan/entryRun';
import type { StreamShape } from '../usecases/streams';
import { HoleFrame } from '../wire/holeFrame';
import type { HubConnection } from '../wire/hubConnection';
import { codecOf } from '../wire/hubCodec';
import { stampLength, writeStamp, type Stamp } from '../wire/stamp';
import { streamLayoutOf } from '../wire/streamLayout';
import type { OpenStream } from './openStream';
import { payloadBytes, textOfLength } from './payloadText';

/** Holes of a call that makes a stream. */
const downHole = { id: 0, stamp: 1, time: 2, count: 3 } as const;
/** Holes of an item. */
const itemHole = { id: 0, stamp: 1, time: 2 } as const;

/**
 * The messages of one entry's streams, each encoded once. All methods send on the stream's connection
 * and return the bytes on the wire.
 */
export class StreamFrames {
  private readonly opening: HoleFrame | undefined;
  private readonly ending: HoleFrame;
  private readonly cancelling: HoleFrame;
  /** By size of the payload: calls that make a stream, else items. */
  private readonly carrying: (HoleFrame | undefined)[] = [];
  private readonly layout;
  private readonly codec;
  private readonly payloadBytes: Buffer;
  private readonly stampBytes = Buffer.alloc(stampLength);
  private unixMs = -1;
  private time: Buffer;
  readonly method: string;
  readonly payload: PayloadPicker;

  constructor(
    plan: Plan,
    private readonly entry: PlanEntry,
    private readonly shape: StreamShape,
    private readonly framed: boolean,
  ) {
    const { direction, delayMs } = shape;
    this.codec = codecOf(plan.protocol);
    this.layout = streamLayoutOf(plan.protocol);
    const ownMethod = entry.parameters['streamingMethod'];
    this.method = typeof ownMethod === 'string' ? ownMethod : entryRun(entry).streams![direction];
    this.payload = payloadPicker(entry, plan.seed);
    this.payloadBytes = payloadBytes(entry, plan.seed, Math.max(0, ...this.payload.sizes));
    this.time = this.layout.timestamp(0);
    const { layout, codec } = this;
    this.ending = HoleFrame.of(layout.end(), codec, framed);
    this.cancelling = HoleFrame.of(layout.cancel(), codec, framed);
    if (direction === 'download') return;
    const both = direction === 'both';
    const pieces = layout.openUp(this.method, both ? [delayMs] : [], both);
    this.opening = HoleFrame.of(pieces, codec, framed);
  }

  /** Calls the method that takes the stream. */
  open({ connection, callId, streamId }: OpenStream): number {
    const frame = this.opening!;
    frame.put(0, callId);
    frame.put(1, streamId);
    return send(connection!, frame);
  }

  /** Calls the method that makes a stream of `items` items. */
  request({ connection, callId, items }: OpenStream, stamp: Stamp, size: number): number {
    const frame = this.filled(stamp, size);
    frame.put(downHole.id, callId);
    frame.put(downHole.count, this.layout.count(items));
    return send(connection!, frame);
  }

  item({ connection, streamId }: OpenStream, stamp: Stamp, size: number): number {
    const frame = this.filled(stamp, size);
    frame.put(itemHole.id, streamId);
    return send(connection!, frame);
  }

  /** No further items. */
  end({ connection, streamId }: OpenStream): number {
    this.ending.put(0, streamId);
    return send(connection!, this.ending);
  }

  cancel({ callId }: OpenStream, connection: HubConnection): number {
    this.cancelling.put(0, callId);
    return send(connection, this.cancelling);
  }

  private filled(stamp: Stamp, size: number): HoleFrame {
    const frame = (this.carrying[size] ??= this.made(size));
    writeStamp(this.stampBytes, 0, stamp);
    frame.put(itemHole.stamp, this.stampBytes);
    const unixMs = Date.now();
    if (unixMs !== this.unixMs) {
      this.unixMs = unixMs;
      this.time = this.layout.timestamp(unixMs);
    }
    frame.put(itemHole.time, this.time);
    return frame;
  }

  private made(size: number): HoleFrame {
    const { layout, codec, framed, method } = this;
    const { direction, delayMs } = this.shape;
    const payload = {
      blob: textOfLength(this.payloadBytes, this.payload.sizes[size]!),
      binary: this.entry.parameters['payload'] === 'binary',
    };
    const download = direction === 'download';
    const pieces = download ? layout.openDown(method, payload, delayMs) : layout.item(payload);
    return HoleFrame.of(pieces, codec, framed);
  }
}

function send(connection: HubConnection, holes: HoleFrame): number {
  const { frame } = holes;
  if (!connection.send(frame)) holes.detach();
  return frame.length;
}
