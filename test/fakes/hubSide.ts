import type { ErrorClass } from '../../src/base/errorClass';
import { ConnectFailure } from '../../src/wire/connectFailure';
import type { OpenConnection } from '../../src/wire/connect/connectHub';
import { jsonCodec, type HubCodec } from '../../src/wire/message/hubCodec';
import type { HubConnection, HubListener, Opening } from '../../src/wire/hub/clientConnection';
import type { HubMessage, Invocation } from '../../src/wire/message/hubMessage';
import { onlyClientFrame } from './frames';

/** A connection that hands what it sends to a hub of the test, and the hub's messages to its listener. */
export class HubSideConnection implements HubConnection {
  lastReceivedUs = 0;
  closeReason: string | undefined;
  mayReconnect = true;
  isOpen = true;
  hasOwnKeepAlive = false;
  readonly sent: HubMessage[] = [];
  /** How its end came about, where it is over. */
  over: 'closed' | 'destroyed' | 'dropped' | undefined;

  constructor(
    readonly index: number,
    private readonly listener: HubListener,
    private readonly hub: HubSide,
    readonly connectionId: string | undefined = `id-${index}`,
    readonly codec: HubCodec = jsonCodec,
  ) {}

  get stopped(): boolean {
    return !this.isOpen;
  }

  send(frame: Buffer): boolean {
    this.take(onlyClientFrame(frame).payload);
    return true;
  }

  sendMessage(message: HubMessage): number {
    const bytes = this.codec.encode(message);
    if (this.isOpen) this.take(bytes);
    return bytes.length;
  }

  close(): void {
    this.end('closed');
  }

  destroy(): void {
    this.over = 'destroyed';
    this.isOpen = false;
  }

  closedByServer(said: string, mayReturn: boolean): void {
    this.mayReconnect = mayReturn;
    this.drop('closed', said);
  }

  drop(errorClass: ErrorClass, text: string): void {
    if (!this.isOpen) return;
    this.end('dropped');
    this.listener.lost(this, errorClass, text);
  }

  /** The hub sends this. */
  gets(...messages: readonly HubMessage[]): void {
    if (!this.isOpen) return;
    const bytes = Buffer.concat(messages.map((message) => this.codec.encode(message)));
    this.listener.received(this, bytes, 0, bytes.length, bytes.length + 2);
  }

  /** Its socket is lost, and comes back. */
  interrupt(): void {
    this.listener.interrupted!(this, 'closed', 'the socket was lost');
  }
  recover(tookMs: number): void {
    this.listener.recovered!(this, tookMs);
  }

  /** Pings that were sent. */
  get pings(): number {
    return this.sent.filter(({ type }) => type === 6).length;
  }

  private take(bytes: Buffer): void {
    const span = { start: 0, end: 0, next: 0 };
    this.codec.find(bytes, 0, bytes.length, span);
    const message = this.codec.read(bytes, span.start, span.end)!;
    this.sent.push(message);
    this.hub.onMessage(this, message);
  }

  private end(how: 'closed' | 'dropped'): void {
    this.over ??= how;
    this.isOpen = false;
  }
}

/** The other side of a worker's connections, as a test wants it. */
export class HubSide {
  readonly connections: HubSideConnection[] = [];
  /** Each opening, in order. */
  readonly opened: HubSideConnection[] = [];
  context: Opening | undefined;
  /** Why a connection is not let in; undefined lets it in. */
  refuses: (index: number) => ConnectFailure | undefined = () => undefined;
  /** Time of an opening and of an answer. */
  delayMs = 0;
  /** What it does with a message that it gets. */
  onMessage: (connection: HubSideConnection, message: HubMessage) => void = (...message) =>
    this.answer(...message);

  readonly open: OpenConnection = async (_url, opening) => {
    const { index, signal } = opening;
    this.context = opening;
    await new Promise<void>((resolve, reject) => {
      const settle = (): void => {
        const failure = this.refuses(index);
        if (failure === undefined) resolve();
        else reject(failure);
      };
      setTimeout(settle, this.delayMs);
      signal.addEventListener('abort', () => reject(new ConnectFailure('timeout', 'given up')));
    });
    const { codec } = opening.options;
    const connection = new HubSideConnection(index, opening.listener, this, undefined, codec);
    this.connections[index] = connection;
    this.opened.push(connection);
    return connection;
  };

  /** As a hub of the bench contract: echoes, and completes what asks for it. */
  answer(connection: HubSideConnection, message: HubMessage): void {
    if (message.type !== 1) return;
    const { invocationId } = message as Invocation & { invocationId?: string };
    const answers: HubMessage[] = [];
    if (message.target === 'Echo')
      answers.push({ type: 1, target: 'RecordLatency', arguments: message.arguments });
    if (invocationId !== undefined) answers.push({ type: 3, invocationId, result: null });
    if (this.delayMs === 0) connection.gets(...answers);
    else setTimeout(() => connection.gets(...answers), this.delayMs);
  }
}
