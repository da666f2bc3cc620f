import { recordSeparator } from '../../wire/message/hubMessage';
import { opcode } from '../../wire/socket/frame';
import { encodeText } from '../../wire/message/messagePack';
import { ByteRest } from '../../wire/socket/byteRest';
import {
  agreeOnProtocol,
  handshakeErrorFrame,
  handshakeFailed,
  handshakeTimedOut,
  protocolNamed,
} from '../hubProtocol/protocols';
import type { HubTransport, TransportOwner } from '../http/webSocketTransport';
import { serverFrame } from '../hubProtocol/serverFrame';
import {
  expiryMs,
  handshakeTimeoutMs,
  type ClientIdentity,
  type HeaderList,
} from './clientIdentity';
import type { AppServerLine, LineClient } from './serviceHub';

/** What clients of the default mode need from the service. */
export interface RoutedClientHost {
  readonly maxUnreadBytes: number;
  /** Milliseconds, as of the last tick. */
  readonly tickMs: number;
  /** Finds the server connection for a client whose hub handshake has come. */
  route(client: RoutedClient): AppServerLine | undefined;
  /** It takes and sends no more messages. */
  closing(client: RoutedClient): void;
  /** Its transport is no more. */
  gone(client: RoutedClient): void;
}

/** Longest hub handshake, and longest hub message that an app server may send in pieces. */
const maxHandshakeBytes = 16 * 1024;
const maxPartialBytes = 16 * 1024 * 1024;

/** The protocol that a hub handshake asks for; undefined when it is none. */
function protocolIn(text: string): string | undefined {
  try {
    const { protocol } = JSON.parse(text) as { protocol?: unknown };
    return typeof protocol === 'string' && protocol.length <= 64
      ? protocol.toLowerCase()
      : undefined;
  } catch {
    return undefined;
  }
}

/** A client whose hub is run by an app server: what it sends goes there as it came. */
export class RoutedClient implements TransportOwner, LineClient {
  groups: Set<string> | undefined;
  protocolName = 'json';
  /** The id in MessagePack, for every message that carries its data. */
  readonly idText: Buffer;
  line: AppServerLine | undefined;
  private state: 'handshake' | 'routed' | 'open' | 'closing' = 'handshake';
  private rest: ByteRest | undefined;
  private held: HeldFrames | undefined;
  private headers: HeaderList | undefined;
  private readonly handshakeDueMs: number;

  constructor(
    readonly id: string,
    private readonly host: RoutedClientHost,
    private readonly transport: HubTransport,
    readonly identity: ClientIdentity,
    headers: HeaderList,
  ) {
    this.idText = encodeText(id);
    this.headers = headers;
    this.handshakeDueMs = host.tickMs + handshakeTimeoutMs(identity.claims);
    transport.attach(this);
  }

  get userId(): string | undefined {
    return this.identity.userId;
  }

  /** The headers of its request, once: only the app server's first message has them. */
  takeHeaders(): HeaderList {
    const { headers = [] } = this;
    this.headers = undefined;
    return headers;
  }

  arrived(data: Buffer): void {
    if (this.state === 'closing') return;
    if (this.line !== undefined) this.line.forward(this, data);
    else this.readHandshake(data);
  }

  /** Takes what its own app server sends, whole hub messages or a part of one. */
  receive(payload: Buffer, isPartial: boolean): void {
    if (this.state === 'closing' || payload.length === 0) return;
    if (isPartial || this.rest !== undefined) {
      this.rest ??= new ByteRest();
      this.rest.append(payload);
      if (this.rest.length > maxPartialBytes) this.close('Closed: a message is too long.', true);
      if (isPartial) return;
    }
    const whole = this.rest?.take() ?? payload;
    this.rest = undefined;
    if (this.state === 'routed') this.answered(whole);
    else this.write(this.frame(whole));
  }

  write(frame: Buffer): void {
    if (this.state === 'routed') this.hold(frame);
    else if (this.state === 'open' && this.hasRoom()) this.transport.write(frame);
  }

  close(error?: string, allowReconnect = false): void {
    if (this.state === 'closing') return;
    this.line?.clientClosed(this, error ?? '');
    this.end(this.closeFrame(error, allowReconnect));
  }

  /** Its app server has closed it, with a Close message before or not, or is gone. */
  closeByServer(error: string, allowReconnect = false): void {
    const says = error !== '' || allowReconnect;
    this.end(says ? this.closeFrame(error === '' ? undefined : error, allowReconnect) : undefined);
  }

  terminate(): void {
    this.end(undefined);
    this.transport.terminate();
  }

  gone(): void {
    if (this.state !== 'closing') {
      this.line?.clientClosed(this, '');
      this.end(undefined);
    }
    this.host.gone(this);
  }

  hasRoom(): boolean {
    if (this.transport.unreadBytes <= this.host.maxUnreadBytes) return true;
    if (this.state !== 'closing') {
      const limit = `${this.host.maxUnreadBytes} bytes`;
      const error = `Closed: more than ${limit} were waiting for this client to read them.`;
      this.line?.clientClosed(this, error);
      this.end(this.closeFrame(error, true), 1008);
    }
    return false;
  }

  tick(nowMs: number, epochMs: number): void {
    this.transport.tick(nowMs);
    if (this.state === 'handshake' && nowMs >= this.handshakeDueMs) {
      this.end(handshakeErrorFrame(handshakeTimedOut));
    }
    if (epochMs >= (expiryMs(this.identity.claims) ?? Infinity)) {
      this.close('The access token has expired.');
    }
  }

  /** Nothing more is read from the client until {@link resume}: its app server is behind. */
  pause(): void {
    this.transport.pause();
  }

  resume(): void {
    this.transport.resume();
  }

  private readHandshake(data: Buffer): void {
    this.rest ??= new ByteRest();
    this.rest.append(data);
    const { length } = this.rest;
    const end = this.rest.first(length).indexOf(recordSeparator);
    if (end < 0) {
      if (length > maxHandshakeBytes) this.end(handshakeErrorFrame(handshakeFailed));
      return;
    }
    const bytes = this.rest.take();
    this.rest = undefined;
    const text = bytes.toString('utf8', 0, end);
    const protocol = protocolIn(text);
    const { carriesBinary } = this.transport;
    if (protocol === undefined || (protocol !== 'json' && !carriesBinary)) {
      const reason = agreeOnProtocol(text, carriesBinary);
      this.end(handshakeErrorFrame(typeof reason === 'string' ? reason : handshakeFailed));
      return;
    }
    this.protocolName = protocol;
    this.state = 'routed';
    this.line = this.host.route(this);
    if (this.line === undefined) {
      this.end(handshakeErrorFrame('No app server is connected to the service.'));
    } else {
      this.line.open(this);
      this.line.forward(this, bytes);
    }
  }

  /** The answer to the hub handshake comes first; what has been sent meanwhile follows at once. */
  private answered(whole: Buffer): void {
    this.state = 'open';
    const { held } = this;
    this.held = undefined;
    if (held === undefined) {
      this.write(this.frame(whole));
    } else if (this.hasRoom()) {
      const { end, refuses } = handshakeAnswer(whole);
      this.transport.write(this.frame(whole.subarray(0, end)));
      // Together they are within the bound, whatever the client has read.
      if (!refuses) for (const frame of held.frames) this.transport.write(frame);
      if (end < whole.length) this.write(this.frame(whole.subarray(end)));
    }
  }

  private hold(frame: Buffer): void {
    this.held ??= new HeldFrames(this.host.maxUnreadBytes);
    if (this.held.add(frame)) return;
    const { overflow } = this.held;
    this.line?.clientClosed(this, overflow);
    this.end(handshakeErrorFrame(overflow), 1008);
  }

  private frame(payload: Buffer): Buffer {
    return serverFrame(this.protocolName === 'json' ? opcode.text : opcode.binary, payload);
  }

  private closeFrame(error: string | undefined, allowReconnect: boolean): Buffer | undefined {
    if (this.state !== 'open') return undefined;
    return protocolNamed(this.protocolName)?.closeFrame(error, allowReconnect);
  }

  private end(lastFrame: Buffer | undefined, code = 1000): void {
    if (this.state === 'closing') return;
    this.state = 'closing';
    this.held = undefined;
    this.host.closing(this);
    if (lastFrame !== undefined && this.transport.isWritable) this.transport.write(lastFrame);
    this.transport.close(code);
  }
}

/** Most frames that wait for one client. */
const maxFrames = 1000;

/**
 * What is sent to a client before its hub has answered its handshake. App servers do that: messages that are
 * addressed by connection id, group or user overtake the answer, which takes the way of the client's own data.
 */
export class HeldFrames {
  readonly frames: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** Takes one more; false when there is no room for it. */
  add(frame: Buffer): boolean {
    this.bytes += frame.length;
    return this.bytes <= this.maxBytes && this.frames.push(frame) <= maxFrames;
  }

  get overflow(): string {
    return `Closed: more than ${maxFrames} messages or ${this.maxBytes} bytes were waiting for the answer to the handshake of this client.`;
  }
}

/** Where the answer to a hub handshake ends in what begins with it, and whether it refuses the client. */
export function handshakeAnswer(bytes: Buffer): {
  readonly end: number;
  readonly refuses: boolean;
} {
  const separatorAt = bytes.indexOf(recordSeparator);
  if (separatorAt < 0) return { end: bytes.length, refuses: true };
  const refuses = /"error"\s*:\s*"/.test(bytes.toString('utf8', 0, separatorAt));
  return { end: separatorAt + 1, refuses };
}
