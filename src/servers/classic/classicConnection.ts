import type { ServerResponse } from 'node:http';
import { opcode } from '../../wire/socket/frame';
import { serverHeader } from '../hubProtocol/serverProtocol';
import { WebSocketTransport } from '../http/transports';
import type { BenchCaller } from '../hub/hubConnection';
import { classicProtocol } from './classicProtocol';

export type TextPieces = readonly Buffer[];

export interface ClassicTransport {
  /** Messages per envelope. Source: `MaxMessages` of `ForeverTransport`, `LongPollingTransport`. */
  readonly mostMessages: number;
  readonly isOneAnswer: boolean;
  readonly unreadBytes: number;
  send(texts: readonly TextPieces[]): void;
  keepAlive(): void;
  /** Absent where input comes by other requests. */
  pause?(): void;
  resume?(): void;
  end(): void;
  terminate(): void;
}

export const textBytes = (text: TextPieces): number =>
  text.reduce((bytes, piece) => bytes + piece.length, 0);

export class SocketTransport extends WebSocketTransport implements ClassicTransport {
  readonly mostMessages = 10;
  readonly isOneAnswer = false;

  send(texts: readonly TextPieces[]): void {
    const pieces = texts.flatMap((text) => [serverHeader(opcode.text, textBytes(text)), ...text]);
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
const dataTail = Buffer.from('\r\n\r\n');

export class EventsTransport extends ResponseTransport implements ClassicTransport {
  readonly mostMessages = 10;
  readonly isOneAnswer = false;

  constructor(response: ServerResponse) {
    super(response);
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
    response.write('data: initialized\n\n');
  }

  send(texts: readonly TextPieces[]): void {
    const pieces = texts.flatMap((text) => [dataHead, ...text.map(onOneLine), dataTail]);
    this.response.write(Buffer.concat(pieces));
  }

  keepAlive(): void {
    this.response.write('data: {}\n\n');
  }
}

/** Line ends are white space in JSON, and would end the event. */
function onOneLine(text: Buffer): Buffer {
  if (!text.includes(0x0a) && !text.includes(0x0d)) return text;
  return Buffer.from(text.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte)));
}

export class PollResponseTransport extends ResponseTransport implements ClassicTransport {
  readonly mostMessages = 5000;
  readonly isOneAnswer = true;

  constructor(response: ServerResponse) {
    super(response);
    response.writeHead(200, { 'Content-Type': jsonType });
    response.flushHeaders();
  }

  send(texts: readonly TextPieces[]): void {
    this.response.end(Buffer.concat(texts.flat()));
  }

  keepAlive(): void {
    this.response.write(' ');
  }
}

/** Source: `JsonUtility.JsonMimeType`. */
export const jsonType = 'application/json; charset=UTF-8';

export interface ClassicHost {
  readonly maxUnreadBytes: number;
  readonly keepAliveMs: number;
  readonly pollTimeoutMs: number;
  readonly disconnectTimeoutMs: number;
  readonly isHeld: boolean;
  readonly tickMs: number;
  /** Requests {@link ClassicConnection.flush} at the end of this turn. */
  scheduleFlush(connection: ClassicConnection): void;
  /** @returns whether too much waits for this client */
  addWaitingBytes(connection: ClassicConnection, addedBytes: number): boolean;
  groupsToken(connection: ClassicConnection): string;
  onClosing(connection: ClassicConnection): void;
  onClosed(connection: ClassicConnection): void;
}

const mostAtOnceBytes = 64 * 1024;
/** Waiting messages per client. Source: `DefaultMessageBufferSize` of `DefaultConfigurationManager`. */
const mostWaiting = 1000;

const text = (value: string): Buffer => Buffer.from(value, 'utf8');
const comma = text(',');
const envelopeTail = text(']}');

/**
 * One client over all its transports: unwritten messages wait for the next transport. There are no
 * acknowledgements, so a lost transport loses what was on its way.
 */
export class ClassicConnection {
  groups: Set<string> | undefined;
  invocations = 0;
  isStarted = false;
  waitingBytes = 0;
  private readonly waiting: Buffer[] = [];
  private number = 0;
  private readonly answers: Buffer[] = [];
  private transport: ClassicTransport | undefined;
  private isInitializing = false;
  private areGroupsNew = false;
  /** Message number and version of the last groups token sent. */
  private groupsSentAt = 0;
  private groupsSent = 0;
  private groupsVersion = 0;
  private isWaiting = false;
  private isPaused = false;
  private nextKeepAliveMs = 0;
  private sinceMs: number;
  private isGone = false;
  private closingTransport: ClassicTransport | undefined;

  constructor(
    readonly id: string,
    /** Only clients that named the hub get its messages. */
    readonly isOnHub: boolean,
    private readonly cursorHead: string,
    private readonly host: ClassicHost,
  ) {
    this.sinceMs = host.tickMs;
  }

  /** Queues a message; drops the oldest above the limits. */
  write(message: Buffer): void {
    if (this.isGone || !this.isOnHub) return;
    this.waiting.push(message);
    const isTooMuch = (addedBytes: number): boolean => {
      this.waitingBytes += addedBytes;
      return this.host.addWaitingBytes(this, addedBytes) || this.waiting.length > mostWaiting;
    };
    // A client that reads loses nothing in a burst.
    if (isTooMuch(message.length)) this.flush();
    let wantsLess = isTooMuch(0);
    while (wantsLess && this.waiting.length > 1)
      wantsLess = isTooMuch(-this.waiting.shift()!.length);
    this.scheduleFlush();
  }

  /** Queues a text without a number: it is lost with its transport. */
  answer(transport: ClassicTransport, answer: Buffer): void {
    if (this.transport !== transport) return;
    this.answers.push(answer);
    this.scheduleFlush();
  }

  groupsChanged(): void {
    this.areGroupsNew = true;
    this.groupsVersion++;
    this.scheduleFlush();
  }

  get version(): number {
    return this.groupsVersion;
  }

  connect(transport: ClassicTransport): void {
    this.use(transport);
    this.isInitializing = true;
    this.scheduleFlush();
  }

  reconnect(transport: ClassicTransport): void {
    this.use(transport);
    this.scheduleFlush();
  }

  /**
   * Whether the token of a reconnecting client is the latest, or the latest was lost on the way. Otherwise the
   * client's groups become those of its token, as in the official server.
   */
  acceptsGroupsToken(version: number, messageId: string | undefined): boolean {
    const number = this.numberOf(messageId);
    const hasMissed = number !== undefined && number < this.groupsSentAt;
    if (version === this.groupsSent) return true;
    this.areGroupsNew ||= hasMissed;
    if (!hasMissed) this.groupsSent = version;
    return hasMissed;
  }

  onTransportClosed(transport: ClassicTransport): void {
    if (this.closingTransport === transport) this.host.onClosed(this);
    if (this.transport !== transport) return;
    this.transport = undefined;
    this.answers.length = 0;
    this.sinceMs = this.host.tickMs;
  }

  onDrain(): void {
    if (this.isPaused && !this.host.isHeld) {
      this.isPaused = false;
      this.transport?.resume?.();
    }
    this.scheduleFlush();
  }

  pauseReading(): void {
    this.transport?.pause?.();
  }

  resumeReading(): void {
    if (!this.isPaused) this.transport?.resume?.();
    this.scheduleFlush();
  }

  flush(): void {
    this.isWaiting = false;
    const { host, transport } = this;
    if (transport === undefined || host.isHeld) return;
    let texts: TextPieces[] = [];
    let bytes = 0;
    while (this.hasEnvelope && transport.unreadBytes <= host.maxUnreadBytes) {
      const envelope = this.envelope(transport.mostMessages);
      if (transport.isOneAnswer) {
        this.onTransportClosed(transport);
        transport.send([envelope]);
        return;
      }
      texts.push(envelope);
      bytes += textBytes(envelope);
      if (bytes < mostAtOnceBytes) continue;
      transport.send(texts);
      texts = [];
      bytes = 0;
    }
    for (const answer of this.answers.splice(0)) texts.push([answer]);
    if (texts.length > 0) transport.send(texts);
    // A client that does not read may not send.
    if (!this.isPaused && transport.unreadBytes > host.maxUnreadBytes) {
      this.isPaused = true;
      transport.pause?.();
    }
  }

  tick(nowMs: number): void {
    const { host, transport } = this;
    if (transport === undefined) {
      if (nowMs - this.sinceMs >= host.disconnectTimeoutMs) this.remove();
    } else if (transport.isOneAnswer && nowMs - this.sinceMs >= host.pollTimeoutMs) {
      this.onTransportClosed(transport);
      transport.send([this.envelope(0)]);
    } else if (nowMs >= this.nextKeepAliveMs) {
      this.nextKeepAliveMs = nowMs + host.keepAliveMs;
      if (transport.unreadBytes <= host.maxUnreadBytes) transport.keepAlive();
    }
  }

  remove(last?: string): void {
    if (this.isGone) return;
    this.flush();
    const { host, transport } = this;
    this.isGone = true;
    this.transport = undefined;
    this.closingTransport = transport;
    host.addWaitingBytes(this, -this.waitingBytes);
    host.onClosing(this);
    if (transport === undefined) {
      host.onClosed(this);
      return;
    }
    if (last !== undefined) transport.send([[text(last)]]);
    if (!transport.isOneAnswer || last === undefined) transport.end();
  }

  /** Asks the client to reconnect, as a server that shuts down. */
  sayGoodbye(): void {
    this.flush();
    this.remove(`{"C":"${this.cursor}","T":1,"M":[]}`);
  }

  terminate(): void {
    this.remove();
    this.closingTransport?.terminate();
  }

  private scheduleFlush(): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.host.scheduleFlush(this);
  }

  private use(transport: ClassicTransport): void {
    const { transport: before } = this;
    this.transport = transport;
    this.answers.length = 0;
    this.isPaused = false;
    this.sinceMs = this.host.tickMs;
    this.nextKeepAliveMs = this.host.tickMs + this.host.keepAliveMs;
    before?.end();
    if (this.host.isHeld) transport.pause?.();
  }

  private get hasEnvelope(): boolean {
    return this.isInitializing || this.areGroupsNew || this.waiting.length > 0;
  }

  private get cursor(): string {
    return `${this.cursorHead}${this.number.toString(16).toUpperCase()}`;
  }

  private numberOf(messageId: string | undefined): number | undefined {
    if (messageId?.startsWith(this.cursorHead) !== true) return undefined;
    const digits = messageId.slice(this.cursorHead.length);
    return /^[0-9A-F]{1,12}$/.test(digits) ? parseInt(digits, 16) : undefined;
  }

  /** Source of the member order: `PersistentResponse`. */
  private envelope(mostMessages: number): TextPieces {
    const messages = this.waiting.splice(0, mostMessages);
    const bytes = textBytes(messages);
    this.waitingBytes -= bytes;
    this.host.addWaitingBytes(this, -bytes);
    // A change of groups takes a number, which shows whether the client got it.
    this.number += messages.length + Number(this.areGroupsNew);
    let head = `{"C":"${this.cursor}",`;
    if (this.isInitializing) head += '"S":1,';
    if (this.areGroupsNew) {
      head += `"G":"${this.host.groupsToken(this)}",`;
      this.groupsSentAt = this.number;
      this.groupsSent = this.groupsVersion;
    }
    this.isInitializing = this.areGroupsNew = false;
    const list = messages.flatMap((message, at) => (at === 0 ? [message] : [comma, message]));
    return [text(`${head}"M":[`), ...list, envelopeTail];
  }
}

const nothing = (): void => undefined;

export class ClassicCaller implements BenchCaller {
  readonly protocol = classicProtocol;
  readonly streams = undefined;
  readonly isBehind = false;
  readonly resumeReading = nothing;

  constructor(
    readonly connection: ClassicConnection,
    readonly write: (answer: Buffer) => void,
  ) {}

  get id(): string {
    return this.connection.id;
  }
}
