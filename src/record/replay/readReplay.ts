/** Reads what recorded clients sent, and when, as bytes ready to send. */
import path from 'node:path';
import { addCount, getOrCreate, mostFrequent } from '../../base/collect';
import { maxPayloadBytes } from '../../base/message';
import type { CallStep, OnStep, SessionStep } from '../../usecases/sessionSteps';
import { noStamp, type ReplayTracks } from '../../plan/plan';
import { jsonCodec, messagePackCodec, type HubCodec } from '../../wire/message/hubCodec';
import {
  hubMessageType,
  type Completion,
  type Invocation,
  type StreamInvocation,
  type StreamItem,
} from '../../wire/message/hubMessage';
import { stampLength } from '../../wire/message/stamp';
import { findSubprotocol } from '../../wire/webpubsub/pubSubMessage';
import {
  newConversation,
  readConversations,
  type RecordingListener,
  type RecordedConversation,
} from '../readConversations';
import type {
  Direction,
  OpenEvent,
  RawEvent,
  RecordedKind,
  RecordedPubSub,
  Recording,
  RecordingHeader,
} from '../recording';
import { ackIdPlaceholder, pubSubFrame, NotSendable, replayedValue } from './replayedMessage';
import {
  ByteList,
  packOperations,
  sharedNumbers,
  type Form,
  type Operation,
} from './packOperations';
import { formatCount } from '../../base/units';
import { openNamedRecording } from '../recordingFile';
import { ExpectedError } from '../../base/expectedError';

/** `webpubsub` is its JSON subprotocol. */
export type ReplayProtocol = 'json' | 'messagepack' | 'webpubsub';

export interface ReadReplay {
  readonly opens: readonly OpenEvent[];
  readonly lengthUs: number;
  /** For the tables: each method, callback and stream. */
  readonly steps: readonly SessionStep[];
  readonly tracks: Omit<ReplayTracks, 'spreadUs'>;
  readonly leftOut: ReadonlyMap<string, number>;
}

/** All of it is in memory during the run. */
export interface ReplayBounds {
  readonly messages: number;
  readonly bytes: number;
  readonly clients: number;
  /** Different methods, and as many callbacks. */
  readonly names: number;
}

const longestName = 200;

export const replayBounds: ReplayBounds = {
  messages: 1_000_000,
  bytes: 256 * 1024 * 1024,
  clients: 10_000,
  names: 200,
};

/** @param protocol of the replay, whatever was recorded @throws ExpectedError `nothing-to-replay` */
export async function readReplay(
  recording: Recording,
  name: string,
  protocol: ReplayProtocol,
  bounds = replayBounds,
): Promise<ReadReplay> {
  const { header } = recording;
  if ((header.kind === 'webpubsub') !== (protocol === 'webpubsub'))
    throw otherServiceRecorded(header, name);
  const reader = new ReplayReader(header, protocol, bounds);
  const { clients } = await readConversations(recording, reader);
  return reader.result(name, clients);
}

type CallMessage = Invocation | StreamInvocation;
const hasStamp: Readonly<Record<Form, boolean>> = {
  ...{ call: true, stream: true, cancel: true },
  ...{ send: false, item: false, end: false },
};

/** Each connection replaces it by its own stamp. */
const anyStamp = '0'.repeat(stampLength);

interface Client extends RecordedConversation<Operation> {
  readonly operations: Operation[];
  /** Calls by the ids of their streams; undefined for a call that is left out. */
  readonly uploads: Map<string, Operation | undefined>;
  readonly callbacks: Map<string, number>;
  readonly items: Map<string, number>;
}

class ReplayReader implements RecordingListener<Client, Operation> {
  readonly leftOut = new Map<string, number>();
  private readonly hubProtocol: 'json' | 'messagepack';
  private readonly codec: HubCodec;
  private readonly bytes = new ByteList();
  private clients = 0;
  private operations = 0;

  constructor(
    private readonly header: RecordingHeader,
    private readonly protocol: ReplayProtocol,
    private readonly bounds: ReplayBounds,
  ) {
    this.hubProtocol = protocol === 'messagepack' ? protocol : 'json';
    this.codec = this.hubProtocol === 'json' ? jsonCodec : messagePackCodec;
  }

  opened(open: OpenEvent): Client | undefined {
    const { protocol } = open;
    const whyNot = !isReplayable(open, this.header.kind)
      ? protocol === 'unknown'
        ? 'client without a handshake'
        : `client that spoke ${protocol}`
      : this.clients >= this.bounds.clients
        ? `client beyond ${this.bounds.clients}`
        : undefined;
    if (whyNot !== undefined) {
      this.leave(whyNot);
      return undefined;
    }
    this.clients += 1;
    const [callbacks, items] = [new Map<string, number>(), new Map<string, number>()];
    return { ...newConversation(open), operations: [], uploads: new Map(), callbacks, items };
  }

  notUnderstood(_client: Client, { ev, why }: RawEvent): void {
    if (ev === 'out') this.leave(`message of a client, not understood: ${why}`);
  }

  called(client: Client, message: CallMessage, atUs: number): Operation | undefined {
    const { target: method, invocationId: id, streamIds = [] } = message;
    let operation: Operation | undefined;
    if (method.length > longestName) {
      this.leave(`call of a method whose name is longer than ${longestName}`);
    } else {
      const isStream = message.type === hubMessageType.streamInvocation;
      const form = isStream ? 'stream' : id === undefined ? 'send' : 'call';
      operation = this.operation(client, form, message, atUs);
    }
    for (const each of streamIds) client.uploads.set(each, operation);
    return operation;
  }

  cancelled(client: Client, of: Operation | undefined, t: number): void {
    if (of?.form !== 'stream' || !this.hasRoom()) {
      this.leave('end of a stream that is not replayed');
      return;
    }
    of.isCancelled = true;
    const { cancelInvocation: type } = hubMessageType;
    const cancel = this.codec.encode({ type, invocationId: anyStamp });
    this.keep(client, { t, form: 'cancel', of, method: of.method }, cancel);
  }

  heard({ callbacks }: Client, { target }: Invocation): void {
    if (target.length <= longestName) addCount(callbacks, target);
  }

  itemCame({ items }: Client, { method }: Operation): void {
    addCount(items, method);
  }

  answered(_client: Client, operation: Operation, { error }: Completion): void {
    operation.answer = error === undefined ? 'result' : 'error';
  }

  message(client: Client, direction: Direction, message: RecordedPubSub, atUs: number): void {
    if (direction === 'out') this.published(client, message, atUs);
    else cameFromService(client, message);
  }

  result(name: string, all: readonly Client[]): ReadReplay {
    const path = mostFrequentPath(all.map(({ open }) => open));
    for (const { open } of all)
      if (open.path !== path) this.leave(`client of another hub, ${open.path}`);
    const clients = all.filter(({ open }) => open.path === path);
    if (clients.length === 0) throw nothingToReplay(this.header, name);
    const names = new Names(this.bounds.names);
    const operations: Operation[] = [];
    const first = [0];
    for (const client of clients) {
      for (const operation of client.operations)
        if (this.isNamed(names, operation)) operations.push(operation);
      first.push(operations.length);
    }
    if (operations.length === 0)
      throw replayError(
        `No client in ${name} sent anything that can be sent again: there is nothing to replay.${this.mostLeftOut()}`,
      );
    operations.forEach((operation, number) => (operation.number = number));
    const startUs = Math.min(...clients.map(({ open }) => open.t));
    const { steps, itemsOf } = this.countedSteps(clients, names);
    return {
      opens: clients.map(({ open }) => open),
      lengthUs: Math.max(...clients.map(({ lastUs }) => lastUs)) - startUs,
      steps,
      tracks: {
        ...packOperations(operations, (operation) => names.numberOf(operation)!, startUs),
        clients: clients.length,
        first: sharedNumbers(Uint32Array, first, (at) => at),
        bytes: this.bytes.shared(),
        itemsOf,
      },
      leftOut: this.leftOut,
    };
  }

  private published(client: Client, message: RecordedPubSub, t: number): void {
    const { type, ackId } = message;
    // A run acknowledges sequences and sends pings by itself.
    if (type === 'sequenceAck' || type === 'ping') return;
    const frame = pubSubFrame(message);
    if (frame === undefined || frame.method.length > longestName) {
      this.leave(`message of type ${type.slice(0, 60)}`);
      return;
    }
    if (!this.hasRoom()) return;
    const { method, bytes, payloadBytes } = frame;
    const form = ackId === undefined ? 'send' : 'call';
    const operation = this.keep(client, { t, form, method }, bytes, payloadBytes);
    if (ackId !== undefined) client.unanswered.set(String(ackId), operation);
  }

  wentUp(client: Client, message: StreamItem | Completion, t: number): void {
    const { invocationId: id } = message;
    const of = client.uploads.get(id);
    const isItem = message.type === hubMessageType.streamItem;
    if (of === undefined) {
      const isLeftOut = isItem || client.uploads.has(id);
      this.leave(
        isLeftOut
          ? 'item or end of a stream whose call is not replayed'
          : 'answer of a client to a call of the server',
      );
    } else if (!this.hasRoom()) {
      // Nobody answers the call without the end.
      for (const [call, one] of client.unanswered) if (one === of) client.unanswered.delete(call);
    } else if (isItem) {
      this.item(client, message, of, t);
    } else {
      const end = this.keep(
        client,
        { t, form: 'end', of, method: of.method },
        this.codec.encode(message),
      );
      if (of.answer === undefined) of.endedBy = end;
    }
    if (!isItem) client.uploads.delete(id);
  }

  private item(
    client: Client,
    { type, invocationId, item }: StreamItem,
    of: Operation,
    t: number,
  ): void {
    const { method } = of;
    try {
      const value = replayedValue(item, client.open.protocol, this.hubProtocol);
      const bytes = this.codec.encode({ type, invocationId, item: value });
      const around = this.codec.encode({ type, invocationId, item: 0 }).length - 1;
      this.keep(client, { t, form: 'item', of, method }, bytes, bytes.length - around);
    } catch (error) {
      this.notSendable(error, `item of a stream to ${method}`);
    }
  }

  private operation(
    client: Client,
    form: Form,
    call: CallMessage,
    t: number,
  ): Operation | undefined {
    if (!this.hasRoom()) return undefined;
    const { target: method, arguments: values, streamIds } = call;
    try {
      const args = values.map((value) =>
        replayedValue(value, client.open.protocol, this.hubProtocol),
      );
      const bytes = this.call(form, method, args, streamIds);
      const payloadBytes = bytes.length - this.call(form, method, [], streamIds).length + 2;
      return this.keep(client, { t, form, method }, bytes, payloadBytes);
    } catch (error) {
      this.notSendable(error, `call of ${method}`);
      return undefined;
    }
  }

  private notSendable(error: unknown, what: string): void {
    if (!(error instanceof NotSendable)) throw error;
    this.leave(`${what} with ${error.message}`);
  }

  private call(
    form: Form,
    target: string,
    args: readonly unknown[],
    streamIds: readonly string[] | undefined,
  ): Buffer {
    const { invocation, streamInvocation } = hubMessageType;
    const rest = { target, arguments: args, ...(streamIds && { streamIds }) };
    return this.codec.encode(
      form === 'stream'
        ? { type: streamInvocation, invocationId: anyStamp, ...rest }
        : { type: invocation, ...(form === 'call' && { invocationId: anyStamp }), ...rest },
    );
  }

  private hasRoom(): boolean {
    if (this.operations < this.bounds.messages && this.bytes.length < this.bounds.bytes)
      return true;
    this.leave('message behind the first part, which is replayed');
    return false;
  }

  private keep(
    client: Client,
    operation: Pick<Operation, 't' | 'form' | 'method' | 'of'>,
    bytes: Buffer,
    payloadBytes = 0,
  ): Operation {
    const at = this.bytes.add(bytes);
    const id = this.protocol === 'webpubsub' ? ackIdPlaceholder : anyStamp;
    const stampAt = hasStamp[operation.form] ? bytes.indexOf(id) : noStamp;
    const kept: Operation = { ...operation, at, length: bytes.length, payloadBytes, stampAt };
    this.operations += 1;
    client.operations.push(kept);
    return kept;
  }

  private isNamed(names: Names, operation: Operation): boolean {
    if (names.add(operation)) return true;
    this.leave(`call of a method beyond the first ${this.bounds.names}`);
    return false;
  }

  private countedSteps(
    clients: readonly Client[],
    { calls }: Names,
  ): { readonly steps: readonly SessionStep[]; readonly itemsOf: readonly number[] } {
    const heard = addedUp(clients.map(({ callbacks }) => callbacks));
    for (const [method, items] of addedUp(clients.map((client) => client.items)))
      heard.set(itemsName(method), items);
    const events = [...heard].map(([event, recorded]): OnStep & { recorded: number } => ({
      ...{ kind: 'on', event, withinMs: 0, keep: {}, recorded },
    }));
    const room = this.bounds.names;
    for (const { recorded } of events.slice(room))
      this.leave('callback of a name beyond those that are counted', recorded);
    const counted = [...calls.map(callStep), ...events.slice(0, room)];
    const names = counted.map((step) => (step.kind === 'on' ? step.event : ''));
    return {
      // The estimate needs the number for each client; nobody runs these steps.
      steps: counted.map((step) => ({
        ...{ kind: 'repeat', everyMs: 0, steps: [step], times: step.recorded / clients.length },
      })),
      itemsOf: calls.map(({ method }) => names.indexOf(itemsName(method))),
    };
  }

  private mostLeftOut(): string {
    const [most] = [...this.leftOut].sort(([, a], [, b]) => b - a);
    return most === undefined ? '' : ` Not replayed: ${most[1]} × ${most[0]}.`;
  }

  private leave(what: string, times?: number): void {
    addCount(this.leftOut, what, times);
  }
}

/** All connections of a run go to one hub. */
export const mostFrequentPath = (opens: readonly OpenEvent[]): string | undefined =>
  mostFrequent(opens.map(({ path }) => path))[0];

export const isReplayable = ({ protocol }: OpenEvent, kind: RecordedKind): boolean =>
  kind === 'webpubsub'
    ? findSubprotocol(protocol) !== undefined
    : protocol === 'json' || protocol === 'messagepack';

const itemsName = (method: string): string => `${method} items`;

function cameFromService({ callbacks, unanswered }: Client, message: RecordedPubSub): void {
  const { type, ackId, success } = message;
  if (type === 'message') addCount(callbacks, type);
  if (type !== 'ack') return;
  const operation = unanswered.get(String(ackId));
  if (operation === undefined) return;
  unanswered.delete(String(ackId));
  operation.answer = success === true ? 'result' : 'error';
}

interface NamedCall {
  readonly method: string;
  readonly isAnswered: boolean;
  recorded: number;
  payloadBytes: number;
}

/** By method, apart for those with and without an answer. */
class Names {
  readonly calls: NamedCall[] = [];
  private readonly numbers = new Map<string, number>();

  constructor(private readonly most: number) {}

  add(operation: Operation): boolean {
    const { form, of } = operation;
    if (form === 'cancel' || form === 'end') return this.numberOf(operation) !== undefined;
    if (of !== undefined && this.numberOf(of) === undefined) return false;
    let number = this.numberOf(operation);
    if (number === undefined) {
      if (this.calls.length >= this.most) return false;
      const isAnswered = operation.answer !== undefined;
      number = this.calls.length;
      const method = form === 'item' ? `${operation.method} items sent` : operation.method;
      this.calls.push({ method, isAnswered, recorded: 0, payloadBytes: 0 });
      this.numbers.set(keyOf(operation), number);
    }
    const call = this.calls[number]!;
    call.recorded += 1;
    call.payloadBytes += operation.payloadBytes;
    return true;
  }

  numberOf(operation: Operation): number | undefined {
    return this.numbers.get(keyOf(operation));
  }
}

function keyOf({ form, method, answer, of }: Operation): string {
  if (form === 'item') return `item ${method}`;
  return of ? keyOf(of) : `${answer === undefined ? 'none' : 'answered'} ${method}`;
}

function callStep({
  method,
  isAnswered,
  recorded,
  payloadBytes,
}: NamedCall): CallStep & { readonly recorded: number } {
  // For the estimate: a text of the mean size, without brackets and quotes.
  const text = Math.max(1, Math.round(payloadBytes / recorded) - 4);
  return {
    ...{ kind: 'call', method, arguments: [`{text:${Math.min(maxPayloadBytes, text)}B}`] },
    ...{ reply: isAnswered ? 'completion' : 'none', receivers: 'self', group: 'none' },
    ...{ withinMs: 0, keep: {}, recorded },
  };
}

/** Hubs call methods in any letter case. */
function addedUp(all: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const names = new Map<string, string>();
  const sums = new Map<string, number>();
  for (const [name, times] of all.flatMap((counts) => [...counts]))
    addCount(
      sums,
      getOrCreate(names, name.toLowerCase(), () => name),
      times,
    );
  return sums;
}

export interface OpenedReplay {
  readonly lengthMs: number;
  readonly steps: string;
  readonly tracks: ReplayTracks;
  readonly notes: readonly string[];
}

/** @throws ExpectedError `recording-invalid`, `nothing-to-replay` */
export async function openReplay(
  folder: string,
  file: string,
  asked: { readonly protocol: ReplayProtocol; readonly speed: number; readonly spreadMs: number },
): Promise<OpenedReplay> {
  const recording = await openNamedRecording(folder, file);
  const name = path.basename(file);
  const { lengthUs, steps, tracks, leftOut } = await readReplay(recording, name, asked.protocol);
  const { dueUs } = tracks;
  for (let at = 0; at < dueUs.length; at++) dueUs[at]! /= asked.speed;
  return {
    lengthMs: Math.floor(lengthUs / asked.speed / 1000) + 1,
    steps: JSON.stringify(steps),
    tracks: { ...tracks, spreadUs: asked.spreadMs * 1000 },
    notes: [...recording.notes(), ...leftOutNotes(name, leftOut)],
  };
}

const mostKinds = 10;

/** One sentence: the editor shows a message for each. */
function leftOutNotes(name: string, leftOut: ReadonlyMap<string, number>): string[] {
  const all = [...leftOut].sort(([, a], [, b]) => b - a);
  const others = all.slice(mostKinds).reduce((sum, [, count]) => sum + count, 0);
  const named = all.slice(0, mostKinds);
  if (others > 0) named.push(['something else', others]);
  const words = named.map(([what, count]) => `${formatCount(count)} × ${what}`).join('; ');
  return words === '' ? [] : [`Not replayed of ${name}: ${words}.`];
}

const kindWords: Readonly<Record<RecordedKind, string>> = {
  signalr: 'a SignalR hub',
  webpubsub: 'Azure Web PubSub with a subprotocol',
};

export const nothingToReplay = ({ kind }: RecordingHeader, name: string): ExpectedError =>
  replayError(`${name} has no client of ${kindWords[kind]}: there is nothing to replay.`);

export const otherServiceRecorded = ({ kind }: RecordingHeader, name: string): ExpectedError =>
  replayError(
    kind === 'webpubsub'
      ? `${name} is a recording of Azure Web PubSub: it is replayed with config.service: webpubsub alone.`
      : `${name} is a recording of a SignalR hub, which Azure Web PubSub does not understand: remove config.service.`,
  );

export const replayError = (problem: string): ExpectedError =>
  new ExpectedError('nothing-to-replay', problem);
