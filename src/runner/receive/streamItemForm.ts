import type { WireProtocol } from '../../base/wireProtocol';
import type { HubMessage } from '../../wire/hub/hubMessage';
import { readHex, stampKey, stampLength, stampMarker } from '../../wire/message/stamp';
import { itemDigits, itemKey, streamLayoutOf } from '../../wire/message/streamLayout';
import type { DeliveryForm } from './deliveryForm';
import { formOf, ItemForm } from '../send/itemForm';

/** Items of streams: those that come back as they went, and those that the hub has made and numbered. */
export class StreamItemForm implements DeliveryForm {
  /** Number of the latest item among those that its hub has made; −1 when it has none. */
  itemNumber = -1;
  /** How items usually begin, the latest way first. */
  private forms: readonly ItemForm[];
  /** Of the latest item that was parsed as a whole. */
  private id = '';
  private digits: string | undefined;

  constructor(protocol: WireProtocol) {
    const { echoed, numbered } = streamLayoutOf(protocol);
    this.forms = [new ItemForm(echoed), new ItemForm(numbered)];
  }

  usualStamp(buffer: Buffer, start: number, end: number): number {
    for (const form of this.forms) {
      if (!form.matches(buffer, start, end - stampLength)) continue;
      this.itemNumber = form.numberIn(buffer, start) ?? -1;
      return start + form.length;
    }
    return -1;
  }

  stampIn(message: HubMessage): string | undefined {
    if (message.type !== 2) return undefined;
    const text = textUnder(message.item, stampKey);
    if (text?.length !== stampLength || !text.startsWith(stampMarker)) return undefined;
    this.id = message.invocationId;
    this.digits = textUnder(message.item, itemKey);
    const isNumber = this.digits?.length === itemDigits;
    this.itemNumber = isNumber ? readHex(Buffer.from(this.digits!, 'latin1'), 0, itemDigits) : -1;
    return text;
  }

  learn(buffer: Buffer, start: number, stampAt: number): void {
    const form = formOf(buffer, start, stampAt, this.id, this.digits);
    if (form !== undefined) this.forms = [form, ...this.forms.slice(-2)];
  }
}

/** The text under a key of a dictionary; undefined when there is none. */
function textUnder(dictionary: unknown, key: string): string | undefined {
  if (typeof dictionary !== 'object' || dictionary === null) return undefined;
  const text = (dictionary as Readonly<Record<string, unknown>>)[key];
  return typeof text === 'string' ? text : undefined;
}
