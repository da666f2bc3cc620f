import { once } from 'node:events';
import { WebSocket } from 'ws';
import { startBenchHub, type BenchHub } from '../../../src/servers/hub/benchHub';

export const separator = '\x1e';
export const handshake = `{"protocol":"json","version":1}${separator}`;

/** A hub message as tests look at it. */
export interface Message {
  readonly type?: number;
  readonly target?: string;
  readonly arguments?: readonly unknown[];
  readonly invocationId?: string;
  readonly item?: unknown;
  readonly result?: unknown;
  readonly error?: string;
  readonly allowReconnect?: boolean;
}

/** A WebSocket that speaks the hub protocol by hand. */
export class RawClient {
  /** JSON texts of everything received and not yet taken, in order. */
  readonly texts: string[] = [];
  readonly closed: Promise<number>;
  /** Own id, from `OnConnected`. */
  id = '';
  private isClosed = false;
  private wake: () => void = () => undefined;

  constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      this.texts.push(...data.toString().split(separator).slice(0, -1));
      this.wake();
    });
    this.closed = new Promise((resolve) =>
      socket.once('close', (code) => {
        this.isClosed = true;
        this.wake();
        resolve(code);
      }),
    );
    socket.on('error', () => undefined);
  }

  /** Opens the WebSocket without a handshake. */
  static async open(url: string): Promise<RawClient> {
    const client = new RawClient(new WebSocket(url.replace('http', 'ws')));
    await once(client.socket, 'open');
    return client;
  }

  /** Opens, shakes hands, and takes `OnConnected`. */
  static async connect(url: string): Promise<RawClient> {
    const client = await RawClient.open(url);
    client.socket.send(handshake);
    await client.text();
    client.id = String((await client.message()).arguments?.[0]);
    return client;
  }

  /** The next JSON text. */
  async text(): Promise<string> {
    while (this.texts.length === 0) {
      if (this.isClosed) throw new Error('the connection closed, and no message is left');
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    return this.texts.shift() ?? '';
  }

  async message(): Promise<Message> {
    return JSON.parse(await this.text()) as Message;
  }

  sendJson(...messages: readonly object[]): void {
    this.socket.send(messages.map((message) => JSON.stringify(message) + separator).join(''));
  }

  /** An invocation that expects no completion. */
  send(target: string, ...args: readonly unknown[]): void {
    this.sendJson({ type: 1, target, arguments: args });
  }

  /** An invocation, and its completion; callbacks that arrive before it are dropped. */
  async invoke(target: string, ...args: readonly unknown[]): Promise<Message> {
    this.sendJson({ type: 1, invocationId: 'x', target, arguments: args });
    for (;;) {
      const message = await this.message();
      if (message.type === 3) return message;
    }
  }

  /** Everything received until the hub has answered one more call: proof that nothing else came. */
  async settle(): Promise<Message[]> {
    this.sendJson({ type: 1, invocationId: 'settle', target: 'GetConnectionId', arguments: [] });
    const seen: Message[] = [];
    for (;;) {
      const message = await this.message();
      if (message.invocationId === 'settle') return seen;
      seen.push(message);
    }
  }
}

/** Status of an upgrade that is refused. */
export async function upgradeStatus(url: string): Promise<number> {
  const socket = new WebSocket(url.replace('http', 'ws'));
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, StatusHolder];
  socket.terminate();
  return response.statusCode ?? 0;
}

interface StatusHolder {
  readonly statusCode?: number;
}

/** A hub, and a client of it. */
export async function hubAndClient(): Promise<{ hub: BenchHub; client: RawClient }> {
  const hub = await startBenchHub();
  return { hub, client: await RawClient.connect(hub.url) };
}
