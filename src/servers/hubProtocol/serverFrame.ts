import { serverHeaderLength } from '../../wire/socket/frame';

/**
 * WebSocket messages as the server sends them: one unmasked final frame (RFC 6455, 5.2), ready for any
 * number of sockets. Transports that frame otherwise take the payloads out again.
 */

const final = 0x80;
const nothing = Buffer.alloc(0);

function writeHeader(frame: Buffer, code: number, payloadBytes: number): void {
  frame[0] = final | code;
  if (payloadBytes < 126) {
    frame[1] = payloadBytes;
  } else if (payloadBytes < 65_536) {
    frame[1] = 126;
    frame.writeUInt16BE(payloadBytes, 2);
  } else {
    frame[1] = 127;
    frame.writeUInt32BE(0, 2);
    frame.writeUInt32BE(payloadBytes, 6);
  }
}

export function serverHeader(code: number, payloadBytes: number): Buffer {
  const header = Buffer.allocUnsafe(serverHeaderLength(payloadBytes));
  writeHeader(header, code, payloadBytes);
  return header;
}

export function serverFrame(code: number, payload: Buffer): Buffer {
  return carryingFrame(code, payload, payload, 0, 0, nothing);
}

/** A frame that carries `start`…`end` of `bytes` between `head` and `tail`, byte for byte. */
export function carryingFrame(
  code: number,
  head: Buffer,
  bytes: Buffer,
  start: number,
  end: number,
  tail: Buffer,
): Buffer {
  const payloadBytes = head.length + (end - start) + tail.length;
  const header = serverHeaderLength(payloadBytes);
  const frame = Buffer.allocUnsafe(header + payloadBytes);
  writeHeader(frame, code, payloadBytes);
  let next = header + head.copy(frame, header);
  next += bytes.copy(frame, next, start, end);
  tail.copy(frame, next);
  return frame;
}

export function payloadStart(frames: Buffer, at: number): number {
  const marker = frames[at + 1]!;
  return at + (marker < 126 ? 2 : marker === 126 ? 4 : 10);
}

export function payloadEnd(frames: Buffer, at: number): number {
  const marker = frames[at + 1]!;
  if (marker < 126) return at + 2 + marker;
  return marker === 126
    ? at + 4 + frames.readUInt16BE(at + 2)
    : at + 10 + frames.readUInt32BE(at + 6);
}

export function payloadsIn(frames: Buffer): Buffer[] {
  const payloads: Buffer[] = [];
  for (let at = 0; at < frames.length; at = payloadEnd(frames, at))
    payloads.push(frames.subarray(payloadStart(frames, at), payloadEnd(frames, at)));
  return payloads;
}
