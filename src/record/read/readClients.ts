import { PubSubConversation, HubConversation, type Conversation } from '../proxy/conversation';
import {
  recordingSchema,
  type Direction,
  type OpenEvent,
  type RecordedEvent,
  type RecordedKind,
  type RecordedMessage,
  type Recording,
} from '../recording';

/** What is known of a connection before its first message. */
export interface ReadOpening {
  /** URL that the client connected to. */
  readonly url: string;
  /** Of the hub, where a service was connected to in its place. */
  readonly hubUrl?: string | undefined;
  readonly transport: OpenEvent['transport'];
  /** Names of headers of the application's own. */
  readonly headers?: readonly string[];
  readonly token?: boolean;
  readonly cookies?: boolean;
  /** Subprotocol of Web PubSub that was agreed. */
  readonly subprotocol?: string;
  readonly kind: RecordedKind;
}

/** More is not read: beyond it nothing new is said, and memory ends. */
export interface ReadBounds {
  readonly events: number;
  /** Of their messages. */
  readonly bytes: number;
}

export const readBounds: ReadBounds = { events: 1_000_000, bytes: 256 * 1024 * 1024 };

/** SignalR sends pings each 15 s; whoever says nothing for a day has a clock that jumped. */
export const longestSilenceMs = 86_400_000;

/** Clients of a file that was made elsewhere, as a recording of ours would have them. */
export class ReadClients {
  private readonly events: { readonly atMs: number; readonly event: RecordedEvent }[] = [];
  private readonly targets = new Map<string, number>();
  private bytes = 0;
  private clients = 0;
  private kind: RecordedKind | undefined;

  constructor(private readonly bounds = readBounds) {}

  /** Whether so much was read that the rest is left out. */
  get isFull(): boolean {
    return this.events.length >= this.bounds.events || this.bytes >= this.bounds.bytes;
  }

  get isEmpty(): boolean {
    return this.clients === 0;
  }

  open(atMs: number, opening: ReadOpening): ReadClient {
    const client = ++this.clients;
    this.kind ??= opening.kind;
    const target = targetOf(opening.hubUrl ?? opening.url);
    this.targets.set(target, (this.targets.get(target) ?? 0) + 1);
    return new ReadClient(client, opening, atMs, (time, event) => {
      this.bytes += 'bytes' in event ? event.bytes : 0;
      if (!this.isFull) this.events.push({ atMs: time, event });
    });
  }

  /** In the order of their times. Times in files are of one clock, but lines of several clients are not in order. */
  recording(): Recording {
    const sorted = this.events.sort((a, b) => a.atMs - b.atMs);
    const startMs = sorted[0]?.atMs ?? 0;
    const [target] = [...this.targets].sort(([, a], [, b]) => b - a)[0] ?? ['http://localhost/'];
    return {
      header: {
        ...{ schema: recordingSchema, target, kind: this.kind ?? 'signalr' },
        startedAt: new Date(startMs).toISOString(),
      },
      events: sorted.map(({ atMs, event }) => ({
        ...event,
        t: Math.max(0, Math.round((atMs - startMs) * 1000)),
      })),
    };
  }
}

export class ReadClient {
  private readonly conversation: Conversation;
  private nowMs: number;
  private isOver = false;

  constructor(
    private readonly client: number,
    private readonly opening: ReadOpening,
    atMs: number,
    private readonly add: (atMs: number, event: RecordedEvent) => void,
  ) {
    this.nowMs = atMs;
    const listener = {
      opened: (protocol: string) => this.event({ ...this.openEvent(protocol) }),
      message: (ev: Direction, m: RecordedMessage, bytes: number) =>
        this.event({ t: 0, client: this.client, ev, m, bytes }),
      raw: (ev: Direction, raw: number, why: string) =>
        this.event({ t: 0, client: this.client, ev, raw, why }),
      ending: () => undefined,
    };
    this.conversation =
      opening.kind === 'signalr'
        ? new HubConversation(listener)
        : new PubSubConversation(listener, opening.subprotocol);
  }

  said(atMs: number, direction: Direction, payload: Buffer, isText: boolean): void {
    if (this.isOver) return;
    this.nowMs = atMs;
    this.conversation.said(direction, payload, isText);
  }

  over(atMs: number): void {
    if (this.isOver) return;
    this.isOver = true;
    this.nowMs = atMs;
    this.conversation.over();
    this.event({ t: 0, client: this.client, ev: 'close' });
  }

  private event(event: RecordedEvent): void {
    this.add(this.nowMs, event);
  }

  private openEvent(protocol: string): RecordedEvent {
    const { url, transport, headers = [], token, cookies } = this.opening;
    const at = urlIn(url);
    return {
      ...{ t: 0, client: this.client, ev: 'open', transport, protocol },
      path: at?.pathname ?? '/',
      query: [...new Set(at?.searchParams.keys())].slice(0, 100),
      ...(headers.length > 0 && { headers }),
      ...(token === true && { token }),
      ...(cookies === true && { cookies }),
    };
  }
}

/** Without user, query and fragment, by HTTP. */
function targetOf(url: string): string {
  const at = urlIn(url);
  if (at === undefined) return 'http://localhost/';
  return `${at.protocol.replace(/^ws/, 'http')}//${at.host}${at.pathname}`;
}

function urlIn(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** Hubs send clients of Azure SignalR Service there. */
export const isServiceUrl = (url: string): boolean =>
  /^\/client\/?$/.test(urlIn(url)?.pathname ?? '');

/** Clients of Azure Web PubSub connect there. */
export const isPubSubUrl = (url: string): boolean => /\/clients?\/hubs\//.test(url);
