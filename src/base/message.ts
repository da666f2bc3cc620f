/**
 * What a message template fills in for each message. `unixMs` is in milliseconds since 1970, `ticks` in 100 ns since
 * the year 1.
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

export type TextPart = string | { readonly hole: HoleKind };

/** One argument of a hub method, with the places that change with each message. Plain data. */
export type MessageArgument =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'list'; readonly items: readonly MessageArgument[] }
  | { readonly kind: 'map'; readonly members: readonly (readonly [string, MessageArgument])[] }
  | {
      readonly kind: 'text';
      readonly parts: readonly TextPart[];
      /** Sent as bytes instead of text; only MessagePack distinguishes them. */
      readonly binary?: boolean;
    }
  | { readonly kind: 'number'; readonly hole: NumberHole };

export const callbacks = { recordLatency: 'RecordLatency', measure: 'Measure' } as const;
export const membershipMethods = { join: 'JoinGroup', leave: 'LeaveGroup' } as const;
/** The connection's id as the result, and by calling the client method of that name. */
export const idMethods = { result: 'GetConnectionId', callback: 'ConnectionId' } as const;

export type HubDialect = 'recordLatency' | 'measure';

export interface ContractMethods extends Readonly<Record<HubDialect, readonly string[]>> {
  /** Those that open streams, which ASP.NET SignalR does not have. */
  readonly streams: readonly string[];
}

export type WireProtocol =
  | 'json'
  | 'messagepack'
  | 'classic'
  | 'webpubsub'
  | 'webpubsubReliable'
  | 'webpubsubNone'
  | 'webpubsubProtobuf'
  | 'webpubsubReliableProtobuf';

export const isHubProtocol = (protocol: WireProtocol): boolean =>
  protocol === 'json' || protocol === 'messagepack' || protocol === 'classic';

const unixEpochTicks = 621_355_968_000_000_000n;

/** Ticks of .NET's clock for a Unix time: more than a number holds exactly. */
export const dotNetTicks = (unixMs: number): bigint => BigInt(unixMs) * 10_000n + unixEpochTicks;

/** See `wire/message/stamp.ts`. */
export const stampBytes = 54;

export const maxPayloadBytes = 16 * 1024 * 1024;

/** How many sources (one sender's messages to one audience) a stamp can tell apart. */
export const maxSources = 2 ** 26;

/** A connection that we close takes no part in this time before, microseconds: docs/generator.md. */
export const closeMarginUs = 1_000_000;
