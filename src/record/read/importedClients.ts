import { mostFrequent } from '../../base/collect';
import { trafficReaderFor } from '../proxy/traffic';
import { Recorder } from '../proxy/recorder';
import {
  recordingSchema,
  type Direction,
  type OpenEvent,
  type RecordedEvent,
  type RecordedKind,
  type Recording,
} from '../recording';

export interface ClientOpening {
  readonly url: string;
  /** Of the hub that sent the client to a service. */
  readonly hubUrl?: string | undefined;
  readonly transport: OpenEvent['transport'];
  readonly headers?: readonly string[];
  readonly token?: boolean;
  readonly cookies?: boolean;
  readonly subprotocol?: string;
  readonly kind: RecordedKind;
}

/** More says nothing new, and needs too much memory. */
export interface ImportBounds {
  readonly events: number;
  readonly bytes: number;
}

export const importBounds: ImportBounds = { events: 1_000_000, bytes: 256 * 1024 * 1024 };

/** SignalR sends pings every 15 s: after a day's silence the clock has jumped. */
export const longestSilenceMs = 86_400_000;

export interface ImportedClient {
  said(atMs: number, direction: Direction, payload: Buffer, isText: boolean): void;
  over(atMs: number): void;
}

/** Clients of HAR files and logs, recorded as by the proxy. */
export class ImportedClients {
  private readonly events: RecordedEvent[] = [];
  private readonly targets: string[] = [];
  private kind: RecordedKind | undefined;
  private nowUs = 0;
  private readonly recorder = new Recorder(
    (event) => {
      if (!this.isFull) this.events.push(event);
    },
    undefined,
    () => this.nowUs,
  );

  constructor(private readonly bounds = importBounds) {}

  get isFull(): boolean {
    const { bytes } = this.recorder;
    return this.events.length >= this.bounds.events || bytes.out + bytes.in >= this.bounds.bytes;
  }

  get isEmpty(): boolean {
    return this.targets.length === 0;
  }

  open(atMs: number, opening: ClientOpening): ImportedClient {
    const { url, hubUrl, kind, transport, headers = [], token, cookies } = opening;
    this.kind ??= kind;
    this.targets.push(targetOf(hubUrl ?? url));
    const setNow = (ms: number): unknown => (this.nowUs = Math.round(ms * 1000));
    setNow(atMs);
    const at = urlIn(url);
    const client = this.recorder.add(kind, {
      transport,
      path: at?.pathname ?? '/',
      query: [...new Set(at?.searchParams.keys())].slice(0, 100),
      ...(headers.length > 0 && { headers }),
      ...(token === true && { token }),
      ...(cookies === true && { cookies }),
    });
    const conversation = trafficReaderFor(kind, client, opening.subprotocol);
    let isOver = false;
    return {
      said: (ms, direction, payload, isText) => {
        if (isOver) return;
        setNow(ms);
        conversation.said(direction, payload, isText);
      },
      over: (ms) => {
        if (isOver) return;
        isOver = true;
        setNow(ms);
        conversation.over();
        client.closed();
      },
    };
  }

  recording(): Recording {
    const sorted = this.events.sort((a, b) => a.t - b.t);
    const startUs = sorted[0]?.t ?? 0;
    const [target = 'http://localhost/'] = mostFrequent(this.targets);
    const startedAt = new Date(startUs / 1000).toISOString();
    return {
      header: { schema: recordingSchema, target, kind: this.kind ?? 'signalr', startedAt },
      events: sorted.map((event) => ({ ...event, t: event.t - startUs })),
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

export const isServiceUrl = (url: string): boolean =>
  /^\/client\/?$/.test(urlIn(url)?.pathname ?? '');

export const isPubSubUrl = (url: string): boolean => /\/clients?\/hubs\//.test(url);
