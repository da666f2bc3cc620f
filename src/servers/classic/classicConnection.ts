import type { BenchCaller } from '../hub/hubConnection';
import { classicProtocol, type ClassicMessage } from './classicProtocol';
import { lengthOf, type ClassicTransport, type Text } from './classicTransports';

export interface ClassicHost {
  readonly maxUnreadBytes: number;
  readonly keepAliveMs: number;
  /** An answer to a poll comes at the latest after this. */
  readonly pollTimeoutMs: number;
  /** A client that is away for longer is gone. */
  readonly disconnectTimeoutMs: number;
  readonly keptMessages: number;
  readonly withoutKeepAlive: boolean;
  /** While true, nothing is written. */
  readonly isHeld: boolean;
  /** Milliseconds, as of the hub's last tick. */
  readonly tickMs: number;
  /** It has something to write: asks for {@link ClassicConnection.flush} at the end of this turn. */
  hasNews(connection: ClassicConnection): void;
  /** Messages are kept, or no longer. @returns whether the connection keeps more than its share */
  kept(connection: ClassicConnection, addedBytes: number): boolean;
  /** A message that was never written is dropped. */
  lost(): void;
  groupsToken(connection: ClassicConnection): string;
  /** It gets nothing any more. */
  closing(connection: ClassicConnection): void;
  /** Its last transport has ended. */
  gone(connection: ClassicConnection): void;
}

/** After so much that was written in one piece, it is asked again whether the client reads. */
const mostAtOnceBytes = 64 * 1024;

const text = (value: string): Buffer => Buffer.from(value, 'utf8');
const comma = text(',');
const change = text('');
const envelopeTail = text(']}');

/**
 * One client, whatever its transport and however often that is a new one: its latest messages are kept by their
 * numbers, so that it gets what it has missed. A message is numbered when it is sent, and nobody acknowledges it.
 */
export class ClassicConnection {
  groups: Set<string> | undefined;
  invocations = 0;
  /** The client has called `start`, by which its hub knows of it. */
  isStarted = false;
  private readonly log = new MessageLog();
  /** Number of the next message to write. */
  private sent = 0;
  private readonly answers: Buffer[] = [];
  private transport: ClassicTransport | undefined;
  private isInitializing = false;
  private areGroupsNew = false;
  /** Number behind the last message that went out with a groups token, and that token's version. */
  private groupsSentAt = 0;
  private groupsSent = 0;
  private groupsVersion = 0;
  private isWaiting = false;
  private isPaused = false;
  private nextKeepAliveMs = 0;
  private sinceMs: number;
  private isGone = false;
  /** What it says goodbye on. */
  private leaving: ClassicTransport | undefined;

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

  get keptBytes(): number {
    return this.log.bytes;
  }

  /** Whether the client is there and its oldest kept message was written: it has most likely got it. */
  get isOldestWritten(): boolean {
    return this.transport !== undefined && this.log.first < this.sent;
  }

  /** Takes a message that the hub sends to this client. */
  write(message: Buffer): void {
    if (this.isGone || !this.isOnHub) return;
    this.log.push(message);
    this.shrink(this.host.kept(this, message.length));
    this.hasNews();
  }

  /** Writes a text that has no number: it is lost with its transport. */
  answer(transport: ClassicTransport, answer: Buffer): void {
    if (this.transport !== transport) return;
    this.answers.push(answer);
    this.hasNews();
  }

  groupsChanged(): void {
    this.areGroupsNew = true;
    this.groupsVersion++;
    // A change has a number of its own, so that it shows whether the client has got it.
    this.log.push(change);
    this.shrink(false);
    this.hasNews();
  }

  /** For the token of its groups. */
  get version(): number {
    return this.groupsVersion;
  }

  /** A new transport takes the place of the one before. */
  connect(transport: ClassicTransport): void {
    this.use(transport);
    this.sent = this.log.next;
    this.isInitializing = true;
    this.hasNews();
  }

  /** Goes on behind the message that the client has got last. @param messageId undefined: where the client is, nobody knows */
  goOn(transport: ClassicTransport, messageId: string | undefined): void {
    this.use(transport);
    const { first, next } = this.log;
    const number = this.numberOf(messageId);
    this.sent = number === undefined || number > next ? next : Math.max(first, number);
    if (number !== undefined && number < first) this.host.lost();
    // It has what it shows.
    while (number !== undefined && this.log.first < this.sent)
      this.host.kept(this, -this.log.dropOldest());
    if (this.sent < next || this.areGroupsNew) this.hasNews();
  }

  /**
   * Whether a client that comes back shows what it was given last, or has missed it. Otherwise it is in the groups that
   * it shows, and in no others, as in the official server, which remembers none. (There it also misses what was sent to
   * the others while it was away; here that is in the log already.)
   */
  showsGroups(version: number, messageId: string | undefined): boolean {
    const number = this.numberOf(messageId);
    const hasMissed = number !== undefined && number < this.groupsSentAt;
    if (version === this.groupsSent) return true;
    this.areGroupsNew ||= hasMissed;
    if (!hasMissed) this.groupsSent = version;
    return hasMissed;
  }

  /** The transport has ended by itself. */
  lostTransport(transport: ClassicTransport): void {
    if (this.leaving === transport) this.host.gone(this);
    if (this.transport !== transport) return;
    this.transport = undefined;
    this.answers.length = 0;
    this.sinceMs = this.host.tickMs;
  }

  drained(): void {
    if (this.isPaused && !this.host.isHeld) {
      this.isPaused = false;
      this.transport?.resume();
    }
    this.hasNews();
  }

  pauseReading(): void {
    this.transport?.pause();
  }

  resumeReading(): void {
    if (!this.isPaused) this.transport?.resume();
    this.hasNews();
  }

  flush(): void {
    this.isWaiting = false;
    const { host, transport } = this;
    if (transport === undefined || host.isHeld) return;
    let texts: Text[] = [];
    let bytes = 0;
    // As long as the client reads; what is more waits as a number.
    while (this.hasEnvelope && transport.unreadBytes <= host.maxUnreadBytes) {
      const envelope = this.envelope(transport.mostMessages);
      if (transport.isOneAnswer) {
        this.lostTransport(transport);
        transport.write([envelope]);
        return;
      }
      texts.push(envelope);
      bytes += lengthOf(envelope);
      if (bytes < mostAtOnceBytes) continue;
      transport.write(texts);
      texts = [];
      bytes = 0;
    }
    for (const answer of this.answers.splice(0)) texts.push([answer]);
    if (texts.length > 0) transport.write(texts);
    // Who does not read may not ask for more.
    if (!this.isPaused && transport.unreadBytes > host.maxUnreadBytes) {
      this.isPaused = true;
      transport.pause();
    }
  }

  tick(nowMs: number): void {
    const { host, transport } = this;
    if (transport === undefined) {
      if (nowMs - this.sinceMs >= host.disconnectTimeoutMs) this.remove();
    } else if (transport.isOneAnswer && nowMs - this.sinceMs >= host.pollTimeoutMs) {
      this.lostTransport(transport);
      transport.write([this.envelope(0)]);
    } else if (nowMs >= this.nextKeepAliveMs) {
      this.nextKeepAliveMs = nowMs + host.keepAliveMs;
      if (!host.withoutKeepAlive && transport.unreadBytes <= host.maxUnreadBytes)
        transport.keepAlive();
    }
  }

  /** The client leaves, or has to: behind what was written, and a last text if there is one. */
  remove(last?: string): void {
    if (this.isGone) return;
    this.flush();
    const { host, transport } = this;
    this.isGone = true;
    this.transport = undefined;
    this.leaving = transport;
    host.kept(this, -this.log.bytes);
    host.closing(this);
    if (transport === undefined) {
      host.gone(this);
      return;
    }
    if (last !== undefined) transport.write([[text(last)]]);
    if (!transport.isOneAnswer || last === undefined) transport.end();
  }

  /** Orders the client to disconnect. */
  disconnect(): void {
    this.remove(this.order('D'));
  }

  /** Orders the client to come back, as a server that shuts down, and forgets it. */
  sayGoodbye(): void {
    this.remove(this.order('T'));
  }

  /** Orders the client to come back, and waits for it. */
  sendAway(): void {
    this.flush();
    const { transport } = this;
    if (transport === undefined) return;
    this.lostTransport(transport);
    transport.write([[text(this.order('T'))]]);
    if (!transport.isOneAnswer) transport.end();
  }

  terminate(): void {
    this.remove();
    this.leaving?.terminate();
  }

  private order(name: 'D' | 'T'): string {
    return `{"C":"${this.cursor(this.sent)}","${name}":1,"M":[]}`;
  }

  private hasNews(): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.host.hasNews(this);
  }

  private use(transport: ClassicTransport): void {
    const { transport: before } = this;
    this.transport = transport;
    this.answers.length = 0;
    this.isPaused = false;
    this.sinceMs = this.host.tickMs;
    this.nextKeepAliveMs = this.host.tickMs + this.host.keepAliveMs;
    before?.end();
    if (this.host.isHeld) transport.pause();
  }

  private shrink(keepsTooMuch: boolean): void {
    const { host, log } = this;
    let isTooMuch = keepsTooMuch;
    while (log.count > 1 && (log.count > host.keptMessages || isTooMuch)) {
      if (log.first === this.sent) {
        // Many at once for a client that reads are no loss.
        this.flush();
        if (log.first === this.sent) {
          this.sent++;
          host.lost();
        }
      }
      isTooMuch = host.kept(this, -log.dropOldest()) && isTooMuch;
    }
  }

  private get hasEnvelope(): boolean {
    return this.isInitializing || this.areGroupsNew || this.sent < this.log.next;
  }

  private cursor(number: number): string {
    return `${this.cursorHead}${number.toString(16).toUpperCase()}`;
  }

  private numberOf(messageId: string | undefined): number | undefined {
    if (messageId?.startsWith(this.cursorHead) !== true) return undefined;
    const digits = messageId.slice(this.cursorHead.length);
    return /^[0-9A-F]{1,12}$/.test(digits) ? parseInt(digits, 16) : undefined;
  }

  /** Members in the order of `PersistentResponse`. */
  private envelope(mostMessages: number): Text {
    const from = this.sent;
    const to = Math.min(this.log.next, from + mostMessages);
    this.sent = to;
    let head = `{"C":"${this.cursor(to)}",`;
    if (this.isInitializing) head += '"S":1,';
    if (this.areGroupsNew) {
      head += `"G":"${this.host.groupsToken(this)}",`;
      this.groupsSentAt = to;
      this.groupsSent = this.groupsVersion;
    }
    this.isInitializing = this.areGroupsNew = false;
    const pieces = [text(`${head}"M":[`)];
    for (let number = from; number < to; number++) {
      const message = this.log.at(number);
      if (message.length === 0) continue;
      if (pieces.length > 1) pieces.push(comma);
      pieces.push(message);
    }
    pieces.push(envelopeTail);
    return pieces;
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

/** The latest messages of a connection by their numbers, which count up from 0. */
class MessageLog {
  /** Of all that are kept. */
  bytes = 0;
  private messages: Buffer[] = [];
  private head = 0;
  private dropped = 0;

  /** Number of the oldest message that is kept. */
  get first(): number {
    return this.dropped;
  }

  /** Number of the next message. */
  get next(): number {
    return this.dropped + this.count;
  }

  get count(): number {
    return this.messages.length - this.head;
  }

  push(message: Buffer): void {
    this.messages.push(message);
    this.bytes += message.length;
  }

  /** @param number of a message that is kept */
  at(number: number): Buffer {
    return this.messages[this.head + number - this.dropped]!;
  }

  /** @returns its size */
  dropOldest(): number {
    const size = this.messages[this.head]!.length;
    // Set free at once, and cut off when it is the larger part: constant cost per message.
    this.messages[this.head++] = empty;
    if (this.head * 2 > this.messages.length) {
      this.messages = this.messages.slice(this.head);
      this.head = 0;
    }
    this.dropped++;
    this.bytes -= size;
    return size;
  }
}

const empty = Buffer.alloc(0);

// Methods beside the bench contract, to try what only this protocol has: progress, state, and errors with data.

const mostSteps = 1000;

type Method = (caller: ClassicCaller, message: ClassicMessage, id: string) => boolean;

const asJson = (value: unknown): Buffer => text(JSON.stringify(value));

/** Reports 1 to n as progress, sets the state `counted`, and returns n. */
const countUp: Method = (caller, message, I) => {
  const n = message.argumentCount === 1 ? caller.protocol.integer(message.argument(0)) : undefined;
  if (n === undefined || n < 0 || n > mostSteps) return false;
  for (let D = 1; D <= n; D++) caller.connection.write(asJson({ I: `P|${I}`, P: { I, D } }));
  caller.write(asJson({ S: { counted: n }, R: n, I }));
  return true;
};

/** Throws a `HubException` with the text that it gets, and with data. */
const fail: Method = (caller, message, I) => {
  const argument = message.argumentCount === 1 ? message.argument(0) : undefined;
  const E = argument && caller.protocol.text(argument);
  if (E === undefined) return false;
  caller.write(asJson({ I, H: true, E, D: { method: 'Fail' } }));
  return true;
};

const methods: Readonly<Record<string, Method>> = { countup: countUp, fail };

/** @returns false for a method that is none of these, or another form of one */
export function ranClassicMethod(caller: ClassicCaller, message: ClassicMessage): boolean {
  const method = Object.hasOwn(methods, message.target.toLowerCase())
    ? methods[message.target.toLowerCase()]
    : undefined;
  return method?.(caller, message, message.invocationId ?? '') ?? false;
}
