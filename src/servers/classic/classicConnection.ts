/** How a connection of ASP.NET SignalR gets its texts: by a web socket, an event stream, or one answer to each poll. */
import type { ServerResponse } from 'node:http';
import { opcode } from '../../wire/socket/frame';
import { serverHeader } from '../hubProtocol/serverProtocol';
import { WebSocketTransport } from '../http/transports';
import type { BenchCaller } from '../hub/hubConnection';
import { classicProtocol } from './classicProtocol';

/** A text in pieces: what many get is in memory once. */
export type TextPieces = readonly Buffer[];

export interface ClassicTransport {
  /** Messages that one envelope may hold. Source: `MaxMessages` of `ForeverTransport`, `LongPollingTransport`. */
  readonly mostMessages: number;
  /** It is over with the first envelope. */
  readonly isOneAnswer: boolean;
  /** Written, and not read by the client yet. */
  readonly unreadBytes: number;
  send(texts: readonly TextPieces[]): void;
  keepAlive(): void;
  /** Absent where requests besides the one that waits bring what the client sends. */
  pause?(): void;
  resume?(): void;
  /** Ends behind what was written. */
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

  send(texts: readonly TextPieces[]): void {
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

  /** White space in front of the JSON text. */
  keepAlive(): void {
    this.response.write(' ');
  }
}

/** Source: `JsonUtility.JsonMimeType`. */
export const jsonType = 'application/json; charset=UTF-8';

export interface ClassicHost {
  readonly maxUnreadBytes: number;
  readonly keepAliveMs: number;
  /** An answer to a poll comes at the latest after this. */
  readonly pollTimeoutMs: number;
  /** A client that is away for longer is gone. */
  readonly disconnectTimeoutMs: number;
  /** While true, nothing is written. */
  readonly isHeld: boolean;
  /** Milliseconds, as of the hub's last tick. */
  readonly tickMs: number;
  /** It has something to write: asks for {@link ClassicConnection.flush} at the end of this turn. */
  scheduleFlush(connection: ClassicConnection): void;
  /** So many bytes more wait for a client, or less. @returns whether more wait for this one than may */
  addWaitingBytes(connection: ClassicConnection, addedBytes: number): boolean;
  groupsToken(connection: ClassicConnection): string;
  /** It gets nothing any more. */
  onClosing(connection: ClassicConnection): void;
  /** Its last transport has ended. */
  onClosed(connection: ClassicConnection): void;
}

/** After so much that was written in one piece, it is asked again whether the client reads. */
const mostAtOnceBytes = 64 * 1024;
/** Messages that wait for one client. Source: `DefaultMessageBufferSize` of `DefaultConfigurationManager`. */
const mostWaiting = 1000;

const text = (value: string): Buffer => Buffer.from(value, 'utf8');
const comma = text(',');
const envelopeTail = text(']}');

/**
 * One client, whatever its transport and however often that is a new one: what cannot be written waits for the next.
 * Nobody acknowledges messages, so that what was on its way when a transport ended is lost.
 */
export class ClassicConnection {
  groups: Set<string> | undefined;
  invocations = 0;
  /** The client has called `start`, by which its hub knows of it. */
  isStarted = false;
  waitingBytes = 0;
  private readonly waiting: Buffer[] = [];
  /** Number of the message that was written last. */
  private number = 0;
  private readonly answers: Buffer[] = [];
  private transport: ClassicTransport | undefined;
  private isInitializing = false;
  private areGroupsNew = false;
  /** Number of the message that went out with the last groups token, and that token's version. */
  private groupsSentAt = 0;
  private groupsSent = 0;
  private groupsVersion = 0;
  private isWaiting = false;
  private isPaused = false;
  private nextKeepAliveMs = 0;
  private sinceMs: number;
  private isGone = false;
  /** What it says goodbye on. */
  private closingTransport: ClassicTransport | undefined;

  /** @param cursorHead what its message ids begin with */
  constructor(
    readonly id: string,
    /** Whether it gets what the hub sends: it has named the hub. */
    readonly isOnHub: boolean,
    private readonly cursorHead: string,
    private readonly host: ClassicHost,
  ) {
    this.sinceMs = host.tickMs;
  }

  /** Takes a message that the hub sends to this client; of too many the oldest are dropped. */
  write(message: Buffer): void {
    if (this.isGone || !this.isOnHub) return;
    this.waiting.push(message);
    const isTooMuch = (addedBytes: number): boolean => {
      this.waitingBytes += addedBytes;
      return this.host.addWaitingBytes(this, addedBytes) || this.waiting.length > mostWaiting;
    };
    // Many at once for a client that reads are no loss.
    if (isTooMuch(message.length)) this.flush();
    let wantsLess = isTooMuch(0);
    while (wantsLess && this.waiting.length > 1)
      wantsLess = isTooMuch(-this.waiting.shift()!.length);
    this.scheduleFlush();
  }

  /** Writes a text that has no number: it is lost with its transport. */
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

  /** For the token of its groups. */
  get version(): number {
    return this.groupsVersion;
  }

  /** A new transport takes the place of the one before. */
  connect(transport: ClassicTransport): void {
    this.use(transport);
    this.isInitializing = true;
    this.scheduleFlush();
  }

  /** Goes on over another transport. */
  reconnect(transport: ClassicTransport): void {
    this.use(transport);
    this.scheduleFlush();
  }

  /**
   * Whether a client that comes back shows what it was given last, or has missed it. Otherwise it is in the groups that
   * it shows, and in no others, as in the official server, which remembers none. (There it also misses what was sent to
   * the others while it was away; here that waits already.)
   */
  acceptsGroupsToken(version: number, messageId: string | undefined): boolean {
    const number = this.numberOf(messageId);
    const hasMissed = number !== undefined && number < this.groupsSentAt;
    if (version === this.groupsSent) return true;
    this.areGroupsNew ||= hasMissed;
    if (!hasMissed) this.groupsSent = version;
    return hasMissed;
  }

  /** The transport has ended by itself. */
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
    // As long as the client reads; what is more waits as a number.
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
    // Who does not read may not ask for more.
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

  /** The client leaves, or has to: behind what was written, and a last text if there is one. */
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

  /** Orders the client to come back, as a server that shuts down, and forgets it. */
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

  /** Members in the order of `PersistentResponse`. */
  private envelope(mostMessages: number): TextPieces {
    const messages = this.waiting.splice(0, mostMessages);
    const bytes = textBytes(messages);
    this.waitingBytes -= bytes;
    this.host.addWaitingBytes(this, -bytes);
    // A change of groups has a number of its own, so that it shows whether the client has got it.
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

/** A client as the bench methods see it, and the way by which it gets its answer. */
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
