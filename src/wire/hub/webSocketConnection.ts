import type * as net from 'node:net';
import {
  ConnectFailure,
  failureFromClose,
  failureFromSocketError,
  refusedHandshake,
  shownText,
} from '../connectFailure';
import { ClientConnection, type Opening } from './clientConnection';
import { connectSocket, type SocketOwner } from '../socket/socket';
import { clientCloseFrame, clientFrame, closeCode, FrameError, opcode } from '../socket/frame';
import { HeldBytes, FrameReader, type FrameListener } from '../socket/frameReader';
import {
  HubMessageError,
  readHandshakeAnswer,
  recordSeparator,
  readUtf8,
  type HubMessage,
} from '../message/hubMessage';
import type { Negotiated } from '../socket/upgrade';
import { checkUpgradeAnswer, maximumHeadBytes, upgradeRequest } from '../socket/upgrade';

interface Upgrading {
  readonly url: URL;
  readonly accept: string;
  head: Buffer;
}

/** Time a server gets to end a socket after both sides, or we, have closed. */
export const closeTimeoutMs = 2000;

/** A connection over its own WebSocket, with no timer and no promise per message. */
export class WebSocketConnection extends ClientConnection implements FrameListener, SocketOwner {
  closeCode: number | undefined;
  readonly hasOwnKeepAlive = false;
  private upgrading: Upgrading | undefined;
  private farewell: number | undefined;
  private readonly reader: FrameReader;
  socket!: net.Socket;

  private constructor(
    readonly connectionId: string | undefined,
    opening: Opening,
  ) {
    super(opening);
    const holding = new HeldBytes(this.unfinished, (failure) => this.fail(failure));
    this.reader = new FrameReader(opening.options.maximumMessageBytes, holding);
    this.state = 'upgrading';
  }

  static open(where: Negotiated, opening: Opening): Promise<WebSocketConnection> {
    const { url, connectionId } = where;
    const { endpoint, stopwatch } = opening;
    const connection = new WebSocketConnection(connectionId, opening);
    return connection.opens(url.href, opening, () => {
      const { accept, bytes } = upgradeRequest(where, connection.codec.subprotocol);
      const greet = (): boolean => connection.socket.write(bytes, 'latin1');
      connection.upgrading = { url, accept, head: Buffer.alloc(0) };
      connectSocket(url, endpoint, connection, greet, stopwatch);
    });
  }

  send(frame: Buffer): boolean {
    const { socket } = this;
    socket.write(frame);
    const unsentBytes = socket.writableLength;
    if (unsentBytes === 0) return true;
    this.limitUnsent(unsentBytes);
    return false;
  }

  sendMessage(message: HubMessage): number {
    return this.sendBytes(this.codec.encode(message));
  }

  sendBytes(message: Buffer): number {
    if (this.state !== 'open') return 0;
    // A protocol without pings of its own encodes them as empty.
    const frame = clientFrame(message.length === 0 ? opcode.ping : this.codec.opcode, message);
    this.send(frame);
    return frame.length;
  }

  close(): void {
    if (this.state === 'open') {
      this.sayGoodbye(closeCode.normal);
    } else {
      this.destroy();
    }
  }

  destroy(): void {
    this.state = 'closed';
    this.reader.destroy();
    this.socket.destroy();
  }

  onBytes(buffer: Buffer, length: number): void {
    try {
      const start = this.state === 'upgrading' ? this.takeHead(buffer, length) : 0;
      if (start < length && this.state !== 'closed') this.reader.read(buffer, start, length, this);
    } catch (error) {
      if (error instanceof FrameError) this.farewell = error.closeCode;
      this.unreadable(error);
    }
  }

  onSocketError(error: Error): void {
    this.fail(failureFromSocketError(error));
  }

  onSocketClose(): void {
    const text = shownText(this.closeReason ?? '');
    this.drop('closed', text || 'the server ended the connection without a close frame');
  }

  onMessage(buffer: Buffer, start: number, end: number, frameBytes: number): void {
    if (this.state === 'open') {
      this.listener.received(this, buffer, start, end, frameBytes);
      return;
    }
    const behind = (this.codec.firstMessageEnd ?? handshakeEnd)(buffer, start, end);
    this.becomeOpen();
    // Hub messages may follow the handshake response.
    if (behind < end) this.listener.received(this, buffer, behind, end, frameBytes);
  }

  onPing(payload: Buffer): void {
    // Limited like everything else that is sent: a server may ping without ever reading.
    this.send(clientFrame(opcode.pong, payload));
  }

  onPong(payload: Buffer): void {
    if (this.state === 'open') this.listener.received(this, payload, 0, 0, 0);
  }

  onClose(code: number, reason: string): void {
    this.closeCode = code;
    // A close frame is answered by one with the same code (RFC 6455, 5.5.1).
    this.farewell = code;
    this.fail(failureFromClose(`closed with code ${code}`, this.closeReason || reason));
  }

  protected override release(): void {
    if (this.farewell === undefined) this.destroy();
    else this.sayGoodbye(this.farewell);
  }

  private sayGoodbye(code: number): void {
    const { socket } = this;
    this.state = 'closed';
    this.reader.destroy();
    socket.end(clientCloseFrame(code));
    setTimeout(() => socket.destroy(), closeTimeoutMs).unref();
  }

  private takeHead(buffer: Buffer, length: number): number {
    const upgrading = this.upgrading!;
    const before = upgrading.head.length;
    upgrading.head = Buffer.concat([
      upgrading.head,
      buffer.subarray(0, Math.min(length, maximumHeadBytes)),
    ]);
    const end = upgrading.head.indexOf('\r\n\r\n');
    if (end < 0) {
      if (upgrading.head.length >= maximumHeadBytes)
        throw new ConnectFailure('protocol', 'upgrade: the answer has no end');
      return length;
    }
    checkUpgradeAnswer(
      upgrading.head.toString('latin1', 0, end),
      upgrading.accept,
      upgrading.url,
      this.codec.subprotocol,
    );
    this.upgrading = undefined;
    this.state = 'handshaking';
    this.stopwatch?.done('upgrade');
    const { handshake, opcode: kind, needsNoHandshake } = this.codec;
    if (handshake.length > 0) this.socket.write(clientFrame(kind, handshake));
    if (needsNoHandshake === true) {
      this.stopwatch = undefined;
      this.becomeOpen();
    }
    return end + 4 - before;
  }
}

/**
 * @returns where the hub messages behind the handshake response begin @throws ConnectFailure when the server refuses;
 * HubMessageError when it is no handshake response
 */
export function handshakeEnd(buffer: Buffer, start: number, end: number): number {
  const separator = buffer.indexOf(recordSeparator, start);
  if (separator < 0 || separator >= end)
    throw new HubMessageError('the handshake answer is cut off');
  const refusal = readHandshakeAnswer(readUtf8(buffer, start, separator));
  if (refusal !== undefined) throw refusedHandshake(refusal);
  return separator + 1;
}
