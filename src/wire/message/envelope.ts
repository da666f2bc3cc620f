/** Longest name or id in a message that a server reads. */
export const maxNameBytes = 512;

/** What stands around the arguments, item or result of a hub message, which stay the bytes they came in. */
export class Envelope {
  type = NaN;
  target = '';
  /** Of a stream for stream items and their completion; undefined when nobody waits for an answer. */
  invocationId: string | undefined = undefined;
  /** The whole array including its brackets. */
  argumentsStart = 0;
  argumentsEnd = 0;
  argumentCount = 0;
  /** Where the first arguments stand, begin and end of each in turn; no method takes more than three. */
  private readonly spans: number[] = [];
  streamIds: string[] | undefined = undefined;
  item: Buffer | undefined = undefined;
  result: Buffer | undefined = undefined;
  error: string | undefined = undefined;
  allowReconnect: boolean | undefined = undefined;
  sequenceId = NaN;

  /** @param start of the message itself, without what marks its end or its length; `end` is behind it */
  constructor(
    readonly bytes: Buffer,
    readonly start: number,
    readonly end: number,
  ) {}

  /** The arguments follow; those of a list that stands there once more take the place of the first. */
  beginArguments(start: number): void {
    this.argumentsStart = start;
    this.argumentCount = this.spans.length = 0;
  }

  foundArgument(start: number, end: number): void {
    if (this.argumentCount++ < 3) this.spans.push(start, end);
  }

  argument(index: number): Buffer {
    return this.bytes.subarray(this.spans[2 * index], this.spans[2 * index + 1]);
  }

  /** The list from the argument on, with the bracket at its end if it has one. */
  argumentsFrom(index: number): Buffer {
    return this.bytes.subarray(this.spans[2 * index], this.argumentsEnd);
  }

  get allArguments(): Buffer {
    return this.bytes.subarray(this.argumentsStart, this.argumentsEnd);
  }
}
