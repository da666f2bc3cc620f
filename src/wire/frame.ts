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

/** Bytes of the header of a masked client frame around `payloadLength` bytes. */
export function clientHeaderLength(payloadLength: number): number {
  return payloadLength < 126 ? 6 : payloadLength < 65_536 ? 8 : 14;
}

/** Bytes of the header of an unmasked server frame around `payloadLength` bytes. */
export function serverHeaderLength(payloadLength: number): number {
  return payloadLength < 126 ? 2 : payloadLength < 65_536 ? 4 : 10;
}

/** A whole client frame (FIN set) with a fresh random mask. */
export function clientFrame(code: number, payload: Uint8Array): Buffer {
  const headerLength = clientHeaderLength(payload.length);
  const frame = Buffer.allocUnsafe(headerLength + payload.length);
  frame[0] = 0x80 | code;
  if (headerLength === 6) {
    frame[1] = 0x80 | payload.length;
  } else if (headerLength === 8) {
    frame[1] = 0x80 | 126;
    frame.writeUInt16BE(payload.length, 2);
  } else {
    frame[1] = 0x80 | 127;
    frame.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  randomFillSync(frame, headerLength - 4, 4);
  for (let at = 0; at < payload.length; at++) {
    frame[headerLength + at] = payload[at]! ^ frame[headerLength - 4 + (at & 3)]!;
  }
  return frame;
}
