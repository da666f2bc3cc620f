import type { ErrorClass } from '../../src/base/errorClass';
import { readHubMessage, type HubMessage } from '../../src/wire/message/hubMessage';
import type { HubConnection, HubListener } from '../../src/wire/hub/clientConnection';

export interface Loss {
  readonly errorClass: ErrorClass;
  readonly text: string;
}

/** Remembers what a connection reported. */
export class RecordingListener implements HubListener {
  /** Texts of hub messages with their separators, one entry for each WebSocket message. */
  readonly texts: string[] = [];
  readonly frameBytes: number[] = [];
  readonly losses: Loss[] = [];
  /** Losses that the connection has come back from, and its coming back. */
  readonly reported: string[] = [];
  /** The first loss. */
  readonly lostOnce: Promise<Loss>;
  private tellLoss: (loss: Loss) => void = () => undefined;
  private wake: () => void = () => undefined;

  constructor() {
    this.lostOnce = new Promise((resolve) => (this.tellLoss = resolve));
  }

  received(
    connection: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
    frameBytes: number,
  ): void {
    const text = buffer.toString('utf8', start, end);
    this.texts.push(text);
    this.frameBytes.push(frameBytes);
    for (const part of text.split('\x1e').slice(0, -1)) {
      const message = readHubMessage(part);
      if (message?.type === 7)
        connection.closedByServer(message.error ?? '', message.allowReconnect === true);
    }
    this.wake();
  }

  /** Of an official client: as text, as a hub would write it. */
  message(connection: HubConnection, message: HubMessage, _body: number, wireBytes: number): void {
    this.texts.push(`${JSON.stringify(message)}\x1e`);
    this.frameBytes.push(wireBytes);
    if (message.type === 7)
      connection.closedByServer(message.error ?? '', message.allowReconnect === true);
    this.wake();
  }

  lost(_connection: HubConnection, errorClass: ErrorClass, text: string): void {
    this.losses.push({ errorClass, text });
    this.tellLoss({ errorClass, text });
  }

  interrupted(_connection: HubConnection, errorClass: ErrorClass): void {
    this.reported.push(`interrupted ${errorClass}`);
  }

  recovered(): void {
    this.reported.push('recovered');
  }

  /** The first WebSocket message that was not taken yet. */
  async nextText(): Promise<string> {
    while (this.texts.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.texts.shift()!;
  }
}
