import type { Population } from '../../plan/population';
import { mostOpenStreams, type StreamShape } from '../../usecases/streams';
import { shownText } from '../../wire/connectFailure';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { Completion } from '../../wire/message/hubMessage';
import { streamIdLength } from '../../wire/message/messageLayout';
import { readHex, writeHex, type Stamp } from '../../wire/message/stamp';
import type { Recorder } from '../recorder';
import type { Queued } from './dueQueues';
import type { ReceivedMessage, StepWindow } from './entrySender';

/** First letter of ids; those of the preparation have digits only. */
const letter = { call: 0x69, stream: 0x75 } as const;

/** One stream slot of a connection, reused. Everything counts in the step in which the stream was opened. */
export class OpenStream implements Queued<OpenStream> {
  /**
   * `ended`: items are due, but the hub has ended the stream. `answering`: waits for the completion. `cancelled`: the
   * same, and errors are accepted. `late`: given up, but the slot still absorbs its items.
   */
  state: 'free' | 'sending' | 'ended' | 'answering' | 'cancelled' | 'late' = 'free';
  connection: HubConnection | undefined;
  step!: StepWindow;
  readonly callId = Buffer.alloc(streamIdLength, letter.call);
  readonly streamId = Buffer.alloc(streamIdLength, letter.stream);
  /** Grows by the number of slots with each use. */
  id: number;
  firstUs = 0;
  nextUs = 0;
  items = 0;
  wanted = 0;
  position = 0;
  firstSequence = 0;
  nextSequence = 0;
  sentUs = 0;
  /** Items received (only of the user's own streams), and send times of items whose echo is pending. */
  came = 0;
  readonly leftUs: number[] = [];
  private isAnswered = false;
  previous: OpenStream | undefined;
  next: OpenStream | undefined;
  private readonly delayUs: number;

  constructor(
    readonly sender: number,
    readonly place: number,
    private readonly shape: StreamShape,
  ) {
    this.id = place;
    this.delayUs = shape.delayMs * 1000;
  }

  /** Starts a new stream with ids never used before. */
  renew(): void {
    this.id = (this.id + idStep) % 2 ** 32;
    writeHex(this.callId, 1, streamIdLength - 1, this.id);
    writeHex(this.streamId, 1, streamIdLength - 1, this.id);
    this.firstSequence = this.nextSequence;
    this.position = 0;
    this.came = 0;
    this.leftUs.length = 0;
    this.isAnswered = false;
  }

  get isExpecting(): boolean {
    return this.position < (this.shape.direction === 'download' ? this.wanted : this.items);
  }

  /** Counts the expected delivery of the current item; false after the last. */
  expectNext(): boolean {
    const { measureUs, recorder } = this.step;
    const upload = this.shape.direction === 'upload';
    const brings = upload ? this.position === this.items - 1 : this.position < this.wanted;
    if (brings && this.nextUs >= measureUs) recorder.expected += 1;
    this.position += 1;
    this.nextUs += this.delayUs;
    return this.isExpecting;
  }

  expectUntil(nowUs: number): void {
    while (this.nextUs <= nowUs && this.isExpecting && this.expectNext());
  }

  /** Items may arrive before they are due; they are expected once. */
  expectWhatCame(): void {
    if (this.shape.direction !== 'download') return;
    while (this.position < Math.min(this.came, this.wanted)) this.expectNext();
  }

  fillStamp(stamp: Stamp, of: Population, position: number, nowUs: number): void {
    const { index, measureUs } = this.step;
    const wanted = position < this.wanted;
    const place = wanted ? this.place : of.sourcesPerSender - 1;
    stamp.step = index;
    stamp.source = of.firstSource + this.sender * of.sourcesPerSender + place;
    stamp.sequence = wanted ? this.firstSequence + position : 0;
    stamp.intendedUs = this.firstUs + position * this.delayUs;
    stamp.sentUs = nowUs;
    stamp.warmup = stamp.intendedUs < measureUs;
  }

  sent(stamp: Stamp, payloadBytes: number, nowUs: number): void {
    const { recorder } = this.step;
    recorder.slip.record(nowUs - stamp.intendedUs, stamp.warmup);
    if (stamp.warmup) return;
    recorder.offered += 1;
    recorder.sent += 1;
    recorder.payloadBytesIn += payloadBytes;
  }

  sentBytes(dueUs: number, wireBytes: number): void {
    if (dueUs >= this.step.measureUs) this.step.recorder.wireBytesIn += wireBytes;
  }

  /** An upload's completion is its delivery; it may come twice or late. */
  answered(to: Deliveries, nowUs: number): void {
    const intendedUs = this.firstUs + (this.items - 1) * this.delayUs;
    const { index, measureUs, recorder } = this.step;
    const again = this.isAnswered;
    this.isAnswered = true;
    if (intendedUs < measureUs) return;
    if (again) recorder.duplicated += 1;
    else to.delivered(index, recorder, this.sender, intendedUs, this.sentUs, nowUs);
  }

  /** Microseconds by which an item came too early; undefined if it was not expected. */
  itemCame(
    to: Deliveries,
    isStray: boolean,
    payloadBytes: number,
    { wireBytes, nowUs }: ReceivedMessage,
  ): number | undefined {
    const { shape, delayUs, came, wanted, position } = this;
    const goesUp = shape.direction === 'both';
    // Echoes come one by one: none can precede its item.
    const isMeant = !isStray && came < (goesUp ? Math.min(wanted, position) : wanted);
    const { recorder, measureUs, index } = this.step;
    if (!isMeant) {
      // Items the hub makes after the end of the step are not extra: nobody could stop it earlier.
      const isCutOff = !isStray && !goesUp && came < shape.wanted;
      if (isCutOff) this.came += 1;
      else if (nowUs >= measureUs) {
        recorder.countWireOut(wireBytes, nowUs);
        recorder.extra += 1;
      }
      return undefined;
    }
    this.came += 1;
    const dueUs = this.firstUs + came * delayUs;
    const leftUs = goesUp ? this.leftUs.shift()! : this.sentUs + came * delayUs;
    if (dueUs >= measureUs) {
      recorder.countWireOut(wireBytes, nowUs);
      if (to.delivered(index, recorder, this.sender, dueUs, leftUs, nowUs))
        recorder.payloadBytesOut += payloadBytes;
    }
    return dueUs - nowUs;
  }

  /** Undefined when the completion is as expected. @param isExpecting items are still due */
  wrongEnd({ error, result }: Completion, isExpecting: boolean): string | undefined {
    const { state, items, wanted, came } = this;
    const { method, direction, own } = this.shape;
    // .NET may end cancelled streams with an error; late ones were reported.
    if (state === 'cancelled' || state === 'late') return undefined;
    if (typeof error === 'string') return shownText(error);
    if (own !== undefined && direction !== 'upload') {
      // Items may arrive early; the slot of a stream given up says nothing.
      if (state === 'free' || came >= wanted) return undefined;
      return `${method}: completed after ${came} of ${wanted} items`;
    }
    if (isExpecting) return `${method}: completed before its last item`;
    if (own !== undefined || direction !== 'upload' || result === items) return undefined;
    const counted = typeof result === 'number' ? String(result) : 'no number';
    return `${method}: the hub counted ${counted} of ${items} items`;
  }
}

type Deliveries = Pick<Recorder, 'delivered'>;

/** The remainder is the slot. */
const idStep = 2 ** Math.ceil(Math.log2(mostOpenStreams));

/** Number of a call id; −1 when it is none of ours. */
export function streamCallNumber(invocationId: string): number {
  if (invocationId.length !== streamIdLength) return -1;
  return streamCallNumberAt(Buffer.from(invocationId, 'latin1'), 0);
}

export function streamCallNumberAt(buffer: Buffer, at: number): number {
  return buffer[at] === letter.call ? readHex(buffer, at + 1, streamIdLength - 1) : -1;
}

export class StreamSlots {
  readonly all: OpenStream[] = [];
  private readonly free: OpenStream[] = [];

  constructor(
    private readonly sender: number,
    private readonly shape: StreamShape,
  ) {}

  take(): OpenStream | undefined {
    const free = this.free.pop();
    if (free !== undefined || this.all.length === mostOpenStreams) return free;
    const made = new OpenStream(this.sender, this.all.length, this.shape);
    this.all.push(made);
    return made;
  }

  release(stream: OpenStream): void {
    stream.state = 'free';
    stream.connection = undefined;
    this.free.push(stream);
  }

  of(id: number): OpenStream | undefined {
    return this.all[id % idStep];
  }
}
