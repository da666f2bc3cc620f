import type { MessageArgument } from '../../base/messageArgument';
import type { WireProtocol } from '../../base/wireProtocol';
import type { FramePiece } from './holeFrame';
import {
  jsonItemLayout,
  messagePackItemLayout,
  streamIdLength,
  type HoleLengths,
  type MessageLayout,
} from './messageLayout';
import { lengthPrefix } from './messagePackFraming';
import {
  arrayHead,
  binaryHead,
  encodeText,
  encodeValue,
  mapHead,
  textHead,
} from './messagePackWriter';
import { stampKey, stampLength } from './stamp';

/**
 * The messages of streams in pieces, each whole with its framing. Holes stand in the order in which they
 * are named; a *dictionary* has two: the stamp, then the time.
 */
export interface StreamLayout {
  /** Calls a method that takes a stream: invocation id, stream id. */
  openUp(method: string, args: readonly number[], answersStream: boolean): FramePiece[];
  /** Calls a method that makes a stream of a dictionary: invocation id, dictionary, number of items. */
  openDown(method: string, payload: ItemPayload, delayMs: number): FramePiece[];
  /** An item that goes up: stream id, dictionary. */
  readonly item: (payload: ItemPayload) => FramePiece[];
  /** An item of any content that goes up. */
  readonly ownItem: (item: MessageArgument, lengths: HoleLengths) => MessageLayout;
  /** Ends a stream that goes up: stream id. */
  end(): FramePiece[];
  /** Wants no more of a stream that comes down: invocation id. */
  cancel(): FramePiece[];
  /** A Unix time in milliseconds as it stands in a dictionary. */
  timestamp(unixMs: number): Buffer;
  /** A number of items as it stands in {@link openDown}. */
  count(items: number): Buffer;
  /** How an item that comes back usually begins, up to the stamp: invocation id in the hole. */
  readonly echoed: readonly FramePiece[];
  /** The same for an item that the hub made: invocation id, item number of {@link itemDigits} digits. */
  readonly numbered: readonly FramePiece[];
  /** The same for an item of any content, up to this. */
  readonly any: readonly FramePiece[];
  /** Bytes behind an item's content. */
  readonly endBytes: number;
}

/** Payload of an item. */
export interface ItemPayload {
  readonly blob: string;
  /** It goes out as bytes instead of text; only MessagePack can tell them apart. */
  readonly binary: boolean;
}

/** Dictionary key under which a hub numbers the items that it makes: from 0, hexadecimal. */
export const itemKey = 'bench.Item';
export const itemDigits = 8;

const timestampKey = 'payload.Timestamp';
const blobKey = 'payload.MessageBlob';
/** Digits of a Unix time in milliseconds until the year 2286. */
const timestampDigits = 13;
/** Enough for the million items that a stream has at most. */
const countDigits = 7;

/** Pieces from text with holes between. */
function json(texts: TemplateStringsArray, ...inner: readonly (string | number)[]): FramePiece[] {
  const pieces: FramePiece[] = [];
  let text = texts[0]!;
  inner.forEach((part, index) => {
    if (typeof part === 'string') text += part;
    else {
      pieces.push(Buffer.from(text, 'utf8'), part);
      text = '';
    }
    text += texts[index + 1]!;
  });
  return [...pieces, Buffer.from(text, 'utf8')];
}

function jsonDictionary({ blob }: ItemPayload): FramePiece[] {
  const payload = JSON.stringify(blob);
  return json`{"${stampKey}":"${stampLength}","${timestampKey}":${timestampDigits},"${blobKey}":${payload}}`;
}

const jsonStreams: StreamLayout = {
  openUp: (method, args, answersStream) =>
    json`{"type":${answersStream ? '4' : '1'},"invocationId":"${streamIdLength}","target":${JSON.stringify(method)},"arguments":${JSON.stringify(args)},"streamIds":["${streamIdLength}"]}\x1e`,
  openDown: (method, payload, delayMs) => [
    ...json`{"type":4,"invocationId":"${streamIdLength}","target":${JSON.stringify(method)},"arguments":[`,
    ...jsonDictionary(payload),
    ...json`,${countDigits},${String(delayMs)}]}\x1e`,
  ],
  item: (payload) => [
    ...json`{"type":2,"invocationId":"${streamIdLength}","item":`,
    ...jsonDictionary(payload),
    Buffer.from('}\x1e'),
  ],
  end: () => json`{"type":3,"invocationId":"${streamIdLength}"}\x1e`,
  cancel: () => json`{"type":5,"invocationId":"${streamIdLength}"}\x1e`,
  timestamp: (unixMs) => Buffer.from(String(unixMs).padStart(timestampDigits, '0'), 'latin1'),
  // Blanks may stand before a number, zeros may not.
  count: (items) => Buffer.from(String(items).padStart(countDigits), 'latin1'),
  ownItem: jsonItemLayout,
  echoed: json`{"type":2,"invocationId":"${streamIdLength}","item":{"${stampKey}":"`,
  numbered: json`{"type":2,"invocationId":"${streamIdLength}","item":{"${itemKey}":"${itemDigits}","${stampKey}":"`,
  any: json`{"type":2,"invocationId":"${streamIdLength}","item":`,
  endBytes: 1,
};

const idHead = textHead(streamIdLength);
/** Begins a message with headers, up to the id behind them. */
const headOf = (elements: number, type: number): Buffer =>
  Buffer.concat([arrayHead(elements), Buffer.from([type]), mapHead(0), idHead]);

function packedDictionary({ blob, binary }: ItemPayload): FramePiece[] {
  const bytes = Buffer.from(blob, 'utf8');
  const head = binary ? binaryHead(bytes.length) : textHead(bytes.length);
  return [
    Buffer.concat([mapHead(3), encodeText(stampKey), textHead(stampLength)]),
    stampLength,
    Buffer.concat([encodeText(timestampKey), Buffer.from([0xcf])]),
    8,
    Buffer.concat([encodeText(blobKey), head, bytes]),
  ];
}

const lengthOf = (pieces: readonly FramePiece[]): number =>
  pieces.reduce<number>(
    (sum, piece) => sum + (typeof piece === 'number' ? piece : piece.length),
    0,
  );

const packed = (...pieces: readonly FramePiece[]): FramePiece[] => [
  lengthPrefix(lengthOf(pieces)),
  ...pieces,
];

const bigEndian = (value: number, width: 4 | 8): Buffer => {
  const bytes = Buffer.alloc(width);
  if (width === 8) bytes.writeBigUInt64BE(BigInt(value));
  else bytes.writeUInt32BE(value);
  return bytes;
};

const messagePackStreams: StreamLayout = {
  openUp: (method, args, answersStream) =>
    packed(
      headOf(6, answersStream ? 4 : 1),
      streamIdLength,
      Buffer.concat([encodeText(method), encodeValue(args), arrayHead(1), idHead]),
      streamIdLength,
    ),
  openDown: (method, payload, delayMs) =>
    packed(
      headOf(6, 4),
      streamIdLength,
      Buffer.concat([encodeText(method), arrayHead(3)]),
      ...packedDictionary(payload),
      Buffer.from([0xce]),
      4,
      Buffer.concat([encodeValue(delayMs), arrayHead(0)]),
    ),
  item: (payload) => packed(headOf(4, 2), streamIdLength, ...packedDictionary(payload)),
  // Nothing follows an upload: kind 2, void.
  end: () => packed(headOf(4, 3), streamIdLength, Buffer.from([2])),
  cancel: () => packed(headOf(3, 5), streamIdLength),
  timestamp: (unixMs) => bigEndian(unixMs, 8),
  count: (items) => bigEndian(items, 4),
  ownItem: messagePackItemLayout,
  echoed: [
    headOf(4, 2),
    streamIdLength,
    Buffer.concat([mapHead(3), encodeText(stampKey), textHead(stampLength)]),
  ],
  numbered: [
    headOf(4, 2),
    streamIdLength,
    Buffer.concat([mapHead(4), encodeText(itemKey), textHead(itemDigits)]),
    itemDigits,
    Buffer.concat([encodeText(stampKey), textHead(stampLength)]),
  ],
  any: [headOf(4, 2), streamIdLength],
  endBytes: 0,
};

/** How a hub protocol writes streams. */
export function streamLayoutOf(protocol: WireProtocol): StreamLayout {
  return protocol === 'json' ? jsonStreams : messagePackStreams;
}
