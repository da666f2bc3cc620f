import { recordSeparator } from '../../wire/hub/hubMessage';

/** Most frames that wait for one client. */
const maxFrames = 1000;

/**
 * What is sent to a client before its hub has answered its handshake. App servers do that: messages that are
 * addressed by connection id, group or user overtake the answer, which takes the way of the client's own data.
 */
export class HeldFrames {
  readonly frames: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** Takes one more; false when there is no room for it. */
  add(frame: Buffer): boolean {
    this.bytes += frame.length;
    return this.bytes <= this.maxBytes && this.frames.push(frame) <= maxFrames;
  }

  get overflow(): string {
    return `Closed: more than ${maxFrames} messages or ${this.maxBytes} bytes were waiting for the answer to the handshake of this client.`;
  }
}

/** Where the answer to a hub handshake ends in what begins with it, and whether it refuses the client. */
export function handshakeAnswer(bytes: Buffer): {
  readonly end: number;
  readonly refuses: boolean;
} {
  const separatorAt = bytes.indexOf(recordSeparator);
  if (separatorAt < 0) return { end: bytes.length, refuses: true };
  const refuses = /"error"\s*:\s*"/.test(bytes.toString('utf8', 0, separatorAt));
  return { end: separatorAt + 1, refuses };
}
