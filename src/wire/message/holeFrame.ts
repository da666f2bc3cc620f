import { clientFrame, clientHeaderLength } from '../socket/frame';
import type { HubCodec } from '../hub/hubCodec';

/** Bytes that are always the same, or the width of a hole that is written for each message. */
export type FramePiece = Buffer | number;

/** A place of a message that is written anew each time, in bytes from the message's start. */
export interface HolePlace {
  readonly at: number;
  readonly length: number;
}

/**
 * A hub message encoded once: a masked WebSocket frame, or the bare message, in which only holes are
 * overwritten. Its bytes may be handed to a socket that takes them at once; a socket that keeps them
 * needs {@link detach} before the next message.
 */
export class HoleFrame {
  private bytes: Buffer;
  private readonly maskAt: number;
  private readonly bodyAt: number;

  /**
   * @param body the whole message with its framing, its holes empty
   * @param framed whether a WebSocket frame is wanted; otherwise the bare hub message, for HTTP bodies
   */
  constructor(
    body: Buffer,
    private readonly holes: readonly HolePlace[],
    codec: Pick<HubCodec, 'opcode'>,
    private readonly framed: boolean,
  ) {
    this.bytes = framed ? clientFrame(codec.opcode, body) : body;
    this.bodyAt = framed ? clientHeaderLength(body.length) : 0;
    this.maskAt = this.bodyAt - 4;
  }

  /** The same of a message in pieces, in their order. */
  static of(
    pieces: readonly FramePiece[],
    codec: Pick<HubCodec, 'opcode'>,
    framed: boolean,
  ): HoleFrame {
    const holes: HolePlace[] = [];
    let at = 0;
    const parts = pieces.map((piece) => {
      if (typeof piece === 'number') holes.push({ at, length: piece });
      const part = typeof piece === 'number' ? Buffer.alloc(piece) : piece;
      at += part.length;
      return part;
    });
    return new HoleFrame(Buffer.concat(parts), holes, codec, framed);
  }

  /** The frame as it stands. */
  get frame(): Buffer {
    return this.bytes;
  }

  /**
   * Fills a hole, counted from 0.
   *
   * @param bytes begins with what is written
   * @param count bytes to write, exactly as many as the hole is wide
   */
  put(hole: number, bytes: Uint8Array, count = bytes.length): void {
    const { at: shift, length } = this.holes[hole]!;
    if (count !== length) throw new Error('bytes do not fit the hole');
    const { bytes: frame, maskAt, bodyAt } = this;
    const at = bodyAt + shift;
    if (!this.framed) {
      for (let index = 0; index < length; index++) frame[at + index] = bytes[index]!;
      return;
    }
    for (let index = 0; index < length; index++) {
      frame[at + index] = bytes[index]! ^ frame[maskAt + ((shift + index) & 3)]!;
    }
  }

  /** Gives the current frame away: the next message is written into a copy. */
  detach(): void {
    this.bytes = Buffer.from(this.bytes);
  }
}
