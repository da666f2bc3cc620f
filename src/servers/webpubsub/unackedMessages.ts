import type { WireId } from '../../wire/webpubsub/clientMessage';
import type { Delivery } from './delivery';

/** Bounds of the service; a client that lags further behind is closed for good. */
const maxMessages = 1000;
const maxBytes = 16 * 1024 * 1024;

/** What a reliable client has not acknowledged, oldest first. */
export class UnackedMessages {
  private deliveries: Delivery[] = [];
  /** Index of the oldest. */
  private head = 0;
  private bytes = 0;
  private lastId = 0;

  /** Takes one more message; false when there is no room for it. */
  add(delivery: Delivery): boolean {
    const bytes = this.bytes + delivery.payloadBytes;
    if (this.deliveries.length - this.head >= maxMessages || bytes > maxBytes) return false;
    this.bytes = bytes;
    this.deliveries.push(delivery);
    this.lastId++;
    return true;
  }

  /** The client has got everything up to this id. */
  acknowledge(sequenceId: WireId): void {
    while (this.firstId <= sequenceId && this.head < this.deliveries.length) {
      this.bytes -= this.deliveries[this.head++]!.payloadBytes;
    }
    // Cut the used part off only when it is the larger one: constant cost per message.
    if (this.head * 2 > this.deliveries.length) {
      this.deliveries = this.deliveries.slice(this.head);
      this.head = 0;
    }
  }

  /** The message with this id; undefined when there is none, or it is acknowledged. */
  at(sequenceId: number): Delivery | undefined {
    return this.deliveries[this.head + sequenceId - this.firstId];
  }

  /** Id of the oldest message, or of the next one. */
  get firstId(): number {
    return this.lastId - (this.deliveries.length - this.head) + 1;
  }
}
