/** How a connection of ASP.NET SignalR gets its texts: by a web socket, an event stream, or one answer to each poll. */
import type { ServerResponse } from 'node:http';
import { opcode } from '../../wire/socket/frame';
import { serverHeader } from '../hubProtocol/serverProtocol';
import { WebSocketTransport } from '../http/transports';

/** A text in pieces: what many get is in memory once. */
export type Text = readonly Buffer[];

export interface ClassicTransport {
  /** Messages that one envelope may hold. Source: `MaxMessages` of `ForeverTransport`, `LongPollingTransport`. */
  readonly mostMessages: number;
  /** It is over with the first envelope. */
  readonly isOneAnswer: boolean;
  /** Written, and not read by the client yet. */
  readonly unreadBytes: number;
  send(texts: readonly Text[]): void;
  keepAlive(): void;
  /** Absent where requests besides the one that waits bring what the client sends. */
  pause?(): void;
  resume?(): void;
  /** Ends behind what was written. */
  end(): void;
  terminate(): void;
}

export const lengthOf = (text: Text): number =>
  text.reduce((bytes, piece) => bytes + piece.length, 0);

export class SocketTransport extends WebSocketTransport implements ClassicTransport {
  readonly mostMessages = 10;
  readonly isOneAnswer = false;

  send(texts: readonly Text[]): void {
    const pieces = texts.flatMap((text) => [serverHeader(opcode.text, lengthOf(text)), ...text]);
    this.write(Buffer.concat(pieces));
  }

  keepAlive(): void {
    this.send([[Buffer.from('{}')]]);
  }

  end(): void {
    this.close(1000);
  }
}

abstract class ResponseTransport {
  constructor(protected readonly response: ServerResponse) {
    response.on('error', () => undefined);
  }

  get unreadBytes(): number {
    return this.response.writableLength;
  }

  end(): void {
    this.response.end();
  }

  terminate(): void {
    this.response.destroy();
  }
}

const dataHead = Buffer.from('data: ');
// The line ends of a server on Windows.
const dataTail = Buffer.from('\r\n\r\n');

export class EventsTransport extends ResponseTransport implements ClassicTransport {
  readonly mostMessages = 10;
  readonly isOneAnswer = false;

  constructor(response: ServerResponse) {
    super(response);
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
    response.write('data: initialized\n\n');
  }

  send(texts: readonly Text[]): void {
    const pieces = texts.flatMap((text) => [dataHead, ...text.map(onOneLine), dataTail]);
    this.response.write(Buffer.concat(pieces));
  }

  keepAlive(): void {
    this.response.write('data: {}\n\n');
  }
}

/** Line ends can only be white space in JSON, and would end the event. */
function onOneLine(text: Buffer): Buffer {
  if (!text.includes(0x0a) && !text.includes(0x0d)) return text;
  return Buffer.from(text.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte)));
}

export class PollAnswer extends ResponseTransport implements ClassicTransport {
  readonly mostMessages = 5000;
  readonly isOneAnswer = true;

  constructor(response: ServerResponse) {
    super(response);
    response.writeHead(200, { 'Content-Type': jsonType });
    response.flushHeaders();
  }

  send(texts: readonly Text[]): void {
    this.response.end(Buffer.concat(texts.flat()));
  }

  /** White space in front of the JSON text. */
  keepAlive(): void {
    this.response.write(' ');
  }
}

/** Source: `JsonUtility.JsonMimeType`. */
export const jsonType = 'application/json; charset=UTF-8';
