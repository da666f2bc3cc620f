import {
  WebPubSubJsonProtocol,
  WebPubSubJsonReliableProtocol,
  type WebPubSubClientProtocol,
} from '@azure/web-pubsub-client';
import { shownText } from '../connect/connectFailure';

/** What the client reads and writes, one frame at a time. */
type Message = Parameters<WebPubSubClientProtocol['writeMessage']>[0];

/** Who sees what passes. */
export interface PubSubSdkProtocolOwner {
  /** A frame of so many bytes is about to be told by the client, or is nothing that it tells. */
  reading(message: Message, payloadBytes: number): void;
  /** The frame is none of the protocol, in words for people. */
  unreadable(why: string): void;
  pinged(): void;
}

/**
 * The official client's own reader and writer, with a view of what passes: its events tell neither pongs
 * nor why the service closes, nor lengths.
 */
export class PubSubSdkProtocol implements WebPubSubClientProtocol {
  readonly name: string;
  readonly isReliableSubProtocol: boolean;
  private readonly inner: WebPubSubClientProtocol;

  constructor(
    isReliable: boolean,
    private readonly owner: PubSubSdkProtocolOwner,
  ) {
    this.inner = isReliable ? WebPubSubJsonReliableProtocol() : WebPubSubJsonProtocol();
    this.name = this.inner.name;
    this.isReliableSubProtocol = this.inner.isReliableSubProtocol;
  }

  parseMessages(input: string | ArrayBuffer | Buffer): Message[] | null {
    let read: Message[] | Message | null;
    try {
      read = this.inner.parseMessages(input);
    } catch (error) {
      // The client would throw it into the socket's events.
      this.owner.unreadable(shownText(error instanceof Error ? error.message : String(error)));
      return null;
    }
    if (read === null) return null;
    const messages = Array.isArray(read) ? read : [read];
    const bytes = typeof input === 'string' ? Buffer.byteLength(input) : input.byteLength;
    for (const message of messages) this.owner.reading(message, bytes);
    return messages;
  }

  writeMessage(message: Message): string | ArrayBuffer {
    if (message.kind === 'ping') this.owner.pinged();
    return this.inner.writeMessage(message);
  }
}
