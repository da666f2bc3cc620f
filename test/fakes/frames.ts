import { opcode } from '../../src/wire/socket/frame';

export interface FrameOptions {
  /** FIN; false for all but the last fragment. */
  readonly last?: boolean;
  /** Bits of the length, the smallest that hold it when absent. */
  readonly lengthBits?: 7 | 16 | 64;
}

/** A frame as a server sends it: unmasked. */
export function serverFrame(code: number, payload: Uint8Array, options: FrameOptions = {}): Buffer {
  const { length } = payload;
  const bits = options.lengthBits ?? (length < 126 ? 7 : length < 65_536 ? 16 : 64);
  const head = Buffer.alloc(bits === 7 ? 2 : bits === 16 ? 4 : 10);
  head[0] = code | (options.last === false ? 0 : 0x80);
  head[1] = bits === 7 ? length : bits === 16 ? 126 : 127;
  if (bits === 16) head.writeUInt16BE(length, 2);
  if (bits === 64) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** A text frame around hub messages, each of which gets its separator. */
export function hubFrame(...messages: readonly object[]): Buffer {
  const text = messages.map((message) => `${JSON.stringify(message)}\x1e`).join('');
  return serverFrame(opcode.text, Buffer.from(text));
}

export interface ClientFrame {
  readonly code: number;
  readonly mask: Buffer;
  /** Unmasked. */
  readonly payload: Buffer;
}

/** The first whole frame of what a client sent, and the rest; undefined while it is incomplete. */
export function takeClientFrame(
  bytes: Buffer,
): { readonly frame: ClientFrame; readonly rest: Buffer } | undefined {
  const marker = (bytes[1] ?? 0x80) & 0x7f;
  const maskAt = marker < 126 ? 2 : marker === 126 ? 4 : 10;
  if (bytes.length < maskAt + 4) return undefined;
  if ((bytes[1]! & 0x80) === 0) throw new Error('a client frame is not masked');
  const length =
    marker < 126
      ? marker
      : marker === 126
        ? bytes.readUInt16BE(2)
        : Number(bytes.readBigUInt64BE(2));
  const end = maskAt + 4 + length;
  if (bytes.length < end) return undefined;
  const mask = Buffer.from(bytes.subarray(maskAt, maskAt + 4));
  const payload = Buffer.from(bytes.subarray(maskAt + 4, end));
  for (let at = 0; at < length; at++) payload[at]! ^= mask[at & 3]!;
  return { frame: { code: bytes[0]! & 0x0f, mask, payload }, rest: bytes.subarray(end) };
}

/** Exactly one client frame. */
export function onlyClientFrame(bytes: Buffer): ClientFrame {
  const taken = takeClientFrame(bytes);
  if (taken === undefined || taken.rest.length > 0) throw new Error('not exactly one frame');
  return taken.frame;
}
