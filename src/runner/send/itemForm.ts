import { streamIdLength } from '../../wire/message/messageLayout';
import { itemDigits } from '../../wire/message/streamLayout';
import type { FramePiece } from '../../wire/message/holeFrame';
import { readHex } from '../../wire/message/stamp';

/** How the items of streams begin: what is always the same, with holes for id and number between. */
export class ItemForm {
  /** Where a stamp would begin, from the beginning of the message. */
  readonly length: number;
  /** Where the id of the call begins. */
  readonly idAt: number;
  /** Where the item's number begins; −1 in a form that has none. */
  private readonly numberAt: number;

  /** @param pieces the id is the first hole, the number the second */
  constructor(private readonly pieces: readonly FramePiece[]) {
    const holes: number[] = [];
    let length = 0;
    for (const piece of pieces) {
      if (typeof piece === 'number') holes.push(length);
      length += typeof piece === 'number' ? piece : piece.length;
    }
    this.length = length;
    this.idAt = holes[0]!;
    this.numberAt = holes[1] ?? -1;
  }

  /** Whether the message that begins at `start` looks so. */
  matches(buffer: Buffer, start: number, end: number): boolean {
    if (end - start < this.length) return false;
    let at = start;
    for (const piece of this.pieces) {
      if (typeof piece === 'number') {
        at += piece;
        continue;
      }
      for (let index = 0; index < piece.length; index++)
        if (buffer[at + index] !== piece[index]) return false;
      at += piece.length;
    }
    return true;
  }

  /** Number of the item in a message that matches; −1 when it is none, undefined in a form without. */
  numberIn(buffer: Buffer, start: number): number | undefined {
    return this.numberAt < 0 ? undefined : readHex(buffer, start + this.numberAt, itemDigits);
  }
}

/**
 * The form of an item that was read in another way.
 *
 * @param stampAt where its stamp begins
 * @param digits its number, where it has one
 * @returns undefined when id and number do not stand before the stamp in this order
 */
export function formOf(
  buffer: Buffer,
  start: number,
  stampAt: number,
  id: string,
  digits: string | undefined,
): ItemForm | undefined {
  const head = buffer.subarray(start, stampAt);
  const idAt = head.indexOf(id, 0, 'latin1');
  if (idAt < 0 || id.length !== streamIdLength) return undefined;
  const behindId = idAt + streamIdLength;
  if (digits === undefined)
    return new ItemForm([copy(head, 0, idAt), streamIdLength, copy(head, behindId)]);
  const numberAt = head.indexOf(digits, behindId, 'latin1');
  if (numberAt < 0 || digits.length !== itemDigits) return undefined;
  const behindNumber = numberAt + itemDigits;
  return new ItemForm([
    ...[copy(head, 0, idAt), streamIdLength],
    ...[copy(head, behindId, numberAt), itemDigits, copy(head, behindNumber)],
  ]);
}

/** The buffer they come from is used again. */
const copy = (bytes: Buffer, from: number, to?: number): Buffer =>
  Buffer.from(bytes.subarray(from, to));
