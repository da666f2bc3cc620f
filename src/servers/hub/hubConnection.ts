import { isUtf8 } from 'node:buffer';
import { PendingBytes } from '../../wire/socket/frameReader';
import {
  jsonProtocol,
  negotiateProtocol,
  handshakeErrorFrame,
  handshakeFailed,
  handshakeTimedOut,
} from '../hubProtocol/protocols';
import type { ServerProtocol } from '../hubProtocol/serverProtocol';
import { hubMessageType, type Envelope } from '../../wire/message/hubMessage';
import { receiveSafely } from '../http/loopbackServer';
import { slowClientReason, type HubTransport, type TransportOwner } from '../http/transports';

export interface ConnectionHost {
  readonly maxMessageBytes: number;
  readonly maxUnreadBytes: number;
  readonly keepAliveMs: number;
  readonly clientTimeoutMs: number;
  readonly isHeld: boolean;
  readonly tickMs: number;
  onOpened(connection: HubConnection): void;
  onInvocation(connection: HubConnection, message: Envelope): void;
  /** Absent where the service keeps the groups. */
  onClosing?(connection: HubConnection): void;
  onClosed(connection: HubConnection): void;
}

export interface OpenStreams {
  readonly pausesReading: boolean;
  receive(message: Envelope): void;
  resumeSending(): void;
  dispose(): void;
}

const closedWithError = 'Connection closed with an error.';

export class HubConnection implements TransportOwner {
  groups: Set<string> | undefined;
  streams: OpenStreams | undefined;
  invocations = 0;
  protocol: ServerProtocol = jsonProtocol;
  private state: 'handshake' | 'open' | 'closing' = 'handshake';
  private rest: PendingBytes | undefined;
  private inbox: { data: Buffer; isBinary: boolean }[] | undefined;
  private handshakeDueMs: number;
  private readonly reader = {
    onData: (data: Buffer, isBinary: boolean): void => this.read(data, isBinary),
    onFault: (reason: string): void => this.onFault(reason),
  };
  private nextPingMs = 0;
  private lastSeenMs: number;
  private hasPinged = false;

  constructor(
    readonly id: string,
    private readonly host: ConnectionHost,
    private readonly transport: HubTransport,
    handshakeTimeoutMs: number,
  ) {
    this.lastSeenMs = host.tickMs;
    this.handshakeDueMs = host.tickMs + handshakeTimeoutMs;
    transport.attach(this);
    if (host.isHeld) this.pauseReading();
  }

  get isOpen(): boolean {
    return this.state === 'open';
  }

  write(frame: Buffer): void {
    if (this.state === 'open' && this.hasRoom()) this.transport.write(frame);
  }

  /** Sends a Close message behind what was written, and closes the transport. */
  close(error?: string, allowReconnect = false, code = 1000): void {
    this.end(this.protocol.closeFrame(error, allowReconnect), code);
  }

  terminate(): void {
    this.state = 'closing';
    this.releaseStreams();
    this.transport.terminate();
  }

  tick(nowMs: number): void {
    this.transport.tick?.(nowMs);
    if (this.state === 'handshake' && nowMs >= this.handshakeDueMs) {
      this.end(handshakeErrorFrame(handshakeTimedOut), 1000);
    }
    if (this.state !== 'open') return;
    // A client that is not read from is not silent.
    const silentMs = this.isFull ? 0 : nowMs - this.lastSeenMs;
    if (this.hasPinged && silentMs > this.host.clientTimeoutMs) {
      this.close(closedWithError, true);
    } else if (nowMs >= this.nextPingMs && !this.transport.hasOwnKeepAlive) {
      this.nextPingMs = nowMs + this.host.keepAliveMs;
      this.write(this.protocol.pingFrame);
    }
  }

  pauseReading(): void {
    this.transport.pause();
  }

  resumeReading(): void {
    this.lastSeenMs = this.host.tickMs;
    while (this.inbox !== undefined && !this.mayNotRead) {
      const next = this.inbox.shift();
      if (next === undefined) this.inbox = undefined;
      else receiveSafely(this.reader, next.data, next.isBinary);
    }
    if (!this.mayNotRead) this.transport.resume();
  }

  protected get isFull(): boolean {
    return this.streams?.pausesReading === true;
  }

  private get mayNotRead(): boolean {
    return this.host.isHeld || this.isFull;
  }

  get isBehind(): boolean {
    const { unreadBytes, isBlocked } = this.transport;
    return isBlocked === true || unreadBytes * 4 > this.host.maxUnreadBytes;
  }

  hasRoom(): boolean {
    const { maxUnreadBytes } = this.host;
    if (this.transport.unreadBytes <= maxUnreadBytes) return true;
    this.close(slowClientReason(maxUnreadBytes), true, 1008);
    return false;
  }

  private end(lastFrame: Buffer, code: number): void {
    if (this.state === 'closing') return;
    this.state = 'closing';
    this.releaseStreams();
    if (this.transport.isWritable) this.transport.write(lastFrame);
    this.transport.close(code);
  }

  onClosed(): void {
    this.releaseStreams();
    this.host.onClosed(this);
  }

  private releaseStreams(): void {
    this.streams?.dispose();
    this.streams = undefined;
    this.host.onClosing?.(this);
  }

  onData(data: Buffer, isBinary: boolean): void {
    if (this.state === 'closing') return;
    if (this.mayNotRead || this.inbox !== undefined) {
      (this.inbox ??= []).push({ data, isBinary });
      return;
    }
    this.read(data, isBinary);
  }

  private read(data: Buffer, isBinary: boolean): void {
    this.lastSeenMs = this.host.tickMs;
    let isChecked = !isBinary;
    let start = 0;
    while (start < data.length && this.state !== 'closing') {
      // `ws` has checked text frames; JSON in binary frames must be UTF-8 too.
      if (!isChecked && this.state === 'open' && this.protocol.isText) {
        isChecked = true;
        if (!isUtf8(data.subarray(start))) {
          this.fail();
          return;
        }
      }
      const { maxMessageBytes } = this.host;
      const end = this.protocol.messageEnd(this.rest, data, start, maxMessageBytes);
      if (end === 'incomplete') {
        this.keep(data.subarray(start));
        return;
      }
      if (end === 'invalid') {
        this.fail();
        return;
      }
      if (end === 'tooLong' || (this.rest?.length ?? 0) + end - start > maxMessageBytes) {
        this.failTooLong();
        return;
      }
      if (this.rest === undefined) {
        this.message(data, start, end);
      } else {
        this.keep(data.subarray(start, end));
        const whole = this.rest.take();
        this.rest = undefined;
        this.message(whole, 0, whole.length);
      }
      start = end;
      if (this.isFull) {
        this.pauseReading();
        const left = { data: data.subarray(start), isBinary: false };
        if (start < data.length) (this.inbox ??= []).unshift(left);
        return;
      }
    }
  }

  private keep(piece: Buffer): void {
    this.rest ??= new PendingBytes();
    this.rest.append(piece);
    if (this.rest.length > this.host.maxMessageBytes) this.failTooLong();
  }

  private message(bytes: Buffer, start: number, end: number): void {
    if (this.state === 'closing') return;
    if (this.state === 'handshake') {
      this.handshake(bytes.subarray(start, end - 1));
      return;
    }
    const message = this.protocol.read(bytes, start, end);
    if (message === undefined) {
      this.fail();
      return;
    }
    switch (message.type) {
      case hubMessageType.invocation:
      case hubMessageType.streamInvocation:
        this.invocations++;
        this.host.onInvocation(this, message);
        break;
      case hubMessageType.streamItem:
      case hubMessageType.completion:
      case hubMessageType.cancelInvocation:
        this.streams?.receive(message);
        break;
      case hubMessageType.ping:
        this.hasPinged = true;
        break;
      case hubMessageType.close:
        this.close();
        break;
    }
  }

  private handshake(request: Buffer): void {
    const { carriesBinary } = this.transport;
    const agreed = isUtf8(request)
      ? negotiateProtocol(request.toString('utf8'), carriesBinary)
      : handshakeFailed;
    if (typeof agreed === 'string') {
      this.end(handshakeErrorFrame(agreed), 1000);
      return;
    }
    this.protocol = agreed;
    this.state = 'open';
    this.nextPingMs = this.host.tickMs + this.host.keepAliveMs;
    this.host.onOpened(this);
  }

  onFault(reason: string): void {
    this.fail(`${closedWithError} ${reason}`);
  }

  private failTooLong(): void {
    this.onFault(`A message is longer than ${this.host.maxMessageBytes} bytes.`);
  }

  private fail(reason = closedWithError): void {
    if (this.state === 'handshake') this.end(handshakeErrorFrame(handshakeFailed), 1000);
    else this.close(reason, true);
  }
}

export type BenchCaller = Pick<
  HubConnection,
  'id' | 'protocol' | 'streams' | 'write' | 'isBehind' | 'resumeReading'
>;
