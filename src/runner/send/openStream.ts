import { mostOpenStreams } from '../../usecases/streams';
import type { HubConnection } from '../../wire/hub/clientConnection';
import { readHex, writeHex } from '../../wire/message/stamp';
import { streamIdLength } from '../../wire/message/messageLayout';
import type { EntryRecorder } from '../receive/recorder';

/** What a stream was opened in. Times are run time in microseconds. */
export interface StreamStep {
  readonly index: number;
  readonly recorder: EntryRecorder;
  readonly startUs: number;
  /** What is due from here on counts. */
  readonly measureUs: number;
  readonly endUs: number;
}

/** First letters of ids; the preparation's own invocations have digits only. */
const letter = { call: 0x69, stream: 0x75 } as const;

/** One place of a connection for an open stream, used again and again. */
export class OpenStream {
  /**
   * `sending`: items are still due; `ended`: the same, but the hub has ended it; `answering`: only the
   * completion is outstanding; `cancelled`: the same, and whatever it says is right; `late`: it was given up,
   * but items may still come that only this place can tell apart.
   */
  state: 'free' | 'sending' | 'ended' | 'answering' | 'cancelled' | 'late' = 'free';
  connection: HubConnection | undefined;
  step: StreamStep | undefined;
  /** Id of the call, and of the stream that goes up, as they stand in messages. */
  readonly callId = Buffer.alloc(streamIdLength, letter.call);
  readonly streamId = Buffer.alloc(streamIdLength, letter.stream);
  /** Number in both ids; rises by the number of places with each use. */
  id: number;
  /** When the first item was due. */
  firstUs = 0;
  /** When the next item is due, or when the time for an answer is over. */
  nextUs = 0;
  items = 0;
  wanted = 0;
  /** Items that were due so far. */
  position = 0;
  firstSequence = 0;
  nextSequence = 0;
  /** When the last thing was sent. */
  sentUs = 0;
  /** Items that came, of those that are told apart by their order; and when those left that wait for theirs. */
  came = 0;
  readonly leftUs: number[] = [];
  /** Its answer was counted. */
  isAnswered = false;
  previous: OpenStream | undefined;
  next: OpenStream | undefined;

  /** @param place of the stream among those of its connection */
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

/** Ids of one place differ by this; the place is what is left. */
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

/** All streams of one connection. */
export class StreamPlaces {
  private readonly all: OpenStream[] = [];
  private readonly free: OpenStream[] = [];

  constructor(private readonly sender: number) {}

  /** A free place; undefined when too many streams are open. */
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

/** Streams in the order of their next times: each that is added is due after those that are there. */
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
