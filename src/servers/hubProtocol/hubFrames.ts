import { hubMessageType } from '../../wire/hub/hubMessage';
import { opcode } from '../../wire/socket/frame';
import { carryingFrame, serverFrame } from './serverFrame';

/** WebSocket text frames with one JSON hub message each. */

const separator = '\x1e';

/** The frame of one hub message given as JSON text. */
function messageFrame(json: string): Buffer {
  return serverFrame(opcode.text, Buffer.from(json + separator, 'utf8'));
}

const recordLatencyHead = Buffer.from('{"type":1,"target":"RecordLatency","arguments":');
const messageTail = Buffer.from(`}${separator}`);

/**
 * The frame that calls `RecordLatency` with the argument list in `start`…`end` of `bytes`, brackets
 * included, byte for byte as it came.
 */
export function recordLatencyFrame(bytes: Buffer, start: number, end: number): Buffer {
  return carryingFrame(opcode.text, recordLatencyHead, bytes, start, end, messageTail);
}

const measureHead = Buffer.from('{"type":1,"target":"Measure","arguments":[');

/**
 * The frame that calls `Measure` with the end of an argument list in `start`…`end`, closing bracket
 * included, byte for byte as it came.
 */
export function measureFrame(bytes: Buffer, start: number, end: number): Buffer {
  return carryingFrame(opcode.text, measureHead, bytes, start, end, messageTail);
}

/** The same for any other target. */
export function invocationFrame(target: string, bytes: Buffer, start: number, end: number): Buffer {
  const head = Buffer.from(`{"type":1,"target":${JSON.stringify(target)},"arguments":`);
  return carryingFrame(opcode.text, head, bytes, start, end, messageTail);
}

/** The frame of a stream item, which is `start`…`end` of `bytes`, byte for byte as it came. */
export function streamItemFrame(
  invocationId: string,
  bytes: Buffer,
  start: number,
  end: number,
): Buffer {
  const head = Buffer.from(`{"type":2,"invocationId":${JSON.stringify(invocationId)},"item":`);
  return carryingFrame(opcode.text, head, bytes, start, end, messageTail);
}

/** Calls `target` of a client with string arguments. */
export function callbackFrame(target: string, ...args: readonly string[]): Buffer {
  return messageFrame(JSON.stringify({ type: hubMessageType.invocation, target, arguments: args }));
}

/** Completion with a result; `null` is what the .NET server sends for void. */
export function resultFrame(invocationId: string, result: string | number | null): Buffer {
  return messageFrame(JSON.stringify({ type: hubMessageType.completion, invocationId, result }));
}

/** Completion of a stream, which has no result. */
export function streamEndFrame(invocationId: string): Buffer {
  return messageFrame(JSON.stringify({ type: hubMessageType.completion, invocationId }));
}

/** Completion with an error text. */
export function errorFrame(invocationId: string, error: string): Buffer {
  return messageFrame(JSON.stringify({ type: hubMessageType.completion, invocationId, error }));
}

/** Close message; `allowReconnect` is written only when true. */
export function closeFrame(error: string | undefined, allowReconnect: boolean): Buffer {
  return messageFrame(
    JSON.stringify({
      type: hubMessageType.close,
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
