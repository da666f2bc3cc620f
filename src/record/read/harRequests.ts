import type { Direction, RecordedTransport } from '../recording';
import { isServiceUrl, longestSilenceMs, type ImportedClients } from './importedClients';

/** A request with an id that negotiate gives out, and what was said with it. */
export interface HarExchange {
  readonly url: string;
  readonly method: string;
  readonly startedMs: number;
  readonly endMs: number;
  readonly posted: Buffer;
  readonly answered: Buffer;
  /** An answer that the file has no text of. */
  readonly isCut: boolean;
  /** Of server-sent events, undefined for other requests. */
  readonly events?: readonly HarEvent[] | undefined;
  readonly headers: readonly string[];
  readonly token: boolean;
  readonly cookies: boolean;
}

/** As Chrome and Edge write it; the time is seconds since 1970. */
export interface HarEvent {
  readonly time: number;
  /** Absent in files without sensitive data. */
  readonly data?: string;
}

interface HttpClient {
  readonly said: { readonly atMs: number; readonly direction: Direction; readonly bytes: Buffer }[];
  readonly first: HarExchange;
  readonly hubUrl: string | undefined;
  transport: RecordedTransport;
  headers: readonly string[];
  token: boolean;
  cookies: boolean;
  overMs?: number;
  /** What it heard is not in the file. */
  isDeaf?: boolean;
}

/**
 * Clients that speak over HTTP alone: what they say is posted, what they hear is an event or the answer to a poll.
 * Source: SignalR's transport protocols, "Server-Sent Events" and "Long Polling".
 */
export class HarHttpClients {
  bytes = 0;
  messages = 0;
  /** Clients that are left out, since the file does not have what they heard. */
  deaf = 0;
  cutAnswers = 0;
  private readonly clients = new Map<string, HttpClient>();
  /** Of the hubs that were asked for a connection. */
  private readonly hubs = new Set<string>();

  get isEmpty(): boolean {
    return this.clients.size === 0;
  }

  negotiated(url: string): void {
    this.hubs.add(withoutQuery(url));
  }

  /** @param hubUrl of the latest negotiation */
  add(exchange: HarExchange, hubUrl: string | undefined): void {
    const { url, startedMs, endMs } = exchange;
    // No time, or none that there is a date for.
    if (!Number.isFinite(startedMs) || Number.isNaN(new Date(endMs).getTime())) return;
    const isService = isServiceUrl(url);
    const id = /[?&]id=([^&]+)/.exec(url)?.[1];
    if (id === undefined || !(isService || this.hubs.has(withoutQuery(url)))) return;
    let client = this.clients.get(id);
    if (client === undefined) {
      client = {
        ...{ said: [], first: exchange, hubUrl: isService ? hubUrl : undefined },
        ...{ transport: 'LongPolling', headers: [], token: false, cookies: false },
      };
      this.clients.set(id, client);
    }
    client.headers = [...new Set([...client.headers, ...exchange.headers])];
    client.token ||= exchange.token || /[?&]access_token=/.test(url);
    client.cookies ||= exchange.cookies;
    this.hear(client, exchange);
  }

  /** Once all requests were read: they stand in the order in which they began. */
  finish(clients: ImportedClients): void {
    for (const client of this.clients.values()) {
      // Its handshake is posted first.
      if (!client.said.some(({ direction }) => direction === 'out')) continue;
      if (client.isDeaf === true) this.deaf += 1;
      else replay(client, clients);
    }
    this.clients.clear();
  }

  private hear(client: HttpClient, exchange: HarExchange): void {
    const { method, startedMs, endMs, events, posted, answered } = exchange;
    const keep = (atMs: number, direction: Direction, bytes: Buffer): void => {
      if (bytes.length === 0) return;
      client.said.push({ atMs, direction, bytes });
      this.bytes += bytes.length;
      this.messages += 1;
    };
    if (method === 'POST') keep(startedMs, 'out', posted);
    else if (method === 'DELETE') client.overMs = startedMs;
    else if (events !== undefined) {
      client.transport = 'ServerSentEvents';
      client.overMs = endMs;
      client.isDeaf ||= events.some(({ data }) => data === undefined);
      let lastMs = startedMs;
      for (const { time, data = '' } of events) {
        if (Math.abs(time * 1000 - lastMs) < longestSilenceMs) lastMs = time * 1000;
        keep(lastMs, 'in', Buffer.from(data));
      }
    } else {
      if (exchange.isCut) this.cutAnswers += 1;
      keep(endMs, 'in', answered);
    }
  }
}

function replay({ first, said, ...client }: HttpClient, clients: ImportedClients): void {
  said.sort((a, b) => a.atMs - b.atMs);
  const { hubUrl, transport, headers, token, cookies, overMs } = client;
  const opened = clients.open(first.startedMs, {
    ...{ url: first.url, hubUrl, transport, kind: 'signalr', headers, token, cookies },
  });
  for (const { atMs, direction, bytes } of said) opened.said(atMs, direction, bytes, true);
  if (overMs !== undefined) opened.over(Math.max(overMs, said.at(-1)!.atMs));
}

const withoutQuery = (url: string): string => url.split('?', 1)[0]!;
