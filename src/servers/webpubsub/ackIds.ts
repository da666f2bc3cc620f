import type { WireId } from '../../wire/webpubsub/clientMessage';

/** Ids out of order that are remembered; the oldest are forgotten first. */
const maxRemembered = 1000;

/**
 * The ack ids one client has used. Clients count up, so that a range holds nearly all of them; what is
 * outside of it is remembered one by one.
 */
export class AckIds {
  private first = 0;
  /** The first id behind the range. */
  private next = 0;
  private others: Set<WireId> | undefined;

  /** Whether the id is new; it is known from then on. */
  add(id: WireId): boolean {
    if (this.has(id)) return false;
    if (typeof id === 'number' && this.first === this.next) {
      this.first = id;
      this.next = id;
    }
    if (id === this.next) this.extend();
    else this.remember(id);
    return true;
  }

  private has(id: WireId): boolean {
    return (id >= this.first && id < this.next) || this.others?.has(id) === true;
  }

  private extend(): void {
    this.next++;
    while (this.others?.delete(this.next) === true) this.next++;
  }

  private remember(id: WireId): void {
    this.others ??= new Set();
    this.others.add(id);
    if (this.others.size <= maxRemembered) return;
    for (const oldest of this.others) {
      this.others.delete(oldest);
      return;
    }
  }
}
