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

/** Holes that can stand alone as a number. */
export type NumberHole = Extract<
  HoleKind,
  'senderIndex' | 'sequence' | 'itemCount' | 'unixMs' | 'ticks'
>;

/** A piece of a text: as it is, or written anew into each message. */
export type TextPart = string | { readonly hole: HoleKind };

/** One argument of a hub method, with the places that change with each message. Plain data. */
export type MessageArgument =
  | { readonly kind: 'value'; readonly value: string | number | boolean | null }
  | { readonly kind: 'list'; readonly items: readonly MessageArgument[] }
  | { readonly kind: 'map'; readonly members: readonly (readonly [string, MessageArgument])[] }
  | {
      readonly kind: 'text';
      readonly parts: readonly TextPart[];
      /** Goes out as bytes instead of text; only MessagePack can tell them apart. */
      readonly binary?: boolean;
    }
  | { readonly kind: 'number'; readonly hole: NumberHole };
