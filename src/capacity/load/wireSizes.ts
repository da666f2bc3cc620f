import { callbacks } from '../../base/message';
import { services } from '../../base/serviceTraits';
import { argumentBytes, ownArguments } from '../../usecases/ownArguments';
import { groupParameters } from '../../usecases/parameters';
import type { PayloadSize, WireSize } from '../../usecases/payloadSizes';
import { findUseCase } from '../../usecases/registry';
import type { StreamShape } from '../../usecases/streams';
import { hubRunOf, type HubRun, type OwnCall } from '../../usecases/useCase';
import type { HubProtocol, Scenario, ScenarioEntry, Subprotocol } from '../../scenario/scenario';

export type Spoken = Pick<
  Scenario,
  'service' | 'protocol' | 'subprotocol' | 'dialect' | 'upstream' | 'entries'
>;

/** Bytes of what changes from message to message: the stamp, ids of connections, of streams, times. */
const stampBytes = 54;
const connectionIdBytes = 22;
const streamIdBytes = 9;
const unixMs: Content = { kind: 'number', digits: 13, packed: 9 };
const itemCount: Content = { kind: 'number', digits: 2, packed: 1 };
const ticks: Content = { kind: 'number', digits: 18, packed: 9 };
/** Run ids in names of groups and users: up to eight hexadecimal digits. */
const runIdBytes = 8;

const text = (bytes: number): Content => ({ kind: 'text', bytes });

/**
 * How many bytes each payload of an entry is when it goes to the service, and when it leaves it: with the hub message around
 * it, and on its way to an app server with the service's message around that. Frames of WebSockets (2 to 10 bytes)
 * and heads of HTTP are left out. Exact for the bench contract, but for ids and names whose length only the
 * run knows; an answer of the user's own method is taken to be as long as its arguments.
 */
export function wireSizes(
  scenario: Spoken,
  entry: ScenarioEntry,
  sizes: readonly PayloadSize[],
): readonly WireSize[] {
  const useCase = findUseCase(entry.name);
  if (useCase === undefined) return [];
  const run = hubRunOf(useCase, entry.parameters);
  const words: Words = {
    run,
    measures: scenario.dialect === 'measure' && run.message?.measureMethod !== undefined,
    binary: entry.parameters['payload'] === 'binary',
    receiver: receiverBytes(scenario, entry, useCase.name, run),
  };
  const legs = services[scenario.service].speaksHub ? hubLegs : pubSubLegs;
  return sizes.map((size) => ({ ...size, ...legs(scenario, words, size.bytes) }));
}

/** The same of one call of a session; its answer is taken to be as long as its arguments. */
export function wireSizeOfCall(scenario: Spoken, ownCall: OwnCall, size: PayloadSize): WireSize {
  const words: Words = {
    run: { preparation: 'nothing', audience: 'self', ownCall },
    ...{ measures: false, binary: false, receiver: connectionIdBytes },
  };
  return { ...size, ...hubLegs(scenario, words, size.bytes) };
}

/** Of what a hub has sent on its own: a message of so many bytes without what marks its end; null: nobody has seen them. */
export function pushedSize(
  { protocol, service }: Spoken,
  { name, bodyBytes, weight }: { name: string; bodyBytes: number | null; weight: number },
): WireSize {
  if (bodyBytes === null || !services[service].speaksHub) {
    const bytes = bodyBytes ?? 1;
    return { bytes, weight, sent: 0, toClient: bytes, toApplication: 0 };
  }
  const form = hubForms[protocol];
  const toClient = form.whole(bodyBytes);
  const bytes = Math.max(0, toClient - form.invocation(name, own(0)));
  return { bytes, weight, sent: 0, toClient, toApplication: 0 };
}

/** Of what a hub is said to send on its own: arguments of so many bytes. */
export function wireSizeOfPush(
  { protocol, service, subprotocol }: Spoken,
  { name, bytes }: { name: string; bytes: number },
): WireSize {
  const toClient = services[service].speaksHub
    ? hubForms[protocol].invocation(name, own(bytes))
    : pubSubDelivery(subprotocol, { data: bytes, group: undefined, user: undefined });
  return { bytes, weight: 1, sent: 0, toClient, toApplication: 0 };
}

interface Words {
  readonly run: HubRun;
  readonly measures: boolean;
  readonly binary: boolean;
  readonly receiver: number;
}

type Legs = Pick<WireSize, 'sent' | 'toClient' | 'toApplication'>;

function receiverBytes(
  { entries }: Spoken,
  { parameters }: ScenarioEntry,
  useCase: string,
  { audience }: HubRun,
): number {
  if (audience !== 'group') return connectionIdBytes;
  const groupCount = parameters[groupParameters[0]!.name];
  const place = entries.length > 1 ? 2 : 0;
  const digits = String(Math.max(0, Number(groupCount) - 1)).length;
  return useCase.length + 1 + runIdBytes + 1 + place + digits;
}

function hubLegs({ protocol, upstream }: Spoken, words: Words, payload: number): Legs {
  const form = hubForms[protocol];
  const { toClient, fromClient } = hubMessages(form, words, payload);
  const toApplication =
    upstream === undefined
      ? form.connectionData(connectionIdBytes, fromClient)
      : fromClient - form.endBytes(fromClient);
  const sent = words.run.via === 'rest' ? restBody(words, payload) : fromClient;
  return { sent, toClient, toApplication };
}

/** Source: "Azure SignalR Service data plane REST API reference". */
const restBody = (words: Words, payload: number): number =>
  json(
    `{"target":"${callbacks.recordLatency}","arguments":}`,
    jsonBytes({ kind: 'list', items: [dictionary(words, payload)] }),
  );

function hubMessages(
  form: HubForm,
  words: Words,
  payload: number,
): { readonly toClient: number; readonly fromClient: number } {
  const { run, measures } = words;
  const { streams, ownCall, message } = run;
  if (streams !== undefined) {
    const up = streams.own === undefined ? dictionary(words, payload) : own(payload);
    const numbered = streams.own === undefined && streams.direction === 'download';
    const down = numbered ? dictionary(words, payload, true) : up;
    const isAnswered = streams.direction === 'upload';
    return {
      toClient: isAnswered
        ? form.completion(streamIdBytes, streams.own === undefined ? itemCount : up)
        : form.item(streamIdBytes, down),
      fromClient:
        streams.direction === 'download'
          ? form.invocation(streams.method, callOfStream(words, streams), streamIdBytes)
          : form.item(streamIdBytes, up),
    };
  }
  if (ownCall !== undefined) {
    const args = own(payload);
    const answered = ownCall.reply === 'completion';
    return {
      toClient: answered
        ? form.completion(stampBytes, args)
        : form.invocation(ownCall.callback ?? ownCall.method, args),
      fromClient: form.invocation(ownCall.method, args, answered ? stampBytes : undefined),
    };
  }
  if (message === undefined) return { toClient: payload, fromClient: payload };
  const receiver = message.receiverKey === undefined ? [] : [text(words.receiver)];
  if (measures) {
    const measured = [ticks, text(payload)];
    return {
      toClient: form.invocation(callbacks.measure, { kind: 'list', items: measured }),
      fromClient: form.invocation(message.measureMethod!, {
        kind: 'list',
        items: [...receiver, ...measured],
      }),
    };
  }
  const args: Content = { kind: 'list', items: [dictionary(words, payload)] };
  return {
    toClient: form.invocation(callbacks.recordLatency, args),
    fromClient: form.invocation(message.method, args),
  };
}

const callOfStream = (words: Words, streams: StreamShape): Content =>
  streams.own === undefined
    ? dictionary(words, 0)
    : own(argumentBytes(ownArguments(streams.own.arguments)));

const own = (bytes: number): Content => ({ kind: 'written', bytes });

/** The dictionary that the hub hands on as it came; items that a hub makes are numbered. */
function dictionary({ run, receiver, binary }: Words, payload: number, numbered = false): Content {
  const receiverKey = run.message?.receiverKey;
  return {
    kind: 'map',
    members: [
      ...(numbered ? ([['bench.Item', text(8)]] as const) : []),
      ['bench.Stamp', text(stampBytes)],
      ...(receiverKey === undefined ? [] : ([[receiverKey, text(receiver)]] as const)),
      ['payload.Timestamp', unixMs],
      ['payload.MessageBlob', binary ? { kind: 'bytes', bytes: payload } : text(payload)],
    ],
  };
}

/** Azure Web PubSub: the dictionary as JSON, in the subprotocol's message or, to a handler, bare. */
function pubSubLegs({ subprotocol }: Spoken, words: Words, payload: number): Legs {
  const data = jsonBytes(dictionary(words, payload));
  const { audience, via } = words.run;
  // Clients that publish to a group themselves are named, callers of the REST API are not.
  const isGroup = audience === 'group';
  const user = isGroup && via === undefined ? 'user_'.length + runIdBytes + 1 + 4 : undefined;
  const group = isGroup ? words.receiver : undefined;
  const event = words.run.message?.method ?? '';
  return {
    sent: via === undefined ? pubSubFrame(subprotocol, { data, group, event }) : data,
    toClient: pubSubDelivery(subprotocol, { data, group, user }),
    toApplication: data,
  };
}

/** What stands in a hub message, as far as its length goes; lengths are bytes as UTF-8. */
type Content =
  | { readonly kind: 'text' | 'bytes'; readonly bytes: number }
  /** Digits in JSON, and bytes with their head in MessagePack. */
  | { readonly kind: 'number'; readonly digits: number; readonly packed: number }
  | { readonly kind: 'list'; readonly items: readonly Content[] }
  | { readonly kind: 'map'; readonly members: readonly (readonly [string, Content])[] }
  /** As the user wrote it; its length as JSON text stands for that in any protocol. */
  | { readonly kind: 'written'; readonly bytes: number };

/** Bytes of whole hub messages in one protocol, with what marks their end. */
interface HubForm {
  /** @param id bytes of the invocation's id; absent: it has none */
  invocation(method: string, args: Content, id?: number): number;
  completion(id: number, result: Content): number;
  item(id: number, content: Content): number;
  /** With what marks its end. */
  whole(body: number): number;
  /** Of these bytes of a whole message, how many only mark where it ends. */
  endBytes(message: number): number;
  /** The message of Azure SignalR Service that brings a client's message to an app server. */
  connectionData(connectionId: number, message: number): number;
}

/** Source: "SignalR Hub Protocol", heading "JSON Encoding". */
function jsonBytes(content: Content): number {
  switch (content.kind) {
    case 'text':
      return content.bytes + 2;
    case 'number':
      return content.digits;
    case 'list':
      return 2 + sumOf(content.items, jsonBytes) + commas(content.items.length);
    case 'map': {
      const { members } = content;
      return (
        2 +
        sumOf(members, ([key, value]) => key.length + 3 + jsonBytes(value)) +
        commas(members.length)
      );
    }
    // Bytes go out as text: only MessagePack has them.
    case 'bytes':
      return content.bytes + 2;
    case 'written':
      return content.bytes;
  }
}

const commas = (items: number): number => Math.max(0, items - 1);

const sumOf = <T>(items: readonly T[], bytesOf: (item: T) => number): number =>
  items.reduce((sum, item) => sum + bytesOf(item), 0);

/** Source: the specification of MessagePack, headings "str", "bin", "array", "map". */
function packedBytes(content: Content): number {
  switch (content.kind) {
    case 'text':
      return packedText(content.bytes);
    case 'bytes':
      return binaryHead(content.bytes) + content.bytes;
    case 'number':
      return content.packed;
    case 'list':
      return 1 + sumOf(content.items, packedBytes);
    case 'map':
      return (
        1 + sumOf(content.members, ([key, value]) => packedText(key.length) + packedBytes(value))
      );
    case 'written':
      return content.bytes;
  }
}

const packedText = (bytes: number): number => (bytes < 32 ? 1 : binaryHead(bytes)) + bytes;
const binaryHead = (bytes: number): number => (bytes < 0x100 ? 2 : bytes < 0x10000 ? 3 : 5);

/** A message with its length before it, seven bits in each byte. */
const withLength = (bytes: number): number => bytes + lengthBytes(bytes);
const lengthBytes = (bytes: number): number =>
  bytes < 0x80 ? 1 : 1 + lengthBytes(Math.floor(bytes / 0x80));

/** `[6, connection id, bytes, {}]`; its framing is that of MessagePack whatever the client speaks. */
const connectionData = (connectionId: number, message: number): number =>
  withLength(2 + packedText(connectionId) + binaryHead(message) + message + 1);

const json = (literal: string, ...parts: readonly number[]): number =>
  parts.reduce((sum, part) => sum + part, literal.length);

const hubForms: Readonly<Record<HubProtocol, HubForm>> = {
  json: {
    invocation: (method, args, id) =>
      json(`{"type":1,"target":"${method}","arguments":}\x1e`, jsonBytes(args)) +
      (id === undefined ? 0 : json('"invocationId":"",', id)),
    completion: (id, result) =>
      json('{"type":3,"invocationId":"","result":}\x1e', id, jsonBytes(result)),
    item: (id, content) => json('{"type":2,"invocationId":"","item":}\x1e', id, jsonBytes(content)),
    whole: (body) => body + 1,
    endBytes: () => 1,
    connectionData,
  },
  messagepack: {
    // [1, {}, id or nil, method, arguments, []]
    invocation: (method, args, id) =>
      withLength(
        3 +
          (id === undefined ? 1 : packedText(id)) +
          packedText(method.length) +
          packedBytes(args) +
          1,
      ),
    // [3, {}, id, kind, result]
    completion: (id, result) => withLength(3 + packedText(id) + 1 + packedBytes(result)),
    // [2, {}, id, item]
    item: (id, content) => withLength(3 + packedText(id) + packedBytes(content)),
    whole: withLength,
    endBytes: (message) => lengthBytes(message - lengthBytes(message)),
    connectionData,
  },
};

/** What a client sends, to a group or as an event, with the number of an acknowledgement. Sources: as of {@link pubSubDelivery}. */
function pubSubFrame(
  subprotocol: Subprotocol,
  { data, group, event }: Pick<Delivered, 'data' | 'group'> & { readonly event: string },
): number {
  switch (subprotocol) {
    case 'none':
      return data;
    case 'json':
    case 'reliableJson': {
      const receiver =
        group === undefined
          ? `"type":"event","event":"${event}"`.length
          : '"type":"sendToGroup","group":""'.length + group;
      return '{,"ackId":,"dataType":"json","data":}'.length + receiver + ackId.digits + data;
    }
    case 'protobuf':
    case 'reliableProtobuf': {
      const text = withHead(data);
      const receiver = withHead(group ?? event.length);
      return withHead(receiver + 1 + ackId.varintBytes + withHead(text));
    }
  }
}

/** A message of a client or an application on its way to a client of Azure Web PubSub; lengths in bytes. */
interface Delivered {
  readonly data: number;
  /** Name of the group it was sent to; absent: it comes from the application. */
  readonly group: number | undefined;
  /** User id of the client that sent it; absent: none is named. */
  readonly user: number | undefined;
}

/** Digits, and bytes as a varint, that a message's number has in a run of usual length; and that of an acknowledgement. */
const sequenceId = { digits: 5, varintBytes: 3 } as const;
const ackId = { digits: 11, varintBytes: 6 } as const;

/** Sources: "Azure Web PubSub supported JSON WebSocket subprotocol" and "… protobuf …", heading "Responses". */
function pubSubDelivery(subprotocol: Subprotocol, message: Delivered): number {
  switch (subprotocol) {
    case 'none':
      return message.data;
    case 'json':
      return jsonDelivery(message);
    case 'reliableJson':
      return jsonDelivery(message) + '"sequenceId":,'.length + sequenceId.digits;
    case 'protobuf':
      return protobufDelivery(message, 0);
    case 'reliableProtobuf':
      return protobufDelivery(message, 1 + sequenceId.varintBytes);
  }
}

function jsonDelivery({ data, group, user }: Delivered): number {
  const literal = '{"type":"message","from":"","dataType":"json","data":}'.length;
  const optional = (key: string, bytes: number | undefined): number =>
    bytes === undefined ? 0 : `"${key}":"",`.length + bytes;
  return (
    literal + from(group).length + optional('fromUserId', user) + optional('group', group) + data
  );
}

/** `DownstreamMessage { DataMessage { from, group, MessageData { text } } }`, which names no user. */
function protobufDelivery({ data, group }: Delivered, more: number): number {
  const text = withHead(data);
  const body =
    withHead(from(group).length) + (group === undefined ? 0 : withHead(group)) + withHead(text);
  return withHead(body + more);
}

const from = (group: number | undefined): string => (group === undefined ? 'server' : 'group');

const withHead = (bytes: number): number => 1 + varintBytes(bytes) + bytes;
const varintBytes = (value: number): number =>
  value < 0x80 ? 1 : 1 + varintBytes(Math.floor(value / 0x80));
