import type { WireProtocol } from '../../base/wireProtocol';
import { callNumber, callNumberAt } from '../send/openStream';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { HubMessage } from '../../wire/hub/hubMessage';
import {
  itemDigits,
  streamIdLength,
  streamLayoutOf,
  type Hole,
} from '../../wire/message/messageLayout';
import { readHex } from '../../wire/message/stamp';

/** How the items of streams begin: what is always the same, with holes for id and number between. */
export class ItemPattern {
  /** Where a stamp would begin, from the beginning of the message. */
  readonly length: number;
  /** Where the id of the call begins. */
  readonly idAt: number;
  /** Where the item's number begins; −1 in a pattern that has none. */
  private readonly numberAt: number;
  private readonly body: Buffer;

  /** @param holes the id is the first one, the number the second */
  constructor({ body, holes }: { readonly body: Buffer; readonly holes: readonly Place[] }) {
    this.body = body;
    this.length = body.length;
    this.idAt = holes[0]!.at;
    this.numberAt = holes[1]?.at ?? -1;
  }

  /** Whether the message that begins at `start` looks so. */
  matches(buffer: Buffer, start: number, end: number): boolean {
    const { body, length, idAt, numberAt } = this;
    if (end - start < length) return false;
    for (let at = 0; at < length; at++) {
      if (at === idAt) at += streamIdLength;
      if (at === numberAt) at += itemDigits;
      if (at < length && buffer[start + at] !== body[at]) return false;
    }
    return true;
  }

  /** Number of the item in a message that matches; −1 when it is none, undefined in a pattern without. */
  numberIn(buffer: Buffer, start: number): number | undefined {
    return this.numberAt < 0 ? undefined : readHex(buffer, start + this.numberAt, itemDigits);
  }
}

type Place = Pick<Hole, 'at'>;

/**
 * The pattern of an item that was read in another way.
 *
 * @param stampAt where its stamp begins
 * @param digits its number, where it has one
 * @returns undefined when id and number do not stand before the stamp in this order
 */
export function itemPatternOf(
  buffer: Buffer,
  start: number,
  stampAt: number,
  id: string,
  digits: string | undefined,
): ItemPattern | undefined {
  // The buffer it comes from is used again.
  const body = Buffer.from(buffer.subarray(start, stampAt));
  const idAt = body.indexOf(id, 0, 'latin1');
  if (idAt < 0 || id.length !== streamIdLength) return undefined;
  if (digits === undefined) return new ItemPattern({ body, holes: [{ at: idAt }] });
  const numberAt = body.indexOf(digits, idAt + streamIdLength, 'latin1');
  if (numberAt < 0 || digits.length !== itemDigits) return undefined;
  return new ItemPattern({ body, holes: [{ at: idAt }, { at: numberAt }] });
}

/** Takes an item of a stream of the user's own; false when the connection has no such streams. */
export type TakeItem = (
  connection: HubConnection,
  call: number,
  payloadBytes: number,
  wireBytes: number,
  nowUs: number,
) => boolean;

/** Finds items of the user's own streams by the ids of their calls: there is no stamp in what they hold. */
export class OwnItems {
  private readonly pattern: ItemPattern;
  /** Bytes of an item's message besides its content. */
  private readonly envelopeBytes: number;

  constructor(
    protocol: WireProtocol,
    private readonly follower: { readonly itemCame: TakeItem },
  ) {
    const { begins, endBytes } = streamLayoutOf(protocol);
    this.pattern = new ItemPattern(begins);
    this.envelopeBytes = this.pattern.length + endBytes;
  }

  /** Takes an item that begins as usual; false for everything else. */
  takeUsual(
    connection: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
    wireBytes: number,
    nowUs: number,
  ): boolean {
    const { pattern } = this;
    if (!pattern.matches(buffer, start, end)) return false;
    const call = callNumberAt(buffer, start + pattern.idAt);
    return this.tryTake(connection, call, end - start, wireBytes, nowUs);
  }

  /** The same for a message that was parsed as a whole. */
  take(
    connection: HubConnection,
    message: HubMessage,
    bodyBytes: number,
    wireBytes: number,
    nowUs: number,
  ): boolean {
    if (message.type !== 2) return false;
    const call = callNumber(message.invocationId);
    return this.tryTake(connection, call, bodyBytes, wireBytes, nowUs);
  }

  private tryTake(
    connection: HubConnection,
    call: number,
    bodyBytes: number,
    wireBytes: number,
    nowUs: number,
  ): boolean {
    const payloadBytes = Math.max(0, bodyBytes - this.envelopeBytes);
    return call >= 0 && this.follower.itemCame(connection, call, payloadBytes, wireBytes, nowUs);
  }
}
