import { randomFillSync } from 'node:crypto';

/** WebSocket opcodes (RFC 6455, 5.2). */
export const opcode = {
  continuation: 0x0,
  text: 0x1,
  binary: 0x2,
  close: 0x8,
  ping: 0x9,
  pong: 0xa,
} as const;

/** RFC 6455, 7.4.1. */
export const closeCode = {
  normal: 1000,
  protocolError: 1002,
  invalidText: 1007,
  tooLarge: 1009,
} as const;

const { protocolError } = closeCode;

/** A violation of the WebSocket protocol; the connection cannot be used any more. */
export class FrameError extends Error {
  constructor(
    message: string,
    readonly closeCode: number = protocolError,
  ) {
    super(message);
  }
}

export const noCloseCode = 1005;

/** Whether the code may stand in a close frame: RFC 6455, 7.4.1, the registry at IANA, or an application's. */
export function isValidCloseCode(code: number): boolean {
  return (
    (code >= 1000 && code <= 1014 && code !== 1004 && code !== noCloseCode && code !== 1006) ||
    (code >= 3000 && code <= 4999)
  );
}

export function clientCloseFrame(code: number): Buffer {
  const payload = code === noCloseCode ? [] : [code >> 8, code & 0xff];
  return clientFrame(opcode.close, Uint8Array.from(payload));
}

export function clientHeaderLength(payloadLength: number): number {
  return payloadLength < 126 ? 6 : payloadLength < 65_536 ? 8 : 14;
}

export function serverHeaderLength(payloadLength: number): number {
  return payloadLength < 126 ? 2 : payloadLength < 65_536 ? 4 : 10;
}

/** The longest header of a client frame, and two bytes so that the payload is aligned. */
const headRoom = 16;

/** A whole client frame (FIN set) with a fresh random mask. */
export function clientFrame(code: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const headerLength = clientHeaderLength(length);
  const bytes = Buffer.allocUnsafe((headRoom + length + 3) & ~3);
  const header = headRoom - headerLength;
  bytes[header] = 0x80 | code;
  if (headerLength === 6) {
    bytes[header + 1] = 0x80 | length;
  } else if (headerLength === 8) {
    bytes[header + 1] = 0x80 | 126;
    bytes.writeUInt16BE(length, header + 2);
  } else {
    bytes[header + 1] = 0x80 | 127;
    bytes.writeBigUInt64BE(BigInt(length), header + 2);
  }
  bytes.set(payload, headRoom);
  randomFillSync(bytes, headRoom - 4, 4);
  // Four bytes at a time: the mask is the word before the payload. Buffers begin at multiples of eight.
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const mask = words[headRoom / 4 - 1]!;
  for (let at = headRoom / 4; at < words.length; at++) words[at]! ^= mask;
  return bytes.subarray(header, headRoom + length);
}
