import type { MessageArgument, TextPart } from '../../base/messageArgument';
import type { MessageShape } from './messageLayout';
import { stampKey, stampLength } from './stamp';

/** A message of one of the bench contracts. */
export interface ContractMessage {
  readonly method: string;
  /** Dictionary key for the receiver's id or name, when the method needs one. */
  readonly receiverKey?: string;
  /** The receiver is a group. */
  readonly toGroup?: boolean;
  /** Payload text; its bytes as UTF-8 are the message size. */
  readonly blob: string;
  /** The payload goes out as bytes instead of text; only MessagePack can tell them apart. */
  readonly binary?: boolean;
}

const textOf = (...parts: readonly TextPart[]): MessageArgument => ({ kind: 'text', parts });

/** One dictionary, which the hub hands to `RecordLatency` as it came; the stamp has a key of its own. */
export function recordLatencyShape(message: ContractMessage): MessageShape {
  const { method, receiverKey, toGroup = false, blob, binary } = message;
  const members: (readonly [string, MessageArgument])[] = [
    [stampKey, textOf({ hole: 'stamp' })],
    ...(receiverKey === undefined ? [] : [[receiverKey, textOf({ hole: 'receiver' })] as const]),
    ['payload.Timestamp', { kind: 'number', hole: 'unixMs' }],
    ['payload.MessageBlob', { kind: 'text', parts: [blob], ...(binary && { binary }) }],
  ];
  return { method, arguments: [{ kind: 'map', members }], ...(toGroup && { toGroup }) };
}

/**
 * Receiver, if any, ticks and payload, of which the hub hands the last two to `Measure`. The contract has
 * no room for anything else, so the payload begins with the stamp.
 *
 * @param message its blob must be as long as a stamp at least
 */
export function measureShape(message: ContractMessage): MessageShape {
  const { method, receiverKey, blob } = message;
  const rest = Buffer.from(blob, 'utf8').subarray(stampLength);
  // Blanks in place of a character that the stamp cuts: bytes 10xxxxxx go on with one.
  for (let at = 0; at < rest.length && (rest[at]! & 0xc0) === 0x80; at++) rest[at] = 0x20;
  return {
    method,
    arguments: [
      ...(receiverKey === undefined ? [] : [textOf({ hole: 'receiver' })]),
      { kind: 'number', hole: 'ticks' },
      textOf({ hole: 'stamp' }, rest.toString('utf8')),
    ],
  };
}
