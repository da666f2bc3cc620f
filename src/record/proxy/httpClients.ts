import type { IncomingMessage } from 'node:http';
import { ByteRest } from '../../wire/socket/frameReader';
import type { Direction, RecordedTransport } from '../recording';
import { HubConversation } from './conversation';
import { maximumMessageBytes } from './frameTap';
import type { RecordedClient, Recorder } from './recorder';

/** Reads aside one request of a client and its answer. */
export interface RequestTap {
  sent(chunk: Buffer): void;
  allSent(): void;
  answered(answer: IncomingMessage): void;
  received(chunk: Buffer): void;
  ended(): void;
  /** The client did not wait for the end of the answer. */
  abandoned(): void;
}

/** Connection ids that were given out and not used yet. */
const maximumExpected = 10_000;
/** A client that polls asks again at once; one that has not for so long is gone. */
const silenceMs = 20_000;
const sweepMs = 5000;

interface HttpClient {
  readonly id: string;
  readonly transport: Exclude<RecordedTransport, 'WebSockets'>;
  readonly recorded: RecordedClient;
  readonly conversation: HubConversation;
  /** Requests that wait for their answer. */
  open: number;
  lastMs: number;
}

/**
 * Clients that speak over HTTP alone, by the id that negotiate gave them: with server-sent events, or by
 * polling. Source: SignalR's transport protocols, "Server-Sent Events" and "Long Polling".
 */
export class HttpClients {
  private readonly expected = new Set<string>();
  private readonly clients = new Map<string, HttpClient>();
  private readonly timer = setInterval(() => this.sweep(performance.now()), sweepMs);

  constructor(private readonly recorder: Recorder) {
    this.timer.unref();
  }

  /** The id was given to a client. */
  expect(id: string): void {
    this.expected.add(id);
    if (this.expected.size <= maximumExpected) return;
    const [oldest] = this.expected;
    this.expected.delete(oldest!);
  }

  /** Undefined for a request that is none of a transport. */
  tapOf(request: IncomingMessage, url: URL): RequestTap | undefined {
    const id = url.searchParams.get('id');
    if (id === null) return undefined;
    let client = this.clients.get(id);
    if (client === undefined) {
      if (request.method !== 'GET' || !this.expected.delete(id)) return undefined;
      client = this.add(id, request, url);
    }
    client.lastMs = performance.now();
    switch (request.method) {
      case 'POST':
        return this.sending(client);
      case 'GET':
        return this.listening(client);
      case 'DELETE':
        return { ...idle, ended: () => this.gone(client) };
      default:
        return undefined;
    }
  }

  dispose(): void {
    clearInterval(this.timer);
    for (const client of [...this.clients.values()]) this.gone(client);
  }

  private add(id: string, request: IncomingMessage, url: URL): HttpClient {
    const accepts = request.headers.accept ?? '';
    const transport = accepts.includes('text/event-stream') ? 'ServerSentEvents' : 'LongPolling';
    const recorded = this.recorder.client(request, url, transport, 'signalr');
    const conversation = new HubConversation(recorded);
    const client = { id, transport, recorded, conversation, open: 0, lastMs: 0 } as const;
    const added: HttpClient = { ...client };
    this.clients.set(id, added);
    return added;
  }

  private sending(client: HttpClient): RequestTap {
    const body = new BoundedBody(client.conversation, 'out');
    return { ...idle, sent: (chunk) => body.add(chunk), allSent: () => body.end() };
  }

  private listening(client: HttpClient): RequestTap {
    client.open += 1;
    const over = (): void => {
      client.open -= 1;
      client.lastMs = performance.now();
    };
    if (client.transport === 'ServerSentEvents') {
      const events = new EventStream(client.conversation);
      return {
        ...idle,
        received: (chunk) => events.add(chunk),
        ended: () => this.gone(client),
        abandoned: () => this.gone(client),
      };
    }
    const body = new BoundedBody(client.conversation, 'in');
    let hasEnded = false;
    return {
      ...idle,
      // The server has ended the connection.
      answered: ({ statusCode }) => (hasEnded = statusCode === 204 || statusCode === 404),
      received: (chunk) => body.add(chunk),
      ended: () => {
        over();
        body.end();
        if (hasEnded) this.gone(client);
      },
      abandoned: over,
    };
  }

  private gone(client: HttpClient): void {
    if (!this.clients.delete(client.id)) return;
    client.conversation.over();
    client.recorded.closed();
  }

  private sweep(nowMs: number): void {
    for (const client of [...this.clients.values()])
      if (client.open === 0 && nowMs - client.lastMs > silenceMs) this.gone(client);
  }
}

const idle: RequestTap = {
  sent: () => undefined,
  allSent: () => undefined,
  answered: () => undefined,
  received: () => undefined,
  ended: () => undefined,
  abandoned: () => undefined,
};

/** A body with whole messages, if it is not too long to be kept. */
class BoundedBody {
  private readonly bytes = new ByteRest();
  private length = 0;

  constructor(
    private readonly conversation: HubConversation,
    private readonly direction: Direction,
  ) {}

  add(chunk: Buffer): void {
    this.length += chunk.length;
    if (this.length <= maximumMessageBytes) this.bytes.append(chunk);
    else this.bytes.take();
  }

  end(): void {
    if (this.length > maximumMessageBytes) this.conversation.tooLong(this.direction, this.length);
    else if (this.length > 0) this.conversation.said(this.direction, this.bytes.take());
  }
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const dataField = Buffer.from('data:');

/** Server-sent events (HTML, "Interpreting an event stream"): a hub puts whole messages into their data. */
class EventStream {
  private readonly line = new ByteRest();
  private lineBytes = 0;
  private data: Buffer[] = [];
  private dataBytes = 0;

  constructor(private readonly conversation: Pick<HubConversation, 'said' | 'tooLong'>) {}

  add(chunk: Buffer): void {
    let at = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, at)) {
      this.keep(chunk, at, end);
      at = end + 1;
      this.endLine();
    }
    this.keep(chunk, at, chunk.length);
  }

  private keep(chunk: Buffer, start: number, end: number): void {
    this.lineBytes += end - start;
    if (this.lineBytes <= maximumMessageBytes) this.line.append(chunk, start, end);
    else this.line.take();
  }

  private endLine(): void {
    const { lineBytes } = this;
    const whole = this.line.take();
    this.lineBytes = 0;
    if (lineBytes > maximumMessageBytes) {
      this.dataBytes += lineBytes;
      return;
    }
    const line = whole.at(-1) === carriageReturn ? whole.subarray(0, -1) : whole;
    if (line.length === 0) {
      this.dispatch();
    } else if (line.subarray(0, dataField.length).equals(dataField)) {
      const start = line[dataField.length] === 0x20 ? dataField.length + 1 : dataField.length;
      this.dataBytes += line.length - start;
      if (this.dataBytes <= maximumMessageBytes) this.data.push(Buffer.from(line.subarray(start)));
    }
  }

  private dispatch(): void {
    const { data, dataBytes } = this;
    this.data = [];
    this.dataBytes = 0;
    if (dataBytes > maximumMessageBytes) this.conversation.tooLong('in', dataBytes);
    else if (data.length > 0)
      this.conversation.said(
        'in',
        Buffer.concat(
          data.flatMap((piece, at) => (at === 0 ? [piece] : [Buffer.from('\n'), piece])),
        ),
      );
  }
}
