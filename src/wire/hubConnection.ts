import type * as net from 'node:net';
import type { ErrorClass } from '../base/errorClass';
import { classOfSystemError, ConnectFailure, shownText, textOfSystemError } from './connectFailure';
import { shownUrl, type Endpoint } from './endpoint';
import { clientFrame, opcode } from './frame';
import { FrameError, FrameReader, type FrameListener } from './frameReader';
import {
  encodeHandshake,
  HubMessageError,
  readHandshakeAnswer,
  recordSeparator,
} from './hubMessage';
import type { Negotiated } from './negotiate';
import { connectSocket, type SocketOwner } from './socket';
import { checkUpgradeAnswer, maximumHeadBytes, upgradeRequest } from './upgrade';

/** What an open connection tells. One listener serves all connections of a worker. */
export interface HubListener {
  /**
   * One WebSocket message: one or more hub messages, each with its separator. The buffer is valid only
   * during the call. `frameBytes` is the message's length on the wire.
   */
  received(
    connection: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
    frameBytes: number,
  ): void;
  /** The connection is gone without our asking; told once. */
  lost(connection: HubConnection, errorClass: ErrorClass, text: string): void;
}

export interface HubConnectionOptions {
  /** Longest message accepted from the server. */
  readonly maximumMessageBytes: number;
  /** Bytes that may wait to be sent before the connection counts as blocked. */
  readonly maximumUnsentBytes: number;
}

/** State that is needed only until the connection is open. */
interface Opening {
  readonly url: URL;
  readonly accept: string;
  head: Buffer;
  settle(failure: ConnectFailure | undefined): void;
}

const normalClosure = Buffer.from([0x03, 0xe8]);
const handshake = encodeHandshake('json');

/**
 * One client connection over its own WebSocket: upgrade, hub handshake, messages. It knows nothing of
 * what the messages mean, uses no timer and no promise per message, and keeps as little memory as it can.
 */
export class HubConnection implements FrameListener, SocketOwner {
  /** When something last came from the server, in the clock of the owner, which sets it. */
  lastReceivedUs = 0;
  /** Text of a hub Close message, told when the socket closes after it. */
  closeReason: string | undefined;
  private state: 'upgrading' | 'handshaking' | 'open' | 'closed' = 'upgrading';
  private opening: Opening | undefined;
  private readonly reader: FrameReader;
  private socket!: net.Socket;

  private constructor(
    /** Index of the connection among all of the run. */
    readonly index: number,
    private readonly listener: HubListener,
    private readonly options: HubConnectionOptions,
  ) {
    this.reader = new FrameReader(options.maximumMessageBytes);
  }

  /**
   * Opens a socket, upgrades it and shakes hands.
   *
   * @throws ConnectFailure with the class of what went wrong; `timeout` when the signal aborts
   */
  static open(
    index: number,
    where: Negotiated,
    endpoint: Endpoint,
    listener: HubListener,
    options: HubConnectionOptions,
    signal: AbortSignal,
  ): Promise<HubConnection> {
    return new Promise((resolve, reject) => {
      const request = upgradeRequest(where);
      const connection = new HubConnection(index, listener, options);
      const onAbort = (): void => {
        connection.drop(
          'timeout',
          `no answer from ${shownUrl(where.url.href)} in time, while ${connection.state}`,
        );
      };
      connection.opening = {
        url: where.url,
        accept: request.accept,
        head: Buffer.alloc(0),
        settle: (failure) => {
          signal.removeEventListener('abort', onAbort);
          if (failure === undefined) resolve(connection);
          else reject(failure);
        },
      };
      connection.socket = connectSocket(where.url, endpoint, connection, () =>
        connection.socket.write(request.bytes, 'latin1'),
      );
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
    });
  }

  get isOpen(): boolean {
    return this.state === 'open';
  }

  get stopped(): boolean {
    return this.state === 'closed';
  }

  /**
   * Hands a whole frame to the socket of an open connection.
   *
   * @returns whether the socket took the bytes at once; otherwise the frame must not be changed any more
   */
  send(frame: Buffer): boolean {
    const { socket } = this;
    socket.write(frame);
    const unsentBytes = socket.writableLength;
    if (unsentBytes === 0) return true;
    if (unsentBytes > this.options.maximumUnsentBytes) {
      this.drop('blocked', `${unsentBytes} bytes were waiting for the server to read them`);
    }
    return false;
  }

  /** Sends one hub message that is not worth a template; nothing happens on a closed connection. */
  sendMessage(message: Buffer): void {
    if (this.state === 'open') this.send(clientFrame(opcode.text, message));
  }

  /** Closes in order; the listener is not told. */
  close(): void {
    if (this.state === 'open') {
      this.state = 'closed';
      this.socket.end(clientFrame(opcode.close, normalClosure));
    } else {
      this.destroy();
    }
  }

  /** Lets go of the socket at once; the listener is not told. */
  destroy(): void {
    this.state = 'closed';
    this.socket.destroy();
  }

  /** Gives the connection up for the given reason, which the listener or the opener is told. */
  drop(errorClass: ErrorClass, text: string): void {
    this.fail(new ConnectFailure(errorClass, text));
  }

  onBytes(buffer: Buffer, length: number): void {
    try {
      const start = this.state === 'upgrading' ? this.takeHead(buffer, length) : 0;
      if (start < length && this.state !== 'closed') this.reader.read(buffer, start, length, this);
    } catch (error) {
      if (error instanceof ConnectFailure) this.fail(error);
      else if (error instanceof FrameError || error instanceof HubMessageError)
        this.drop('protocol', error.message);
      else throw error;
    }
  }

  onSocketError(error: Error): void {
    this.fail(new ConnectFailure(classOfSystemError(error), textOfSystemError(error)));
  }

  onSocketClose(): void {
    const text = shownText(this.closeReason ?? '');
    this.drop(
      'closed',
      text === '' ? 'the server ended the connection without a close frame' : text,
    );
  }

  onMessage(buffer: Buffer, start: number, end: number, frameBytes: number): void {
    if (this.state === 'open') {
      this.listener.received(this, buffer, start, end, frameBytes);
      return;
    }
    const separator = buffer.indexOf(recordSeparator, start);
    if (separator < 0 || separator >= end)
      throw new HubMessageError('the handshake answer is cut off');
    const refusal = readHandshakeAnswer(buffer.toString('utf8', start, separator));
    if (refusal !== undefined) {
      this.drop('handshake', `handshake refused: ${shownText(refusal)}`);
      return;
    }
    const { opening } = this;
    this.state = 'open';
    this.opening = undefined;
    opening?.settle(undefined);
    // The server may put hub messages right behind its answer.
    if (separator + 1 < end) this.listener.received(this, buffer, separator + 1, end, frameBytes);
  }

  onPing(payload: Buffer): void {
    // Bounded like everything else that is sent: a server may ping on and never read.
    this.send(clientFrame(opcode.pong, payload));
  }

  onClose(code: number, reason: string): void {
    const text = shownText(this.closeReason ?? reason);
    const slow = /too slow|slow consumer|send buffer|waiting to be (sent|read)|were waiting/i.test(
      text,
    );
    this.drop(
      slow ? 'slowConsumer' : 'closed',
      `closed with code ${code}${text === '' ? '' : `: ${text}`}`,
    );
  }

  /** Collects the head of the upgrade answer; returns where the first frame begins. */
  private takeHead(buffer: Buffer, length: number): number {
    const opening = this.opening!;
    const before = opening.head.length;
    opening.head = Buffer.concat([
      opening.head,
      buffer.subarray(0, Math.min(length, maximumHeadBytes)),
    ]);
    const end = opening.head.indexOf('\r\n\r\n');
    if (end < 0) {
      if (opening.head.length >= maximumHeadBytes)
        throw new ConnectFailure('protocol', 'upgrade: the answer has no end');
      return length;
    }
    checkUpgradeAnswer(opening.head.toString('latin1', 0, end), opening.accept, opening.url);
    this.state = 'handshaking';
    this.socket.write(clientFrame(opcode.text, handshake));
    return end + 4 - before;
  }

  private fail(failure: ConnectFailure): void {
    if (this.state === 'closed') return;
    const { opening } = this;
    this.opening = undefined;
    this.destroy();
    if (opening !== undefined) opening.settle(failure);
    else this.listener.lost(this, failure.errorClass, failure.message);
  }
}
