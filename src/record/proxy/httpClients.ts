import type { IncomingMessage } from 'node:http';
import { ConnectFailure } from '../../wire/connectFailure';
import { EventReader } from '../../wire/http/httpInput';
import { PendingBytes } from '../../wire/socket/frameReader';
import type { Direction, RecordedTransport } from '../recording';
import { HubTraffic, maximumMessageBytes } from './traffic';
import type { RecordedClient, Recorder } from './recorder';

export interface RequestTap {
  sent?(chunk: Buffer): void;
  allSent?(): void;
  answered?(answer: IncomingMessage): void;
  received?(chunk: Buffer): void;
  ended?(): void;
  /** The client did not wait for the end of the answer. */
  abandoned?(): void;
}

const maximumExpected = 10_000;
/** A polling client asks again at once: after this silence it has left. */
const silenceMs = 20_000;
const sweepMs = 5000;

interface HttpClient {
  readonly id: string;
  readonly transport: Exclude<RecordedTransport, 'WebSockets'>;
  readonly recorded: RecordedClient;
  readonly conversation: HubTraffic;
  open: number;
  lastMs: number;
}

/**
 * Clients over server-sent events or long polling, by connection id. Source: SignalR's transport protocols, "Server-Sent
 * Events" and "Long Polling".
 */
export class HttpClients {
  private readonly expected = new Set<string>();
  private readonly clients = new Map<string, HttpClient>();
  private readonly timer = setInterval(() => this.sweep(performance.now()), sweepMs);

  constructor(private readonly recorder: Recorder) {
    this.timer.unref();
  }

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
        return { ended: () => this.gone(client) };
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
    const conversation = new HubTraffic(recorded);
    const client = { id, transport, recorded, conversation, open: 0, lastMs: 0 } as HttpClient;
    this.clients.set(id, client);
    return client;
  }

  private sending(client: HttpClient): RequestTap {
    const body = new BoundedBody(client.conversation, 'out');
    return { sent: (chunk) => body.add(chunk), allSent: () => body.end() };
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
        received: (chunk) => events.add(chunk),
        ended: () => this.gone(client),
        abandoned: () => this.gone(client),
      };
    }
    const body = new BoundedBody(client.conversation, 'in');
    let hasEnded = false;
    return {
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

class BoundedBody {
  private readonly bytes = new PendingBytes();
  private length = 0;

  constructor(
    private readonly conversation: HubTraffic,
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

const maximumEventBytes = 16 * 1024 * 1024;

class EventStream {
  private reader = new EventReader(maximumEventBytes);

  constructor(private readonly conversation: HubTraffic) {}

  add(chunk: Buffer): void {
    try {
      this.reader.read(chunk, 0, chunk.length, (buffer, start, end) =>
        end - start > maximumMessageBytes
          ? this.conversation.tooLong('in', end - start)
          : this.conversation.said('in', buffer.subarray(start, end)),
      );
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
      this.conversation.tooLong('in', maximumEventBytes);
      // The rest of the event begins no data line, and is ignored.
      this.reader = new EventReader(maximumEventBytes);
    }
  }
}
