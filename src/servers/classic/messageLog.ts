/** The latest messages of a connection by their numbers, which count up from 0. */
export class MessageLog {
  /** Of all that are kept. */
  bytes = 0;
  private messages: Buffer[] = [];
  private head = 0;
  private dropped = 0;

  /** Number of the oldest message that is kept. */
  get first(): number {
    return this.dropped;
  }

  /** Number of the next message. */
  get next(): number {
    return this.dropped + this.count;
  }

  get count(): number {
    return this.messages.length - this.head;
  }

  push(message: Buffer): void {
    this.messages.push(message);
    this.bytes += message.length;
  }

  /** @param number of a message that is kept */
  at(number: number): Buffer {
    return this.messages[this.head + number - this.dropped]!;
  }

  /** @returns its size */
  dropOldest(): number {
    const size = this.messages[this.head]!.length;
    // Set free at once, and cut off when it is the larger part: constant cost per message.
    this.messages[this.head++] = empty;
    if (this.head * 2 > this.messages.length) {
      this.messages = this.messages.slice(this.head);
      this.head = 0;
    }
    this.dropped++;
    this.bytes -= size;
    return size;
  }
}

const empty = Buffer.alloc(0);
