import type { HubConnection } from '../../src/wire/hub/clientConnection';
import type { HubMessage } from '../../src/wire/message/hubMessage';

/** A connection that keeps what it is given to send. */
export class FakeConnection {
  isOpen = true;
  lastReceivedUs = 0;
  readonly frames: Buffer[] = [];
  /** What it was given to encode by itself. */
  readonly messages: HubMessage[] = [];
  /** What `send` answers: whether the socket takes the bytes at once. */
  takes = true;

  constructor(readonly index: number) {}

  get stopped(): boolean {
    return !this.isOpen;
  }

  send(frame: Buffer): boolean {
    // A socket that does not take the bytes keeps the frame itself.
    this.frames.push(this.takes ? Buffer.from(frame) : frame);
    return this.takes;
  }

  sendMessage(message: HubMessage): number {
    return this.messages.push(message);
  }

  /** The same, for code that knows real connections only. */
  get asHub(): HubConnection {
    return this as unknown as HubConnection;
  }
}
