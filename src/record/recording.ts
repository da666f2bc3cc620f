/**
 * What a recording holds: one event a line, in JSON, in the order of its times. The first line says what was
 * recorded. No line has a token, a cookie, or the value of a header or a query parameter; the arguments of
 * messages are kept as they were.
 */
import { ExpectedError } from '../base/expectedError';
import type { HubMessage } from '../wire/message/hubMessage';
import { parseObject, type JsonObject } from '../wire/message/jsonScan';
import type { DataType, WireId } from '../wire/webpubsub/pubSubMessage';

export const recordingSchema = 'signalr-bench-recording/1';
/** Ends the names of files with recordings. */
export const recordingExtension = '.recording.jsonl';

export type RecordedKind = 'signalr' | 'webpubsub';

/** The first line. */
export interface RecordingHeader {
  readonly schema: typeof recordingSchema;
  /** URL that was recorded, without user, and of its query the names alone. */
  readonly target: string;
  /** ISO 8601; the times of events count from here. */
  readonly startedAt: string;
  /** What the first client spoke. */
  readonly kind: RecordedKind;
  /** By which certificates its servers were trusted, where not by those of this machine. */
  readonly caFile?: string;
  readonly insecureTls?: true;
}

const transports = ['WebSockets', 'ServerSentEvents', 'LongPolling'] as const;
export type RecordedTransport = (typeof transports)[number];

interface EventBase {
  /** Microseconds since the recording began; never less than that of the line before. */
  readonly t: number;
  /** Number of the client, from 1 in the order in which they came. */
  readonly client: number;
}

/** A client is there: its handshake is over, or what it says has no handshake. */
export interface OpenEvent extends EventBase {
  readonly ev: 'open';
  readonly transport: RecordedTransport;
  /**
   * Hub protocol (`json`, `messagepack`), or subprotocol of Web PubSub (`json.webpubsub.azure.v1`, …), or
   * `none` for a web socket without one. `unknown` when the client left before it said what it speaks.
   */
  readonly protocol: string;
  /** Path of the hub's URL. */
  readonly path: string;
  /** Names of the parameters in the URL. */
  readonly query: readonly string[];
  /** Names of headers that the application sends of its own, in small letters. */
  readonly headers?: readonly string[];
  /** Whether it came with an access token, and with cookies. */
  readonly token?: boolean;
  readonly cookies?: boolean;
  /** Which of the different tokens of the recording it was, from 1; absent where nobody counted them. */
  readonly tokenNumber?: number;
}

export interface CloseEvent extends EventBase {
  readonly ev: 'close';
  /** Close code of the web socket, if there was one. */
  readonly code?: number;
  /** Why, in the words of the server; absent when it did not say. */
  readonly reason?: string;
}

/** `out` is what the client sent to the server, `in` what the server sent to the client. */
export type Direction = 'out' | 'in';

/**
 * What was said. Values that JSON has no form for are objects with one member: `$bytes` (base64), `$integer`
 * (digits of a number above 2^53), `$float` (`NaN`, `Infinity`, `-Infinity`), `$extension` (type and base64).
 */
export interface MessageEvent extends EventBase {
  readonly ev: Direction;
  readonly m: RecordedMessage;
  /** Of the message in its protocol, with what marks its end or its length; without frames of the transport. */
  readonly bytes: number;
}

/** What nobody understood, or what was too long to be kept. */
export interface RawEvent extends EventBase {
  readonly ev: Direction;
  readonly raw: number;
  readonly why: string;
}

/** So many events were left out here, because they could not be written as fast as they came. */
export interface GapEvent extends EventBase {
  readonly ev: 'gap';
  readonly events: number;
}

export type RecordedEvent = OpenEvent | CloseEvent | MessageEvent | RawEvent | GapEvent;

/** Hub messages have numbers for types, those of Web PubSub have words. */
export type RecordedMessage = HubMessage | RecordedPubSub;

/** A message of Web PubSub in the members of its JSON subprotocol, whatever it was sent in. */
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
  /** A value for `json`, text for `text`, base64 for the others. */
  readonly data?: unknown;
  readonly message?: string;
}

export const isHubMessage = (message: RecordedMessage): message is HubMessage =>
  typeof message.type === 'number';

/** A recording, from a file or made up. */
export interface Recording {
  readonly header: RecordingHeader;
  readonly events: AsyncIterable<RecordedEvent> | Iterable<RecordedEvent>;
}

/** A recording from a file, one of another program too. */
export interface OpenedRecording extends Recording {
  /** What was left out, as sentences; known once all events were read. */
  readonly notes: () => readonly string[];
}

/** The file is none, or is damaged. */
export function invalidRecording(problem: string, cause?: unknown): ExpectedError {
  return new ExpectedError('recording-invalid', problem, { cause });
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown): value is string => typeof value === 'string';
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** The first line. @throws ExpectedError `recording-invalid` */
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

/** An event in its line; undefined when the line is none. */
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

/** A message is believed as far as its readers rely on it: calls have a target and arguments, answers an id. */
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
