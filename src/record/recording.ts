/**
 * The file format: one JSON event a line, in the order of time, after a header. Arguments of messages are kept as they were;
 * tokens, cookies and the values of headers and query parameters are never in it.
 */
import { ExpectedError } from '../base/expectedError';
import type { HubMessage } from '../wire/message/hubMessage';
import { parseObject, type JsonObject } from '../wire/message/jsonScan';
import type { DataType, WireId } from '../wire/webpubsub/pubSubMessage';

export const recordingSchema = 'signalr-bench-recording/1';
export const recordingExtension = '.recording.jsonl';

export type RecordedKind = 'signalr' | 'webpubsub';

export interface RecordingHeader {
  readonly schema: typeof recordingSchema;
  /** Without user; of the query only the names. */
  readonly target: string;
  /** ISO 8601; times of events count from here. */
  readonly startedAt: string;
  readonly kind: RecordedKind;
  /** Certificates that were trusted besides those of the machine. */
  readonly caFile?: string;
  readonly insecureTls?: true;
}

const transports = ['WebSockets', 'ServerSentEvents', 'LongPolling'] as const;
export type RecordedTransport = (typeof transports)[number];

interface EventBase {
  /** Microseconds since `startedAt`, never falling. */
  readonly t: number;
  readonly client: number;
}

/** After the handshake, where there is one. */
export interface OpenEvent extends EventBase {
  readonly ev: 'open';
  readonly transport: RecordedTransport;
  /**
   * Hub protocol, or subprotocol of Web PubSub (`json.webpubsub.azure.v1`). `none`: a plain web socket; `unknown`: the client
   * left before its handshake.
   */
  readonly protocol: string;
  readonly path: string;
  readonly query: readonly string[];
  /** Names of headers of the application, in lower case. */
  readonly headers?: readonly string[];
  readonly token?: boolean;
  readonly cookies?: boolean;
  /** Which of the different tokens, from 1; absent where they were not counted. */
  readonly tokenNumber?: number;
}

export interface CloseEvent extends EventBase {
  readonly ev: 'close';
  readonly code?: number;
  readonly reason?: string;
}

/** `out`: from client to server. */
export type Direction = 'out' | 'in';

/**
 * Values without a JSON form are objects with one member: `$bytes` (base64), `$integer` (digits above 2^53), `$float` (`NaN`,
 * `Infinity`, `-Infinity`), `$extension` (type and base64).
 */
export interface MessageEvent extends EventBase {
  readonly ev: Direction;
  readonly m: RecordedMessage;
  /** With its separator or length prefix, without transport frames. */
  readonly bytes: number;
}

/** A message that was not understood, or too long to keep. */
export interface RawEvent extends EventBase {
  readonly ev: Direction;
  readonly raw: number;
  readonly why: string;
}

/** Events left out because the disk was too slow. */
export interface GapEvent extends EventBase {
  readonly ev: 'gap';
  readonly events: number;
}

export type RecordedEvent = OpenEvent | CloseEvent | MessageEvent | RawEvent | GapEvent;

/** Hub messages have numeric types, those of Web PubSub have words. */
export type RecordedMessage = HubMessage | RecordedPubSub;

/** In the members of the JSON subprotocol, whatever it was sent in. */
export interface RecordedPubSub {
  readonly type: string;
  readonly group?: string;
  readonly event?: string;
  readonly from?: string;
  readonly fromUserId?: string;
  readonly ackId?: WireId | string;
  readonly sequenceId?: WireId | string;
  readonly success?: boolean;
  readonly error?: { readonly name: string; readonly message: string };
  readonly noEcho?: boolean;
  readonly dataType?: DataType;
  /** A value for `json`, text for `text`, else base64. */
  readonly data?: unknown;
  readonly message?: string;
}

export const isHubMessage = (message: RecordedMessage): message is HubMessage =>
  typeof message.type === 'number';

export interface Recording {
  readonly header: RecordingHeader;
  readonly events: AsyncIterable<RecordedEvent> | Iterable<RecordedEvent>;
}

/** From a recording, a HAR file or a log. */
export interface OpenedRecording extends Recording {
  /** Sentences about what was left out; complete once all events are read. */
  readonly notes: () => readonly string[];
}

export function invalidRecording(problem: string, cause?: unknown): ExpectedError {
  return new ExpectedError('recording-invalid', problem, { cause });
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): value is string => typeof value === 'string';
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** @throws ExpectedError `recording-invalid` */
export function parseHeader(line: string, file: string): RecordingHeader {
  const fields = parseObject(line);
  if (!isText(fields?.['schema']) || !fields['schema'].startsWith('signalr-bench-recording/'))
    throw invalidRecording(`${file} is not a recording: its first line does not say so.`);
  if (fields['schema'] !== recordingSchema)
    throw invalidRecording(
      `The recording has the form ${fields['schema'].slice(0, 64)}; this version reads ${recordingSchema}.`,
    );
  const { target, startedAt, kind, caFile, insecureTls } = fields;
  if (!isText(target) || !isText(startedAt) || Number.isNaN(Date.parse(startedAt)))
    throw invalidRecording('The first line of the recording has no target or no time.');
  if (kind !== 'signalr' && kind !== 'webpubsub')
    throw invalidRecording('The first line of the recording names neither SignalR nor Web PubSub.');
  return {
    schema: recordingSchema,
    target,
    startedAt,
    kind,
    ...(isText(caFile) && { caFile }),
    ...(insecureTls === true && { insecureTls }),
  };
}

export function parseEvent(line: string): RecordedEvent | undefined {
  const fields = parseObject(line);
  if (fields === undefined || !isCount(fields['t']) || !isCount(fields['client'])) return undefined;
  return hasMembers(fields) ? (fields as unknown as RecordedEvent) : undefined;
}

function hasMembers(fields: JsonObject): boolean {
  switch (fields['ev']) {
    case 'open':
      return (
        transports.some((transport) => transport === fields['transport']) &&
        isText(fields['protocol']) &&
        isText(fields['path']) &&
        areTexts(fields['query']) &&
        areTexts(fields['headers'] ?? [])
      );
    case 'close':
      return true;
    case 'out':
    case 'in':
      return 'm' in fields
        ? isCount(fields['bytes']) && isMessage(fields['m'])
        : isCount(fields['raw']) && isText(fields['why']);
    case 'gap':
      return isCount(fields['events']);
    default:
      return false;
  }
}

/** Checks what readers rely on: calls have a target and arguments, answers an id. */
function isMessage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { type, target, arguments: values, invocationId } = value as JsonObject;
  if (isText(type)) return true;
  if (!isCount(type) || type < 1 || type > 9) return false;
  const isCall = type === 1 || type === 4;
  const needsId = type > 1 && type <= 5;
  return (
    (!isCall || (isText(target) && Array.isArray(values))) && (!needsId || isText(invocationId))
  );
}

export const mostOwnHeaders = 10;

const usual =
  /^(?::.*|accept(?:-.*)?|authorization|baggage|cache-control|connection|content-.*|cookie2?|date|device-memory|dnt|dpr|downlink|ect|expect|forwarded|host|if-.*|keep-alive|origin|pragma|priority|proxy-.*|purpose|range|referer|request-id|rtt|save-data|sec-.*|te|trace(?:parent|state)|trailer|transfer-encoding|upgrade(?:-insecure-requests)?|user-agent|via|viewport-width|width|x-(?:client-data|correlation-id|forwarded-.*|ms-client-request-id|real-ip|request-id|requested-with|signalr-(?:bench.*|user-agent)))$/i;
const headerName = /^[a-z][\w-]{0,59}$/i;

/** Headers of the application among these, in lower case. */
export const ownHeaders = (names: readonly string[]): string[] =>
  [...new Set(names.map((name) => name.toLowerCase()))]
    .filter((name) => headerName.test(name) && !usual.test(name))
    .slice(0, mostOwnHeaders);
