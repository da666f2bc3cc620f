import type { WireProtocol } from '../../base/wireProtocol';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { HubMessage } from '../../wire/hub/hubMessage';
import { streamLayoutOf } from '../../wire/message/streamLayout';
import { ItemForm } from './itemForm';
import { callNumber, callNumberAt } from './openStream';

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
  private readonly form: ItemForm;
  /** Bytes of an item's message besides its content. */
  private readonly envelopeBytes: number;

  constructor(
    protocol: WireProtocol,
    private readonly follower: { readonly itemCame: TakeItem },
  ) {
    const { any, endBytes } = streamLayoutOf(protocol);
    this.form = new ItemForm(any);
    this.envelopeBytes = this.form.length + endBytes;
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
    const { form } = this;
    if (!form.matches(buffer, start, end)) return false;
    const call = callNumberAt(buffer, start + form.idAt);
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
