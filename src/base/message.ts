/**
 * What is written anew into each message: the stamp, the receiver's connection id or group, id and index
 * of the sending connection, the message's number, the id under which it is to be acknowledged, the ids of
 * a call that opens a stream and of the items that go up in it, the number of items that it wants, the time
 * in milliseconds since 1970 or in ticks of 100 ns since the year 1.
 */
export type HoleKind =
  | 'stamp'
  | 'receiver'
  | 'sender'
  | 'senderIndex'
  | 'sequence'
  | 'ackId'
  | 'callId'
  | 'streamId'
  | 'itemCount'
  | 'unixMs'
  | 'ticks';

export type NumberHole = Extract<
  HoleKind,
  'senderIndex' | 'sequence' | 'itemCount' | 'unixMs' | 'ticks'
>;

/** A piece of a text: as it is, or written anew into each message. */
export type TextPart = string | { readonly hole: HoleKind };

/** One argument of a hub method, with the places that change with each message. Plain data. */
export type MessageArgument =
  /** Plain data as it is. */
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'list'; readonly items: readonly MessageArgument[] }
  | { readonly kind: 'map'; readonly members: readonly (readonly [string, MessageArgument])[] }
  | {
      readonly kind: 'text';
      readonly parts: readonly TextPart[];
      /** Goes out as bytes instead of text; only MessagePack distinguishes them. */
      readonly binary?: boolean;
    }
  | { readonly kind: 'number'; readonly hole: NumberHole };

/** Names that the bench contracts fix, whatever is sent; methods of single use cases are theirs. */
export const callbacks = { recordLatency: 'RecordLatency', measure: 'Measure' } as const;
export const membershipMethods = { join: 'JoinGroup', leave: 'LeaveGroup' } as const;
/** The id as the result, and as a call of the client method of the same name. */
export const idMethods = { result: 'GetConnectionId', callback: 'ConnectionId' } as const;

export type HubDialect = 'recordLatency' | 'measure';

export interface ContractMethods extends Readonly<Record<HubDialect, readonly string[]>> {
  /** Those that open streams, which ASP.NET SignalR does not have. */
  readonly streams: readonly string[];
}

/** The two hub protocols and the older one of ASP.NET SignalR; Web PubSub's JSON, the same with recovery, bare payloads, protobuf without and with it. */
export type WireProtocol =
  | 'json'
  | 'messagepack'
  | 'classic'
  | 'webpubsub'
  | 'webpubsubReliable'
  | 'webpubsubNone'
  | 'webpubsubProtobuf'
  | 'webpubsubReliableProtobuf';

/** Else it is one of Azure Web PubSub. */
export const isHubProtocol = (protocol: WireProtocol): boolean =>
  protocol === 'json' || protocol === 'messagepack' || protocol === 'classic';

/** Ticks of 100 ns from the year 1 to 1970, as .NET counts them. */
const unixEpochTicks = 621_355_968_000_000_000n;

/** Ticks of .NET's clock for a Unix time: more than a number holds exactly. */
export const ticksOf = (unixMs: number): bigint => BigInt(unixMs) * 10_000n + unixEpochTicks;

/** Bytes that every message carries to be recognised by, see `wire/stamp.ts`. */
export const stampBytes = 54;

/** Largest payload of one message that a scenario may have. */
export const largestPayloadBytes = 16 * 1024 * 1024;

/** Largest number of sources (a sender's stream of messages to one audience) that it can distinguish. */
export const largestSource = 2 ** 26;
