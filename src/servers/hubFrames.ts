/**
 * WebSocket text frames with one JSON hub message each, as the server sends them: one unmasked final
 * frame (RFC 6455, 5.2), ready for any number of sockets.
 */

const finalText = 0x81;
const separator = '\x1e';
const longestHeaderBytes = 10;

function headerBytes(payloadBytes: number): number {
  if (payloadBytes < 126) return 2;
  return payloadBytes < 65_536 ? 4 : longestHeaderBytes;
}

function writeHeader(frame: Buffer, payloadBytes: number): void {
  frame[0] = finalText;
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

/** The frame of one hub message given as JSON text. */
export function messageFrame(json: string): Buffer {
  const payloadBytes = Buffer.byteLength(json) + 1;
  const header = headerBytes(payloadBytes);
  const frame = Buffer.allocUnsafe(header + payloadBytes);
  writeHeader(frame, payloadBytes);
  frame.write(json + separator, header);
  return frame;
}

/** The frame of a hub message that carries `start`…`end` of `bytes` between `head` and `tail`, byte for byte. */
function carryingFrame(
  head: Buffer,
  bytes: Buffer,
  start: number,
  end: number,
  tail: Buffer,
): Buffer {
  const payloadBytes = head.length + (end - start) + tail.length;
  const header = headerBytes(payloadBytes);
  const frame = Buffer.allocUnsafe(header + payloadBytes);
  writeHeader(frame, payloadBytes);
  let next = header + head.copy(frame, header);
  next += bytes.copy(frame, next, start, end);
  tail.copy(frame, next);
  return frame;
}

const recordLatencyHead = Buffer.from('{"type":1,"target":"RecordLatency","arguments":');
const messageTail = Buffer.from(`}${separator}`);

/**
 * The frame that calls `RecordLatency` with the argument list in `start`…`end` of `bytes`, brackets
 * included, byte for byte as it came.
 */
export function recordLatencyFrame(bytes: Buffer, start: number, end: number): Buffer {
  return carryingFrame(recordLatencyHead, bytes, start, end, messageTail);
}

/**
 * The frame of a stream item, which is `start`…`end` of `bytes`, byte for byte as it came.
 * @param invocationId JSON text
 */
export function streamItemFrame(
  invocationId: string,
  bytes: Buffer,
  start: number,
  end: number,
): Buffer {
  const head = Buffer.from(`{"type":2,"invocationId":${invocationId},"item":`);
  return carryingFrame(head, bytes, start, end, messageTail);
}

/** Calls `target` of a client with string arguments. */
export function callbackFrame(target: string, ...args: readonly string[]): Buffer {
  return messageFrame(JSON.stringify({ type: 1, target, arguments: args }));
}

/** Completion with a result, given as JSON text; `null` is what the .NET server sends for void. */
export function resultFrame(invocationId: string, resultJson: string): Buffer {
  return messageFrame(`{"type":3,"invocationId":${invocationId},"result":${resultJson}}`);
}

/** Completion of a stream, which has no result. */
export function streamEndFrame(invocationId: string): Buffer {
  return messageFrame(`{"type":3,"invocationId":${invocationId}}`);
}

/** Completion with an error text. */
export function errorFrame(invocationId: string, error: string): Buffer {
  const text = JSON.stringify(error);
  return messageFrame(`{"type":3,"invocationId":${invocationId},"error":${text}}`);
}

/** Close message; `allowReconnect` is written only when true. */
export function closeFrame(error: string | undefined, allowReconnect: boolean): Buffer {
  return messageFrame(
    JSON.stringify({
      type: 7,
      ...(error !== undefined && { error }),
      ...(allowReconnect && { allowReconnect }),
    }),
  );
}

export const pingFrame = messageFrame('{"type":6}');
/** The accepted handshake. */
export const handshakeFrame = messageFrame('{}');

/** The refused handshake. */
export function handshakeErrorFrame(error: string): Buffer {
  return messageFrame(JSON.stringify({ error }));
}
