import type { Population } from '../../plan/population';
import { mostOpenStreams, type StreamShape } from '../../usecases/streams';
import { shownText } from '../../wire/connectFailure';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { Completion } from '../../wire/message/hubMessage';
import { streamIdLength } from '../../wire/message/messageLayout';
import { readHex, writeHex, type Stamp } from '../../wire/message/stamp';
import type { EntryRecorder, Recorder } from '../recorder';

/** What a stream was opened in. Times are run time in microseconds. */
export interface StreamStep {
  readonly index: number;
  readonly recorder: EntryRecorder;
  readonly startUs: number;
  readonly measureUs: number;
  readonly endUs: number;
}

/** The preparation's own invocations have digits only. */
const letter = { call: 0x69, stream: 0x75 } as const;

/** One place of a connection, used again and again. */
export class OpenStream {
  /**
   * `sending`: items are still due; `ended`: the same, but the hub has ended it; `answering`: only the
   * completion is outstanding; `cancelled`: the same, and whatever it says is right; `late`: it was given up,
   * but items may still come that only this place can distinguish.
   */
  state: 'free' | 'sending' | 'ended' | 'answering' | 'cancelled' | 'late' = 'free';
  connection: HubConnection | undefined;
  step: StreamStep | undefined;
  /** Id of the call, and of the stream that goes up, as they stand in messages. */
  readonly callId = Buffer.alloc(streamIdLength, letter.call);
  readonly streamId = Buffer.alloc(streamIdLength, letter.stream);
  /** Rises by the number of places with each use. */
  id: number;
  firstUs = 0;
  /** When the next item is due, or when the time for an answer is over. */
  nextUs = 0;
  items = 0;
  wanted = 0;
  /** Items that were due so far. */
  position = 0;
  firstSequence = 0;
  nextSequence = 0;
  sentUs = 0;
  /** Items that came, of those that only their order distinguishes; and when those left that wait for theirs. */
  came = 0;
  readonly leftUs: number[] = [];
  isAnswered = false;
  previous: OpenStream | undefined;
  next: OpenStream | undefined;

  constructor(
    readonly sender: number,
    readonly place: number,
  ) {
    this.id = place;
  }

  /** Takes the place for a new stream, whose ids no earlier one had. */
  renew(): void {
    this.id = (this.id + idStep) % 2 ** 32;
    writeHex(this.callId, 1, streamIdLength - 1, this.id);
    writeHex(this.streamId, 1, streamIdLength - 1, this.id);
    this.firstSequence = this.nextSequence;
    this.position = 0;
    this.came = 0;
    this.leftUs.length = 0;
  }
}

/** The place is what is left. */
const idStep = 2 ** Math.ceil(Math.log2(mostOpenStreams));

/** Number in the id of a call as {@link OpenStream} writes it; −1 when it is another's. */
export function callNumber(invocationId: string): number {
  if (invocationId.length !== streamIdLength) return -1;
  return callNumberAt(Buffer.from(invocationId, 'latin1'), 0);
}

/** The same of an id that stands in a message. */
export function callNumberAt(buffer: Buffer, at: number): number {
  return buffer[at] === letter.call ? readHex(buffer, at + 1, streamIdLength - 1) : -1;
}

export class StreamPlaces {
  private readonly all: OpenStream[] = [];
  private readonly free: OpenStream[] = [];

  constructor(private readonly sender: number) {}

  /** Undefined when too many streams are open. */
  take(): OpenStream | undefined {
    const free = this.free.pop();
    if (free !== undefined || this.all.length === mostOpenStreams) return free;
    const made = new OpenStream(this.sender, this.all.length);
    this.all.push(made);
    return made;
  }

  release(stream: OpenStream): void {
    stream.state = 'free';
    stream.connection = undefined;
    this.free.push(stream);
  }

  /** The place that a number in an id belongs to. */
  of(id: number): OpenStream | undefined {
    return this.all[id % idStep];
  }

  at(place: number): OpenStream | undefined {
    return this.all[place];
  }

  [Symbol.iterator](): Iterator<OpenStream> {
    return this.all[Symbol.iterator]();
  }
}

/** By their next times: each that is added is due after those that are there. */
export class StreamQueue {
  first: OpenStream | undefined;
  private last: OpenStream | undefined;

  get nextUs(): number {
    return this.first?.nextUs ?? Infinity;
  }

  push(stream: OpenStream): void {
    stream.previous = this.last;
    stream.next = undefined;
    if (this.last === undefined) this.first = stream;
    else this.last.next = stream;
    this.last = stream;
  }

  remove(stream: OpenStream): void {
    const { previous, next } = stream;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.last = previous;
    else next.previous = previous;
    stream.previous = stream.next = undefined;
  }
}

/** No timer of a hub is so much too early. */
const mostEarlyUs = 50_000;

/** In the step that has opened the stream. */
export class StreamCounts {
  readonly delayUs: number;
  /** The most that an item of the user's own came too early. */
  private earliestUs = 0;
  private isEarlyReported = false;

  constructor(
    private readonly shape: StreamShape,
    private readonly recorder: Pick<Recorder, 'delivered'>,
  ) {
    this.delayUs = shape.delayMs * 1000;
  }

  /** Whether items are still due: of a stream that comes down only the wanted ones. */
  isOwing({ position, items, wanted }: OpenStream): boolean {
    return position < (this.shape.direction === 'download' ? wanted : items);
  }

  /** For the item at hand; false behind the last. */
  owe(stream: OpenStream): boolean {
    const { measureUs, recorder } = stream.step!;
    const last = stream.position === stream.items - 1;
    const upload = this.shape.direction === 'upload';
    const brings = upload ? last : stream.position < stream.wanted;
    if (brings && stream.nextUs >= measureUs) recorder.expected += 1;
    stream.position += 1;
    stream.nextUs += this.delayUs;
    return this.isOwing(stream);
  }

  oweUntil(stream: OpenStream, nowUs: number): void {
    while (stream.nextUs <= nowUs && this.isOwing(stream) && this.owe(stream));
  }

  /** Items that the user's own method makes may come before they are due; none is owed once more. */
  oweWhatCame(stream: OpenStream): void {
    if (this.shape.direction !== 'download') return;
    while (stream.position < Math.min(stream.came, stream.wanted)) this.owe(stream);
  }

  /** What a stream of `items` items would have brought that was due then and could not be opened. */
  oweRefused({ measureUs, recorder }: StreamStep, firstUs: number, items: number): void {
    const { direction, wanted } = this.shape;
    const upload = direction === 'upload';
    const until = upload ? items : Math.min(items, wanted);
    for (let position = upload ? items - 1 : 0; position < until; position++)
      if (firstUs + position * this.delayUs >= measureUs) recorder.expected += 1;
  }

  /** Items that were due from that one on, as far as the step goes, whether they are sent or not. */
  offer(
    { recorder, measureUs, endUs }: StreamStep,
    firstUs: number,
    from: number,
    items: number,
  ): void {
    for (let position = from; position < items; position++) {
      const itemUs = firstUs + position * this.delayUs;
      if (itemUs >= endUs) return;
      if (itemUs >= measureUs) recorder.offered += 1;
    }
  }

  sent({ step }: OpenStream, stamp: Stamp, payloadBytes: number, nowUs: number): void {
    if (stamp.warmup) return;
    const { recorder } = step!;
    recorder.offered += 1;
    recorder.sent += 1;
    recorder.payloadBytesIn += payloadBytes;
    recorder.slip.record(nowUs - stamp.intendedUs);
  }

  sentBytes({ step }: OpenStream, dueUs: number, wireBytes: number): void {
    const { measureUs, recorder } = step!;
    if (dueUs >= measureUs) recorder.wireBytesIn += wireBytes;
  }

  /** An upload has its answer, which is the delivery; it may come twice, or after it was given up. */
  answered(stream: OpenStream, nowUs: number): void {
    const intendedUs = stream.firstUs + (stream.items - 1) * this.delayUs;
    const { index, measureUs, recorder } = stream.step!;
    const { isAnswered, sender, sentUs } = stream;
    stream.isAnswered = true;
    if (intendedUs < measureUs) return;
    if (isAnswered) recorder.duplicated += 1;
    else this.recorder.delivered(index, recorder, sender, intendedUs, sentUs, nowUs);
  }

  /** Whether the stream has waited for this item of the user's own; `isStray`: it was given up. */
  itemCame(
    stream: OpenStream,
    isStray: boolean,
    payloadBytes: number,
    wireBytes: number,
    nowUs: number,
  ): boolean {
    const { shape, delayUs } = this;
    const { came, wanted, position } = stream;
    const goesUp = shape.direction === 'both';
    // What goes up comes back one for one: before it went, nothing that comes is its answer.
    const isMeant = !isStray && came < (goesUp ? Math.min(wanted, position) : wanted);
    const { recorder, measureUs, index } = stream.step!;
    if (!isMeant) {
      // What a hub still makes when the step is over was not asked for, but nobody could stop it before.
      const isCutOff = !isStray && !goesUp && came < shape.wanted;
      if (isCutOff) stream.came += 1;
      else if (nowUs >= measureUs) {
        recorder.wireBytesOut += wireBytes;
        recorder.extra += 1;
      }
      return false;
    }
    stream.came += 1;
    const dueUs = stream.firstUs + came * delayUs;
    const leftUs = goesUp ? stream.leftUs.shift()! : stream.sentUs + came * delayUs;
    this.earliestUs = Math.max(this.earliestUs, dueUs - nowUs);
    if (dueUs < measureUs) return true;
    recorder.wireBytesOut += wireBytes;
    recorder.payloadBytesOut += payloadBytes;
    this.recorder.delivered(index, recorder, stream.sender, dueUs, leftUs, nowUs);
    return true;
  }

  /** What to report, once, of a pause that is written too long and hides latency; else undefined. */
  earlyWords(): string | undefined {
    if (this.isEarlyReported || this.earliestUs < mostEarlyUs) return undefined;
    this.isEarlyReported = true;
    const early = Math.round(this.earliestUs / 1000);
    return `${this.shape.method}: an item came ${early} ms before it was due; streamingItemSendDelay is longer than the pause of the method, so that latencies are too short`;
  }
}

/** Undefined when nothing is wrong with the completion. `isOwing`: items are still due. */
export function wrongEnd(
  { state, items, wanted, came }: OpenStream,
  { error, result }: Completion,
  { method, direction, own }: StreamShape,
  isOwing: boolean,
): string | undefined {
  // .NET may end a cancelled stream with an error; that of a late one was reported.
  if (state === 'cancelled' || state === 'late') return undefined;
  if (typeof error === 'string') return shownText(error);
  if (own !== undefined && direction !== 'upload') {
    // Its items may have come before they were due. The place of a stream that was given up says nothing.
    if (state === 'free' || came >= wanted) return undefined;
    return `${method}: completed after ${came} of ${wanted} items`;
  }
  if (isOwing) return `${method}: completed before its last item`;
  if (own !== undefined || direction !== 'upload' || result === items) return undefined;
  const counted = typeof result === 'number' ? String(result) : 'no number';
  return `${method}: the hub counted ${counted} of ${items} items`;
}

export function fillItemStamp(
  stamp: Stamp,
  { firstSource, sourcesPerSender }: Population,
  stream: OpenStream,
  position: number,
  delayUs: number,
  nowUs: number,
): void {
  const { index, measureUs } = stream.step!;
  const wanted = position < stream.wanted;
  const place = wanted ? stream.place : sourcesPerSender - 1;
  stamp.step = index;
  stamp.source = firstSource + stream.sender * sourcesPerSender + place;
  stamp.sequence = wanted ? stream.firstSequence + position : 0;
  stamp.intendedUs = stream.firstUs + position * delayUs;
  stamp.sentUs = nowUs;
  stamp.warmup = stamp.intendedUs < measureUs;
}
