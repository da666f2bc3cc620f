import type { Plan, PlanEntry } from '../../plan/plan';
import { payloadPicker, type PayloadPicker } from '../../plan/payloadPicker';
import type { StreamShape } from '../../usecases/streams';
import { HoleFrame } from '../../wire/message/holeFrame';
import { codecOf } from '../../wire/hub/codecs';
import { stampLength, writeStamp, type Stamp } from '../../wire/message/stamp';
import { streamLayoutOf } from '../../wire/message/streamLayout';
import type { OpenStream } from './openStream';
import { payloadBytes, textOfLength } from './payloadText';
import { sendHoles, type StreamMessages } from './streamMessages';

/** Holes of a call that makes a stream. */
const downHole = { id: 0, stamp: 1, time: 2, count: 3 } as const;
/** Holes of an item. */
const itemHole = { id: 0, stamp: 1, time: 2 } as const;

/** Streams of the bench contract: their items are dictionaries with a stamp and a payload. */
export class StreamFrames implements StreamMessages {
  private readonly opening: HoleFrame | undefined;
  /** By size of the payload: calls that make a stream, else items. */
  private readonly carrying: (HoleFrame | undefined)[] = [];
  private readonly layout;
  private readonly codec;
  private readonly letters: Buffer;
  private readonly stampBytes = Buffer.alloc(stampLength);
  private unixMs = -1;
  private time: Buffer;
  private readonly payload: PayloadPicker;

  constructor(
    plan: Plan,
    private readonly entry: PlanEntry,
    private readonly shape: StreamShape,
    private readonly framed: boolean,
  ) {
    const { direction, delayMs, method } = shape;
    this.codec = codecOf(plan.protocol);
    this.layout = streamLayoutOf(plan.protocol);
    this.payload = payloadPicker(entry, plan.seed);
    this.letters = payloadBytes(entry.payload, plan.seed, Math.max(0, ...this.payload.sizes));
    this.time = this.layout.timestamp(0);
    const { layout, codec } = this;
    if (direction === 'download') return;
    const both = direction === 'both';
    const pieces = layout.openUp(method, both ? [delayMs] : [], both);
    this.opening = HoleFrame.of(pieces, codec, framed);
  }

  open({ connection, callId, streamId }: OpenStream): number {
    const frame = this.opening!;
    frame.put(0, callId);
    frame.put(1, streamId);
    return sendHoles(connection!, frame);
  }

  request({ connection, callId, items }: OpenStream, stamp: Stamp): number {
    const frame = this.filled(stamp);
    frame.put(downHole.id, callId);
    frame.put(downHole.count, this.layout.count(items));
    return sendHoles(connection!, frame);
  }

  item({ connection, streamId }: OpenStream, stamp: Stamp): number {
    const frame = this.filled(stamp);
    frame.put(itemHole.id, streamId);
    return sendHoles(connection!, frame);
  }

  payloadBytes(_stream: OpenStream, stamp: Stamp): number {
    return this.payload.sizes[this.sizeOf(stamp)]!;
  }

  private sizeOf({ source, sequence }: Stamp): number {
    return this.payload.pick(source, 0, sequence);
  }

  private filled(stamp: Stamp): HoleFrame {
    const size = this.sizeOf(stamp);
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
    const { layout, codec, framed } = this;
    const { direction, delayMs, method } = this.shape;
    const payload = {
      blob: textOfLength(this.letters, this.payload.sizes[size]!),
      binary: this.entry.payload.content === 'binary',
    };
    const download = direction === 'download';
    const pieces = download ? layout.openDown(method, payload, delayMs) : layout.item(payload);
    return HoleFrame.of(pieces, codec, framed);
  }
}
