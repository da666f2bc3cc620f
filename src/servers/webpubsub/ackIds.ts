import { wireId, type WireId } from '../../wire/webpubsub/clientMessage';

/** Ranges that are remembered; the oldest are forgotten first. */
const maxRemembered = 1000;

interface Range {
  readonly first: WireId;
  /** The first id behind it. */
  next: WireId;
}

/** The ack ids one client has used. Clients count up, so that a few ranges hold nearly all of them. */
export class AckIds {
  /** Oldest first; they neither overlap nor touch. */
  private readonly ranges: Range[] = [];

  /** Whether the id is new; it is known from then on. */
  add(id: WireId): boolean {
    const { ranges } = this;
    const next = idAfter(id);
    let before: Range | undefined;
    let behind = -1;
    for (let at = ranges.length - 1; at >= 0; at--) {
      const range = ranges[at]!;
      if (range.next === id) before = range;
      else if (range.first === next) behind = at;
      else if (id >= range.first && id < range.next) return false;
    }
    const joined = ranges[behind];
    if (joined !== undefined) ranges.splice(behind, 1);
    if (before !== undefined) before.next = joined?.next ?? next;
    else ranges.push({ first: id, next: joined?.next ?? next });
    if (ranges.length > maxRemembered) ranges.shift();
    return true;
  }
}

const idAfter = (id: WireId): WireId =>
  typeof id === 'number' && id < Number.MAX_SAFE_INTEGER ? id + 1 : wireId(BigInt(id) + 1n);
