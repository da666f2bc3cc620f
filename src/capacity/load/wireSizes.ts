import { callbacks } from '../../base/message';
import { services } from '../../base/serviceTraits';
import { argumentBytes, parseArguments } from '../../usecases/ownArguments';
import { groupParameters } from '../../usecases/parameters';
import type { PayloadSize, WireSize } from '../../usecases/payloadSizes';
import { findUseCase, useCases } from '../../usecases/registry';
import type { StreamShape } from '../../usecases/streams';
import {
  hubRunOf,
  payloadOf,
  type HubRun,
  type OwnCall,
  type UseCase,
} from '../../usecases/useCase';
import type { HubProtocol, Scenario, ScenarioEntry, Subprotocol } from '../../scenario/scenario';
import { say, sentence, type Words } from '../../base/sentence';
import { formatBytes, formatCount } from '../../base/units';
import { listCalls, sessionStepsOf, sizesOfStep } from '../../usecases/sessionSteps';
import type { ParsedScenario } from '../../scenario/parseScenario';
import type { Problem } from '../../scenario/problem';
import { scenarioAtSearchValue } from '../../scenario/steps';
import type { Place } from '../../scenario/text/scenarioReading';

export type Spoken = Pick<
  Scenario,
  'service' | 'protocol' | 'subprotocol' | 'dialect' | 'upstream' | 'entries'
>;

/** A value of known length, in bytes as UTF-8: in JSON, and in MessagePack. */
class Unknown {
  constructor(
    readonly jsonBytes: number,
    readonly packedBytes: () => number,
  ) {}
}

const stampBytes = 54;
const connectionIdBytes = 22;
const streamIdBytes = 9;
const unixMs = new Unknown(13, () => 9);
const itemCount = new Unknown(2, () => 1);
const ticks = new Unknown(18, () => 9);
const runIdBytes = 8;

const text = (bytes: number): Unknown => new Unknown(bytes + 2, () => packedText(bytes));
/** JSON has no bytes: they are text there. */
const binary = (bytes: number): Unknown => new Unknown(bytes + 2, () => binaryHead(bytes) + bytes);
/** Its length as JSON text stands for that in any protocol. */
const written = (bytes: number): Unknown => new Unknown(bytes, () => bytes);

/**
 * Sizes of whole messages: to the service, to a client, and to the app server. Frames of WebSockets
 * and heads of HTTP are left out; a reply of the user's own method counts as long as its arguments.
 */
export function wireSizes(
  scenario: Spoken,
  entry: ScenarioEntry,
  sizes: readonly PayloadSize[],
): readonly WireSize[] {
  const useCase = findUseCase(entry.name);
  if (useCase === undefined) return [];
  const run = hubRunOf(useCase, entry.parameters);
  const shape: MessageShape = {
    run,
    measures: scenario.dialect === 'measure' && run.message?.measureMethod !== undefined,
    binary: entry.parameters['payload'] === 'binary',
    receiver: receiverBytes(scenario, entry, useCase.name, run),
  };
  const legs = services[scenario.service].speaksHub ? hubLegs : pubSubLegs;
  return sizes.map((size) => ({ ...size, ...legs(scenario, shape, size.bytes) }));
}

export function callWireSize(scenario: Spoken, ownCall: OwnCall, size: PayloadSize): WireSize {
  const shape: MessageShape = {
    run: { preparation: 'nothing', audience: 'self', ownCall },
    ...{ measures: false, binary: false, receiver: connectionIdBytes },
  };
  return { ...size, ...hubLegs(scenario, shape, size.bytes) };
}

/** `bodyBytes`: a hub message without what marks its end; null where unknown. */
export function measuredPushWireSize(
  { protocol, service }: Spoken,
  { name, bodyBytes, weight }: { name: string; bodyBytes: number | null; weight: number },
): WireSize {
  if (bodyBytes === null || !services[service].speaksHub) {
    const bytes = bodyBytes ?? 1;
    return { bytes, weight, sent: 0, toClient: bytes, toApplication: 0 };
  }
  const form = hubForms[protocol];
  const toClient = form.whole(bodyBytes);
  const bytes = Math.max(0, toClient - form.invocation(name, written(0)));
  return { bytes, weight, sent: 0, toClient, toApplication: 0 };
}

export function pushWireSize(
  { protocol, service, subprotocol }: Spoken,
  { name, bytes }: { name: string; bytes: number },
): WireSize {
  const toClient = services[service].speaksHub
    ? hubForms[protocol].invocation(name, written(bytes))
    : pubSubDelivery(subprotocol, { data: bytes, group: undefined, user: undefined });
  return { bytes, weight: 1, sent: 0, toClient, toApplication: 0 };
}

interface MessageShape {
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

function hubLegs({ protocol, upstream }: Spoken, shape: MessageShape, payload: number): Legs {
  const form = hubForms[protocol];
  const { toClient, fromClient } = hubMessages(form, shape, payload);
  const toApplication =
    upstream === undefined ? connectionData(fromClient) : fromClient - form.endBytes(fromClient);
  const sent = shape.run.via === 'rest' ? restBody(shape, payload) : fromClient;
  return { sent, toClient, toApplication };
}

/** Source: "Azure SignalR Service data plane REST API reference". */
const restBody = (shape: MessageShape, payload: number): number =>
  jsonBytes({ target: callbacks.recordLatency, arguments: [dictionary(shape, payload)] });

function hubMessages(form: HubForm, shape: MessageShape, payload: number) {
  const { run, measures } = shape;
  const { streams, ownCall, message } = run;
  if (streams !== undefined) {
    const up = streams.own === undefined ? dictionary(shape, payload) : written(payload);
    const numbered = streams.own === undefined && streams.direction === 'download';
    const down = numbered ? dictionary(shape, payload, true) : up;
    const isAnswered = streams.direction === 'upload';
    return {
      toClient: isAnswered
        ? form.completion(streamIdBytes, streams.own === undefined ? itemCount : up)
        : form.item(streamIdBytes, down),
      fromClient:
        streams.direction === 'download'
          ? form.invocation(streams.method, callOfStream(shape, streams), streamIdBytes)
          : form.item(streamIdBytes, up),
    };
  }
  if (ownCall !== undefined) {
    const args = written(payload);
    const answered = ownCall.reply === 'completion';
    return {
      toClient: answered
        ? form.completion(stampBytes, args)
        : form.invocation(ownCall.callback ?? ownCall.method, args),
      fromClient: form.invocation(ownCall.method, args, answered ? stampBytes : undefined),
    };
  }
  if (message === undefined) return { toClient: payload, fromClient: payload };
  const receiver = message.receiverKey === undefined ? [] : [text(shape.receiver)];
  if (measures) {
    const measured = [ticks, text(payload)];
    return {
      toClient: form.invocation(callbacks.measure, measured),
      fromClient: form.invocation(message.measureMethod!, [...receiver, ...measured]),
    };
  }
  const args = [dictionary(shape, payload)];
  return {
    toClient: form.invocation(callbacks.recordLatency, args),
    fromClient: form.invocation(message.method, args),
  };
}

const callOfStream = (shape: MessageShape, streams: StreamShape): unknown =>
  streams.own === undefined
    ? dictionary(shape, 0)
    : written(argumentBytes(parseArguments(streams.own.arguments)));

/** Items that a hub makes are numbered. */
function dictionary(shape: MessageShape, payload: number, numbered = false): object {
  const { run, receiver, binary: isBinary } = shape;
  const key = run.message?.receiverKey;
  return {
    ...(numbered && { 'bench.Item': text(8) }),
    'bench.Stamp': text(stampBytes),
    ...(key !== undefined && { [key]: text(receiver) }),
    'payload.Timestamp': unixMs,
    'payload.MessageBlob': isBinary ? binary(payload) : text(payload),
  };
}

/** The dictionary as JSON, in the subprotocol's message, bare to an event handler. */
function pubSubLegs({ subprotocol }: Spoken, shape: MessageShape, payload: number): Legs {
  const data = jsonBytes(dictionary(shape, payload));
  const { audience, via } = shape.run;
  // Publishing clients are named, REST callers are not.
  const isGroup = audience === 'group';
  const user = isGroup && via === undefined ? 'user_'.length + runIdBytes + 1 + 4 : undefined;
  const group = isGroup ? shape.receiver : undefined;
  const event = shape.run.message?.method ?? '';
  return {
    sent: via === undefined ? pubSubFrame(subprotocol, { data, group, event }) : data,
    toClient: pubSubDelivery(subprotocol, { data, group, user }),
    toApplication: data,
  };
}

/** Bytes of whole hub messages, with what marks their end. */
interface HubForm {
  /** @param id bytes of the invocation's id; absent: it has none */
  invocation(method: string, args: unknown, id?: number): number;
  completion(id: number, result: unknown): number;
  item(id: number, content: unknown): number;
  whole(body: number): number;
  endBytes(message: number): number;
}

const sumOf = <T>(items: readonly T[], bytesOf: (item: T) => number): number =>
  items.reduce((sum, item) => sum + bytesOf(item), 0);

/** Source: "SignalR Hub Protocol", heading "JSON Encoding". */
function jsonBytes(value: unknown): number {
  if (value instanceof Unknown) return value.jsonBytes;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value).length;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const keys = Array.isArray(value) ? 0 : sumOf(members, ([key]) => key.length + 3);
  const commas = Math.max(0, members.length - 1);
  return 2 + keys + commas + sumOf(members, ([, member]) => jsonBytes(member));
}

/** Source: the specification of MessagePack, headings "str", "bin", "array", "map". */
function packedBytes(value: unknown): number {
  if (value instanceof Unknown) return value.packedBytes();
  if (typeof value === 'string') return packedText(value.length);
  // Of numbers only types of messages are known.
  if (typeof value !== 'object' || value === null) return 1;
  if (Array.isArray(value)) return 1 + sumOf(value, packedBytes);
  const members = Object.entries(value);
  return 1 + sumOf(members, ([key, member]) => packedText(key.length) + packedBytes(member));
}

const packedText = (bytes: number): number => (bytes < 32 ? 1 : binaryHead(bytes)) + bytes;
const binaryHead = (bytes: number): number => (bytes < 0x100 ? 2 : bytes < 0x10000 ? 3 : 5);

/** Its length goes before it, seven bits in each byte. */
const withLength = (bytes: number): number => bytes + varintBytes(bytes);
const varintBytes = (value: number): number =>
  value < 0x80 ? 1 : 1 + varintBytes(Math.floor(value / 0x80));

/** The service's message to an app server, in MessagePack whatever the client speaks. */
const connectionData = (message: number): number =>
  withLength(packedBytes([6, text(connectionIdBytes), binary(message), {}]));

const idOf = (bytes: number | undefined): Unknown | undefined =>
  bytes === undefined ? undefined : text(bytes);

const hubForms: Readonly<Record<HubProtocol, HubForm>> = {
  json: {
    invocation: (target, args, id) =>
      jsonBytes({ type: 1, invocationId: idOf(id), target, arguments: args }) + 1,
    completion: (id, result) => jsonBytes({ type: 3, invocationId: idOf(id), result }) + 1,
    item: (id, item) => jsonBytes({ type: 2, invocationId: idOf(id), item }) + 1,
    whole: (body) => body + 1,
    endBytes: () => 1,
  },
  messagepack: {
    invocation: (method, args, id) =>
      withLength(packedBytes([1, {}, idOf(id) ?? null, method, args, []])),
    // The kind of a result stands before it.
    completion: (id, result) => withLength(packedBytes([3, {}, idOf(id), 3, result])),
    item: (id, content) => withLength(packedBytes([2, {}, idOf(id), content])),
    whole: withLength,
    endBytes: (message) => varintBytes(message - varintBytes(message)),
  },
};

/** To a group or as an event, with an ack id. Sources: those of {@link pubSubDelivery}. */
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
          ? { type: 'event', event }
          : { type: 'sendToGroup', group: text(group) };
      return jsonBytes({
        ...receiver,
        ackId: written(ackId.digits),
        dataType: 'json',
        data: written(data),
      });
    }
    case 'protobuf':
    case 'reliableProtobuf': {
      const receiver = withHead(group ?? event.length);
      return withHead(receiver + 1 + ackId.varintBytes + withHead(withHead(data)));
    }
  }
}

interface Delivered {
  readonly data: number;
  readonly group: number | undefined;
  readonly user: number | undefined;
}

/** As text and as a varint, in a run of usual length. */
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
      return jsonDelivery(message, written(sequenceId.digits));
    case 'protobuf':
      return protobufDelivery(message, 0);
    case 'reliableProtobuf':
      return protobufDelivery(message, 1 + sequenceId.varintBytes);
  }
}

const jsonDelivery = ({ data, group, user }: Delivered, id?: Unknown): number =>
  jsonBytes({
    ...{ type: 'message', from: from(group), fromUserId: idOf(user), group: idOf(group) },
    ...{ sequenceId: id, dataType: 'json', data: written(data) },
  });

/** `DownstreamMessage { DataMessage { from, group, MessageData { text } } }`, which names no user. */
function protobufDelivery({ data, group }: Delivered, more: number): number {
  const named = group === undefined ? 0 : withHead(group);
  return withHead(withHead(from(group).length) + named + withHead(withHead(data)) + more);
}

const from = (group: number | undefined): string => (group === undefined ? 'server' : 'group');

const withHead = (bytes: number): number => 1 + varintBytes(bytes) + bytes;

type Sent = Spoken & Pick<Scenario, 'transport'>;

const ways = {
  frame: sentence('in a frame of a client'),
  request: sentence('in a request of a client without WebSockets'),
  body: sentence('in the body of a REST call'),
} as const;

/** Why the service refuses the largest message of an entry; undefined where it does not. */
export function messageSizeRefusal(scenario: Sent, entry: ScenarioEntry): Words | undefined {
  const useCase = findUseCase(entry.name);
  if (useCase === undefined) return undefined;
  const { via } = hubRunOf(useCase, entry.parameters);
  if (via === 'persistent') return undefined;
  const way = via === 'rest' ? 'body' : scenario.transport === 'Websockets' ? 'frame' : 'request';
  const { name, maxBytes: mostBytes } = services[scenario.service];
  const most = mostBytes?.[way];
  const sent = Math.max(0, ...sentBytes(scenario, entry));
  if (most === undefined || sent <= most) return undefined;
  const facts = [entry.name, formatCount(sent), name, formatCount(most), formatBytes(most)];
  const other = unlimited(useCase, scenario);
  return other === undefined
    ? sentence(
        'A message of {0} is {1} bytes with its envelope, and {2} takes at most {3} ({4}) {5}. Send less at a time.',
        ...[...facts, ways[way]],
      )
    : sentence(
        'A message of {0} is {1} bytes with its envelope, and {2} takes at most {3} ({4}) {5}. Send less at a time, or take {6}.',
        ...[...facts, ways[way], other.name],
      );
}

const unlimited = ({ run: { via, audience } }: UseCase, { service }: Sent): UseCase | undefined =>
  useCases.find(
    ({ run, services: known }) =>
      via === 'rest' &&
      run.via === 'persistent' &&
      run.audience === audience &&
      known.includes(service),
  );

function sentBytes(scenario: Sent, entry: ScenarioEntry): number[] {
  const calls = listCalls(sessionStepsOf(entry.parameters));
  const sizes = calls.flatMap(({ step }) => {
    if (step.kind === 'on') return [];
    const { method } = step;
    const call = { method, arguments: '[]', reply: 'completion' as const };
    return sizesOfStep(step).map((size) => callWireSize(scenario, call, size));
  });
  return [...sizes, ...wireSizes(scenario, entry, payloadOf(entry.parameters).sizes)].map(
    ({ sent }) => sent,
  );
}

/** Also of the largest size of a search. */
export function messageSizeProblems({
  scenario,
  sizePlaces,
}: Pick<ParsedScenario, 'scenario' | 'sizePlaces'>): Problem[] {
  if (scenario === undefined) return [];
  const problems = (asked: Scenario, placeOf: (at: number) => Place | undefined): Problem[] =>
    asked.entries.flatMap((entry, at): Problem[] => {
      const refused = messageSizeRefusal(asked, entry);
      if (refused === undefined) return [];
      const message = say(refused);
      const { offset, length } = placeOf(at) ?? { offset: 0, length: 0 };
      return [{ code: 'message-size', severity: 'warning', message, offset, length }];
    });
  const written = problems(scenario, (at) => sizePlaces?.payloads[at]);
  const { search } = scenario;
  if (search?.of !== 'messageSize') return written;
  const reached = problems(scenarioAtSearchValue(scenario, search.to), () => sizePlaces?.searchTo);
  return [
    ...written,
    ...reached.filter(({ message }) => written.every((one) => one.message !== message)),
  ];
}
