import { createReadStream } from 'node:fs';
import { JSONParser } from '@streamparser/json';
import { ExpectedError } from '../../base/expectedError';
import { plural, formatBytes } from '../../base/units';
import { parseObject } from '../../wire/message/jsonScan';
import {
  ownHeaders,
  type OpenedRecording,
  type Direction,
  type RecordedTransport,
} from '../recording';
import {
  isPubSubUrl,
  isServiceUrl,
  longestSilenceMs,
  importBounds,
  ImportedClients,
  type ImportBounds,
} from './importedClients';

/** The members of an entry that are read; the URL comes late. */
interface Entry {
  frames: Frame[];
  frameBytes: number;
  url?: string;
  startedMs?: number;
  lastsMs?: number;
  token: boolean;
  cookies: boolean;
  headers: string[];
  subprotocol?: string;
  method?: string;
  posted?: string;
  postedType?: string;
  answered?: string;
  answeredBytes?: number;
  encoding?: string;
  events?: HarEvent[];
}

/** As Chrome and Edge write it; `time` is seconds since 1970. */
interface Frame {
  readonly type: string;
  readonly time: number;
  readonly opcode: number;
  readonly data: string;
}

const paths = [
  '_webSocketMessages.*',
  '_eventSourceMessages.*',
  'request.method',
  'request.url',
  'request.headers.*',
  'request.postData.mimeType',
  'request.postData.text',
  'response.headers.*',
  'response.content.size',
  'response.content.text',
  'response.content.encoding',
  'startedDateTime',
  'time',
];

/** Reads HAR files of Chrome and Edge piece by piece. @throws ExpectedError `import-file` */
export async function readHarFile(file: string, bounds = importBounds): Promise<OpenedRecording> {
  const reader = new HarReader(bounds);
  const notes: string[] = [];
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 })) {
      bytes += (chunk as Buffer).length;
      reader.write(chunk as Buffer);
      if (reader.isFull) {
        notes.push(
          `Only the first ${formatBytes(bytes)} were read: that many messages are analysed at most.`,
        );
        break;
      }
    }
    if (!reader.isFull && !reader.isWhole)
      notes.push(
        `The file ends in the middle, after ${formatBytes(bytes)}; what stands before was read.`,
      );
  } catch (cause) {
    if (cause instanceof ExpectedError) throw cause;
    // What was read before the damage is used.
    if (!reader.hasFrames) throw notHar(file, 'it is not JSON text', cause);
    notes.push(
      `The file is damaged within its first ${formatBytes(bytes)}; what stands before was read.`,
    );
  }
  reader.finish();
  if (!reader.isHar && !reader.hasFrames) throw notHar(file, 'it has no requests');
  if (reader.clients.isEmpty && !reader.hasFrames && !reader.isWhole)
    throw new ExpectedError(
      'import-file',
      `${file} ends in the middle, after ${formatBytes(bytes)}: no frame of a web socket stands before. Save it once more.`,
    );
  if (reader.clients.isEmpty) throw withoutFrames(file, reader);
  return { ...reader.clients.recording(), notes: () => [...notes, ...reader.notes()] };
}

const notHar = (file: string, why: string, cause?: unknown): ExpectedError =>
  new ExpectedError('import-file', `${file} is not a HAR file: ${why}.`, { cause });

function withoutFrames(file: string, reader: HarReader): ExpectedError {
  const [why] = reader.notesOfHttp();
  if (why !== undefined) return new ExpectedError('import-file', `${file}: ${why}`);
  const { entries, otherSockets } = reader;
  const requests =
    entries === 0
      ? 'no requests'
      : `${plural(entries, 'request')}, but no frames of web sockets, and no messages over HTTP`;
  const seen =
    otherSockets > 0
      ? `${plural(otherSockets, 'web socket')}, but none of SignalR or Web PubSub`
      : requests;
  return new ExpectedError(
    'import-file',
    `${file} has ${seen}. Save it with the developer tools of Chrome or Edge (Network, "Export HAR"), opened before the page connects; Firefox and Safari leave frames out.`,
  );
}

const noteOf = (count: number, what: string, words: (counted: string) => string): string[] =>
  count === 0 ? [] : [words(plural(count, what))];

class HarReader {
  readonly clients: ImportedClients;
  entries = 0;
  otherSockets = 0;
  otherClocks = 0;
  wrongTimes = 0;
  isHar = false;
  isWhole = false;
  private readonly http = new HarHttpClients();
  private entry: Entry = newEntry();
  /** For entries that are cut before their URL. */
  private negotiated: string | undefined;
  /** Browsers send headers of the application with negotiate alone. */
  private negotiatedWith: readonly string[] = [];
  private readonly parser = new JSONParser({
    paths: ['$.log.version', '$.log.entries.*', ...paths.map((path) => `$.log.entries.*.${path}`)],
    keepStack: false,
    stringBufferSize: 64 * 1024,
    numberBufferSize: 64,
  });

  constructor(private readonly bounds: ImportBounds) {
    this.clients = new ImportedClients(bounds);
    this.parser.onValue = ({ value, key, stack, partial }) => {
      if (partial !== true)
        this.value(
          value,
          String(key),
          stack.map((one) => String(one.key)),
        );
    };
    this.parser.onEnd = () => {
      this.isWhole = true;
    };
  }

  get isFull(): boolean {
    // Messages of a socket are kept until its entry ends.
    const { entry, bounds, http } = this;
    return (
      this.clients.isFull ||
      entry.frames.length + http.messages >= bounds.events ||
      entry.frameBytes + http.bytes >= bounds.bytes
    );
  }

  get hasFrames(): boolean {
    return !this.clients.isEmpty || this.entry.frames.length > 0 || !this.http.isEmpty;
  }

  write(chunk: Buffer): void {
    if (!this.isWhole) this.parser.write(chunk);
  }

  finish(): void {
    if (this.entry.frames.length > 0) this.endOfEntry();
    this.http.finish(this.clients);
  }

  notes(): string[] {
    return [
      ...noteOf(
        this.otherSockets,
        'web socket',
        (sockets) => `${sockets} of neither SignalR nor Web PubSub: left out.`,
      ),
      ...noteOf(
        this.otherClocks,
        'web socket',
        (sockets) =>
          `The times of ${sockets} and of what was said on it are more than a day apart: the times of what was said are taken.`,
      ),
      ...noteOf(
        this.wrongTimes,
        'message',
        (messages) =>
          `${messages} came more than a day before or after the one before: taken for sent at the same time.`,
      ),
      ...this.notesOfHttp(),
    ];
  }

  notesOfHttp(): string[] {
    return [
      ...noteOf(
        this.http.deaf,
        'client',
        (clients) =>
          `The events of ${clients} with server-sent events are without their text: left out. Allow "HAR with sensitive data" in the settings of the developer tools, and export with it.`,
      ),
      ...noteOf(
        this.http.cutAnswers,
        'answer',
        (answers) => `${answers} to polls have no content in the file: left out.`,
      ),
    ];
  }

  private value(value: unknown, key: string, stack: readonly string[]): void {
    this.isHar = true;
    // Stack: root, log, entries, index of the entry, and below.
    const [member, inner] = [stack[4], stack[5]];
    const { entry } = this;
    if (member === undefined) {
      if (stack.length === 3) this.endOfEntry();
      else if (key === 'startedDateTime') entry.startedMs = Date.parse(String(value));
      else if (key === 'time' && typeof value === 'number') entry.lastsMs = value;
    } else if (member === '_webSocketMessages') {
      if (!isFrame(value)) return;
      entry.frames.push(value);
      entry.frameBytes += value.data.length;
    } else if (member === '_eventSourceMessages') {
      if (!isEvent(value)) return;
      (entry.events ??= []).push(value);
      entry.frameBytes += value.data?.length ?? 0;
    } else if (inner === 'headers') noteHeader(entry, value, member === 'request');
    else noteExchange(entry, inner, key, value);
  }

  private endOfEntry(): void {
    const { entry } = this;
    this.entry = newEntry();
    this.entries += 1;
    const { url } = entry;
    if (url !== undefined && /\/negotiate(?:\?|$)/.test(url) && !/\/client\/negotiate/.test(url)) {
      this.negotiated = url.replace(/\/negotiate(?=\?|$)/, '');
      this.negotiatedWith = entry.headers;
      this.http.negotiated(this.negotiated);
    }
    if (entry.frames.length > 0) this.addClient(entry);
    else if (url !== undefined) this.http.add(exchangeOf(entry, url), this.negotiated);
  }

  private addClient({ frames, startedMs, lastsMs, token, cookies, ...entry }: Entry): void {
    const headers = ownHeaders([...entry.headers, ...this.negotiatedWith]);
    const url = entry.url ?? this.negotiated ?? '';
    const isPubSub = isPubSubUrl(url);
    const first = frames.find(({ type }) => type === 'send');
    if (!isPubSub && !isHandshake(first)) {
      this.otherSockets += 1;
      return;
    }
    const firstMs = frames[0]!.time * 1000;
    const isOneClock = startedMs !== undefined && Math.abs(firstMs - startedMs) < longestSilenceMs;
    if (!isOneClock && startedMs !== undefined) this.otherClocks += 1;
    const client = this.clients.open(isOneClock ? startedMs : firstMs, {
      ...{ url, transport: 'WebSockets', kind: isPubSub ? 'webpubsub' : 'signalr', token, cookies },
      headers,
      ...(isServiceUrl(url) && { hubUrl: this.negotiated }),
      ...(entry.subprotocol !== undefined && { subprotocol: entry.subprotocol }),
    });
    let lastMs = firstMs;
    for (const { type, time, opcode, data } of frames) {
      if (Math.abs(time * 1000 - lastMs) < longestSilenceMs) lastMs = time * 1000;
      else this.wrongTimes += 1;
      const isText = opcode === opcodes.text;
      if (!isText && opcode !== opcodes.binary) continue;
      const payload = Buffer.from(data, isText ? 'utf8' : 'base64');
      client.said(lastMs, type === 'send' ? 'out' : 'in', payload, isText);
    }
    const overMs = (startedMs ?? Number.NaN) + (lastsMs ?? Number.NaN);
    // Times of entries have whole milliseconds, those of frames have more.
    if (isOneClock && overMs > lastMs - 1 && overMs - lastMs < longestSilenceMs)
      client.over(Math.max(overMs, lastMs));
  }
}

const opcodes = { text: 1, binary: 2 };

const newEntry = (): Entry => ({
  ...{ frames: [], frameBytes: 0, token: false, cookies: false, headers: [] },
});

function isFrame(value: unknown): value is Frame {
  if (typeof value !== 'object' || value === null) return false;
  const { type, time, opcode, data } = value as Partial<Record<keyof Frame, unknown>>;
  const hasKind = (type === 'send' || type === 'receive') && typeof opcode === 'number';
  return hasKind && Number.isFinite(time) && typeof data === 'string';
}

function isEvent(value: unknown): value is HarEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { time, data } = value as Partial<Record<keyof HarEvent, unknown>>;
  return Number.isFinite(time) && (data === undefined || typeof data === 'string');
}

function isHandshake(frame: Frame | undefined): boolean {
  if (frame === undefined) return false;
  const text =
    frame.opcode === opcodes.binary
      ? Buffer.from(frame.data, 'base64').toString('utf8')
      : frame.data;
  const end = text.indexOf('\u001e');
  const fields = end < 0 || end > 4096 ? undefined : parseObject(text.slice(0, end));
  return typeof fields?.['protocol'] === 'string' && fields['type'] === undefined;
}

function noteExchange(entry: Entry, inner: string | undefined, key: string, value: unknown): void {
  if (inner === 'content' && key === 'size') entry.answeredBytes = Number(value);
  if (typeof value !== 'string') return;
  if (inner === undefined && key === 'url') entry.url = value;
  else if (inner === undefined && key === 'method') entry.method = value;
  else if (inner === 'postData' && key === 'text') entry.posted = value;
  else if (inner === 'postData') entry.postedType = value;
  else if (inner === 'content' && key === 'text') entry.answered = value;
  else if (inner === 'content') entry.encoding = value;
}

function exchangeOf(entry: Entry, url: string): HarExchange {
  const { method = 'GET', startedMs = Number.NaN, lastsMs = 0, posted = '', answered } = entry;
  const { answeredBytes = 0, events, headers, token, cookies } = entry;
  // Chrome writes each byte of a binary body as a letter.
  const isBinary = entry.postedType === 'application/octet-stream';
  return {
    ...{ url, method, startedMs, events, headers: ownHeaders(headers), token, cookies },
    endMs: startedMs + (lastsMs >= 0 && lastsMs < longestSilenceMs ? lastsMs : 0),
    posted: Buffer.from(posted, isBinary ? 'latin1' : 'utf8'),
    answered: Buffer.from(answered ?? '', entry.encoding === 'base64' ? 'base64' : 'utf8'),
    isCut: answered === undefined && answeredBytes > 0,
  };
}

function noteHeader(entry: Entry, header: unknown, isOfRequest: boolean): void {
  const { name, value } = header as { readonly name?: unknown; readonly value?: unknown };
  if (typeof name !== 'string') return;
  switch (name.toLowerCase()) {
    case 'authorization':
      entry.token = true;
      return;
    case 'cookie':
      entry.cookies = true;
      return;
    case 'sec-websocket-protocol':
      if (typeof value === 'string' && /^[\w.-]{1,64}$/.test(value)) entry.subprotocol = value;
      return;
    default:
      if (isOfRequest) entry.headers.push(name);
  }
}

export interface HarExchange {
  readonly url: string;
  readonly method: string;
  readonly startedMs: number;
  readonly endMs: number;
  readonly posted: Buffer;
  readonly answered: Buffer;
  readonly isCut: boolean;
  readonly events?: readonly HarEvent[] | undefined;
  readonly headers: readonly string[];
  readonly token: boolean;
  readonly cookies: boolean;
}

/** As Chrome and Edge write it; `time` is seconds since 1970. */
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
  isDeaf?: boolean;
}

/**
 * Clients over HTTP: they post what they send, and receive events or answers to polls. Source: SignalR's transport protocols,
 * "Server-Sent Events" and "Long Polling".
 */
export class HarHttpClients {
  bytes = 0;
  messages = 0;
  /** Clients left out because the file lacks what they received. */
  deaf = 0;
  cutAnswers = 0;
  private readonly clients = new Map<string, HttpClient>();
  private readonly hubs = new Set<string>();

  get isEmpty(): boolean {
    return this.clients.size === 0;
  }

  negotiated(url: string): void {
    this.hubs.add(withoutQuery(url));
  }

  add(exchange: HarExchange, hubUrl: string | undefined): void {
    const { url, startedMs, endMs } = exchange;
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

  /** Requests are in the order in which they began. */
  finish(clients: ImportedClients): void {
    for (const client of this.clients.values()) {
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
