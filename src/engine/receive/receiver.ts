import { isHubProtocol } from '../../base/message';
import { createPayloadPicker, type PayloadPicker } from '../../plan/draws';
import { agentOfWorker, hasSeveralClocks, type Plan } from '../../plan/plan';
import { entryIndexOfSource, hasManyReceivers, type Population } from '../../plan/population';
import { SequenceTracker } from '../../measure/sequence';
import { shownText } from '../../wire/connectFailure';
import type { HubConnection, HubListener } from '../../wire/hub/clientConnection';
import type { HubCodec, Span } from '../../wire/message/hubCodec';
import { codecForProtocol } from '../../wire/connect/connectHub';
import { audienceOfStep, listCalls, sizesOfStep, stepsIn } from '../../usecases/sessionSteps';
import type { StreamShape } from '../../usecases/streams';
import { hubMessageType, type HubMessage } from '../../wire/message/hubMessage';
import { emptyStamp, readStamp } from '../../wire/message/stamp';
import {
  deliveryPatternsOf,
  StreamItemPattern,
  OwnItems,
  type DeliveryPattern,
} from './deliveryPattern';
import type { EntryRecorder, Recorder, StepRecorder } from '../recorder';
import type { MemberChange, SharedMembers } from '../prepare/sharedMembers';
import type { TimeToAllTracker } from '../prepare/timeToAllTracker';
import type { ReceivedMessage, ItemHandler } from '../send/entrySender';

interface ReceiverContext {
  readonly nowUs: () => number;
  readonly members: Pick<SharedMembers, 'wasMember' | 'changedNear'> &
    Partial<Pick<SharedMembers, 'came'>>;
  readonly codec?: HubCodec;
  readonly worker?: number;
  readonly reach?: TimeToAllTracker | undefined;
  readonly other: (at: ReceivedMessage, message: HubMessage) => void;
  /** Runs once everything read at that time is counted. */
  readonly handled?: (nowUs: number, connection: HubConnection) => void;
  readonly streams?: {
    arrived(entry: number, index: number, source: number, sequence: number): void;
    answered?(entry: number, at: ReceivedMessage, call: number, sequence: number): void;
    readonly itemCame: ItemHandler;
  };
}

type Listening = Required<Pick<HubListener, 'received' | 'message'>>;

const nowhere = Buffer.alloc(0);

/** Approximate bytes around the result of a completion whose id is a stamp. */
const answerEnvelopeBytes = 96;

/** Largest that a 32-bit counter can track; no sender gets there. */
const highestSequence = 0x7ffffffe;

/** Usual deliveries are recognised by their first bytes and their stamp is read in place; everything else is parsed. */
export class Receiver implements Listening {
  private readonly codec: HubCodec;
  private readonly hasNames: boolean;
  private readonly patternsOf: readonly (readonly DeliveryPattern[])[];
  private readonly moving: readonly (readonly boolean[])[];
  /** By entry and call: payload of callbacks; undefined for completions, whose size varies. */
  private readonly callPayloads: readonly (readonly (PayloadPicker | undefined)[] | undefined)[];
  private readonly patterns: readonly DeliveryPattern[];
  private readonly span: Span = { start: 0, end: 0, next: 0 };
  /** Reused for all messages: nothing is allocated. */
  private readonly stamp = emptyStamp();
  private readonly tracker: SequenceTracker;
  private readonly payloads: readonly PayloadPicker[];
  private readonly streams: readonly (StreamShape | undefined)[];
  private readonly ownItems: OwnItems | undefined;
  /** By worker: its agent if that is another one. Absent with a single clock. */
  private readonly otherAgent: readonly (number | undefined)[] | undefined;
  private readonly fresh = new RetractableArrivals();
  private damagedText: string | undefined;
  private readonly at: ReceivedMessage = {
    ...{ connection: undefined as unknown as HubConnection, nowUs: 0 },
    ...{ wireBytes: 0, bodyBytes: 0, bytes: nowhere, start: 0, end: 0 },
  };

  constructor(
    private readonly plan: Plan,
    private readonly populations: readonly Population[],
    private readonly recorder: Recorder,
    private readonly context: ReceiverContext,
  ) {
    this.codec = context.codec ?? codecForProtocol(plan.protocol);
    this.hasNames = isHubProtocol(plan.protocol);
    this.patternsOf = deliveryPatternsOf(plan, this.codec);
    this.patterns = [...new Set(this.patternsOf.flat())];
    const sessions = plan.entries.map(({ run: { session } }) =>
      session === undefined ? undefined : listCalls(stepsIn(session)).map(({ step }) => step),
    );
    this.moving = populations.map(
      ({ othersMove }, entry) =>
        sessions[entry]?.map((step) => othersMove && audienceOfStep(step) === 'group') ?? [
          othersMove,
        ],
    );
    this.callPayloads = sessions.map((steps) =>
      steps?.map((step) =>
        step.kind === 'call' && step.reply === 'callback'
          ? createPayloadPicker(sizesOfStep(step), plan.seed)
          : undefined,
      ),
    );
    this.payloads = plan.entries.map(({ payload }) =>
      createPayloadPicker(payload.sizes, plan.seed),
    );
    this.streams = plan.entries.map((entry) => entry.run.streams);
    const follower = context.streams;
    const ownStreams =
      this.streams.some((streams) => streams?.own !== undefined) ||
      sessions.some((steps) => steps?.some(({ kind }) => kind === 'stream'));
    if (follower !== undefined && ownStreams) this.ownItems = new OwnItems(plan.protocol, follower);
    const { worker = 0 } = context;
    if (hasSeveralClocks(plan)) {
      const own = agentOfWorker(plan, worker);
      this.otherAgent = plan.workers.map((_, other) => {
        const agent = agentOfWorker(plan, other);
        return agent === own ? undefined : agent;
      });
    }
    this.tracker = new SequenceTracker(Math.ceil(plan.connections / plan.workers.length));
  }

  readonly received: Listening['received'] = (connection, buffer, start, end, frameBytes) => {
    const { codec, span, ownItems, at } = this;
    const nowUs = this.begin(connection);
    let headerBytes = frameBytes - (end - start);
    at.bytes = buffer;
    for (let from = start; from < end && !connection.stopped; from = span.next) {
      codec.find(buffer, from, end, span);
      at.start = span.start;
      at.end = span.end;
      at.bodyBytes = span.end - span.start;
      at.wireBytes = span.next - from + headerBytes;
      headerBytes = 0;
      if (ownItems?.takeUsual(at)) continue;
      const pattern = this.usual(at) ?? this.unusual(at);
      if (pattern !== undefined) this.count(at, pattern);
    }
    this.context.handled?.(nowUs, connection);
  };

  readonly message: Listening['message'] = (connection, message, bodyBytes, wireBytes) => {
    const { at } = this;
    const nowUs = this.begin(connection);
    Object.assign(at, { bodyBytes, wireBytes, bytes: nowhere, start: 0, end: 0 });
    const found = this.parsed(at, message);
    if (found !== undefined) this.count(at, found.pattern);
    this.context.handled?.(nowUs, connection);
  };

  private begin(connection: HubConnection): number {
    const nowUs = this.context.nowUs();
    connection.lastReceivedUs = nowUs;
    this.at.connection = connection;
    this.at.nowUs = nowUs;
    return nowUs;
  }

  /** A membership change may make recent deliveries ambiguous. */
  changed(change: MemberChange): void {
    this.fresh.changed(change);
  }

  reportWrongNames(): void {
    for (const pattern of this.patterns)
      for (const text of pattern.wrongNames?.() ?? []) this.recorder.error('other', text);
  }

  private usual({ bytes, start, end }: ReceivedMessage): DeliveryPattern | undefined {
    for (const pattern of this.patterns) {
      const stampAt = pattern.usualStamp(bytes, start, end);
      if (stampAt >= 0 && readStamp(bytes, stampAt, this.stamp)) return pattern;
    }
    return undefined;
  }

  /** For messages that look unusual; others than deliveries are handed on. */
  private unusual(at: ReceivedMessage): DeliveryPattern | undefined {
    const { bytes, start, end } = at;
    const message = this.codec.read(bytes, start, end);
    const found = message && this.parsed(at, message);
    if (found === undefined) return undefined;
    const stampAt = bytes.indexOf(found.text, start, 'latin1');
    if (stampAt >= start && stampAt < end) found.pattern.learn?.(bytes, start, stampAt);
    return found.pattern;
  }

  /** For a parsed message, with the text of its stamp. */
  private parsed(
    at: ReceivedMessage,
    message: HubMessage,
  ): { readonly pattern: DeliveryPattern; readonly text: string } | undefined {
    if (this.ownItems?.take(at, message)) return undefined;
    let damaged: string | undefined;
    for (const pattern of this.patterns) {
      const text = pattern.stampIn(message);
      if (text === undefined) continue;
      if (readStamp(Buffer.from(text, 'latin1'), 0, this.stamp)) return { pattern, text };
      damaged ??= text;
    }
    if (damaged !== undefined) this.reportDamaged(damaged);
    for (const pattern of this.patterns) {
      const problem = pattern.problemOf?.(message);
      if (problem !== undefined) this.recorder.error('other', problem);
      pattern.keepName?.(message);
    }
    const { invocation, completion, streamItem } = hubMessageType;
    if (message.type === invocation) this.countPush(at, message.target);
    else if (message.type === completion || message.type === streamItem) this.countPush(at);
    this.context.other(at, message);
    return undefined;
  }

  /** Web PubSub messages have no names. Without a target only bytes count. */
  private countPush({ nowUs, wireBytes, bodyBytes }: ReceivedMessage, target?: string): void {
    const name = target === undefined || this.hasNames ? target : 'message';
    this.recorder.arrived(nowUs, wireBytes, name, bodyBytes);
  }

  /** Keeps the first text as the example, so that all errors have the same text. */
  private reportDamaged(text: string): void {
    const example = (this.damagedText ??= shownText(text));
    const words = `a delivery brought back a damaged text, so it cannot be matched to a message: “${example}”`;
    this.recorder.error('other', words);
  }

  private count(at: ReceivedMessage, pattern: DeliveryPattern): void {
    const { stamp, recorder } = this;
    const { nowUs, wireBytes } = at;
    const step = stamp.runId === this.plan.runId ? recorder.steps[stamp.step] : undefined;
    if (step === undefined) {
      this.countPush(at, pattern.callback);
      return;
    }
    // A source invented by a hub must not fill the tracker.
    const entry = entryIndexOfSource(this.populations, stamp.source);
    const population = this.populations[entry];
    const shape = this.streams[entry];
    let counted = step.entries[entry] ?? step;
    const { index } = at.connection;
    const { calls } = counted;
    let call = 0;
    if (calls !== undefined && population !== undefined) {
      call = (stamp.source - population.firstSource) % calls.length;
      counted = calls[call]!;
    }
    // A completion with an error is no delivery.
    if (population !== undefined && this.patternsOf[entry]![call]!.kind !== pattern.kind) {
      this.countPush(at, pattern.callback);
      return;
    }
    const moves = population !== undefined && this.moving[entry]![call]!;
    const fromAgent =
      this.otherAgent === undefined || population === undefined
        ? undefined
        : this.otherAgent[this.workerOf(population)];
    const { ambiguousUs } = counted;
    const mayDiffer = fromAgent !== undefined && ambiguousUs > 0;
    if (mayDiffer && this.isAmbiguous(population!, index, moves, ambiguousUs)) {
      if (!stamp.warmup) counted.countWireOut(wireBytes, nowUs);
      return;
    }
    const source = stamp.source - (population?.firstSource ?? 0);
    const isReceiver = population?.isReceiver(source, index) === true;
    const isMember = isReceiver && this.context.members.wasMember(index, stamp.sentUs, moves);
    const meant =
      isMember &&
      (shape?.direction !== 'download' || this.moveToItem(shape, pattern, counted)) &&
      stamp.sequence <= highestSequence;
    const unmeant = isReceiver && !isMember ? 'leaving' : 'extra';
    const arrival = meant ? this.tracker.classify(index, stamp.source, stamp.sequence) : 'first';
    if (meant && moves && arrival !== 'duplicate') this.context.members.came?.(index);
    if (meant && shape !== undefined && shape.wanted < shape.items)
      this.context.streams?.arrived(entry, index, source, stamp.sequence);
    if (calls !== undefined && (meant || this.isCallback(entry, call)))
      this.context.streams?.answered?.(entry, at, call, stamp.sequence);
    if (stamp.warmup) return;
    counted.countWireOut(wireBytes, nowUs);
    if (mayDiffer && nowUs - stamp.sentUs <= ambiguousUs && arrival !== 'duplicate')
      this.noteFresh(step, counted, moves, index, nowUs, meant ? undefined : unmeant);
    if (!meant) {
      counted[unmeant] += 1;
    } else if (arrival === 'duplicate') {
      counted.duplicated += 1;
    } else {
      if (arrival === 'outOfOrder') counted.outOfOrder += 1;
      const { intendedUs, sentUs } = stamp;
      recorder.delivered(stamp.step, counted, index, intendedUs, sentUs, nowUs, fromAgent);
      if (step.isLate(nowUs, sentUs)) return;
      counted.payloadBytesOut +=
        calls !== undefined
          ? this.bytesOfAnswer(entry, call, wireBytes)
          : (step.messageBytes ?? this.payloadOf(entry, index));
      const { reach } = this.context;
      if (reach !== undefined && calls === undefined && hasManyReceivers(population)) {
        const tookUs = reach.arrived(stamp, nowUs - stamp.intendedUs);
        if (tookUs >= 0) counted.timeToAll.record(tookUs);
      }
    }
  }

  private isCallback(entry: number, call: number): boolean {
    return this.callPayloads[entry]?.[call] !== undefined;
  }

  private workerOf({ firstSource, sourcesPerSender }: Population): number {
    const sender = Math.floor((this.stamp.source - firstSource) / sourcesPerSender);
    return sender % this.plan.workers.length;
  }

  private isAmbiguous(
    population: Population,
    index: number,
    moves: boolean,
    withinUs: number,
  ): boolean {
    const { source, sentUs } = this.stamp;
    const { members } = this.context;
    return (
      population.isReceiver(source - population.firstSource, index) &&
      members.changedNear(index, sentUs, moves, withinUs)
    );
  }

  private noteFresh(
    step: StepRecorder,
    counted: EntryRecorder,
    othersMove: boolean,
    index: number,
    arrivedUs: number,
    unmeant: 'extra' | 'leaving' | undefined,
  ): void {
    const { sentUs } = this.stamp;
    const as = unmeant ?? (step.isLate(arrivedUs, sentUs) ? 'late' : 'received');
    const isLater = as === 'received' && arrivedUs > step.measuredUntilUs;
    this.fresh.note({ counted, index, sentUs, arrivedUs, othersMove, as, isLater });
  }

  /** Moves the stamp from the request to the item; false if the item was not requested. */
  private moveToItem(
    { wanted, delayMs }: StreamShape,
    pattern: DeliveryPattern,
    counted: EntryRecorder,
  ): boolean {
    const { stamp } = this;
    const itemNumber = pattern instanceof StreamItemPattern ? pattern.itemNumber : -1;
    if (itemNumber < 0) return false;
    const laterUs = itemNumber * delayMs * 1000;
    stamp.sequence += itemNumber;
    stamp.intendedUs += laterUs;
    stamp.sentUs += laterUs;
    stamp.warmup = stamp.intendedUs < counted.measureUs;
    return itemNumber < wanted && stamp.intendedUs <= counted.untilUs;
  }

  private bytesOfAnswer(entry: number, call: number, wireBytes: number): number {
    const payload = this.callPayloads[entry]![call];
    if (payload === undefined) return Math.max(0, wireBytes - answerEnvelopeBytes);
    return payload.sizes[payload.pick(this.stamp.source, 0, this.stamp.sequence)]!;
  }

  /** Payload bytes of the current delivery, by the sender's random choice. */
  private payloadOf(entry: number, receiver: number): number {
    const { stamp } = this;
    const { audience, fixedTargets } = this.populations[entry]!;
    const payload = this.payloads[entry]!;
    const stream = audience === 'client' && fixedTargets === undefined ? receiver : 0;
    return payload.sizes[payload.pick(stamp.source, stream, stamp.sequence)]!;
  }
}

interface ArrivalCounts {
  received: number;
  receivedLater: number;
  late: number;
  extra: number;
  leaving: number;
  readonly ambiguousUs: number;
}

interface Arrival {
  readonly counted: ArrivalCounts;
  readonly index: number;
  readonly sentUs: number;
  readonly arrivedUs: number;
  readonly othersMove: boolean;
  readonly as: 'received' | 'late' | 'extra' | 'leaving';
  readonly isLater?: boolean;
}

/** More than arrive within twice the clock uncertainty. */
const mostKept = 2 ** 14;

/**
 * Deliveries from other agents that arrived, by the clocks, nearly when they were sent. If their receiver joins or
 * leaves right after, they turn out to be ambiguous and are counted on neither side.
 */
export class RetractableArrivals {
  private readonly ring: (Arrival | undefined)[] = [];
  private count = 0;

  note(arrival: Arrival): void {
    this.ring[this.count++ % mostKept] = arrival;
  }

  changed({ index, atUs, where }: MemberChange): void {
    const least = Math.max(0, this.count - mostKept);
    for (let number = this.count - 1; number >= least; number--) {
      const arrival = this.ring[number % mostKept];
      if (arrival === undefined) continue;
      const { counted, sentUs, arrivedUs, as, isLater } = arrival;
      const { ambiguousUs } = counted;
      if (arrivedUs < atUs - 2 * ambiguousUs) return;
      if (arrival.index !== index) continue;
      if (where === (arrival.othersMove ? 'outside' : 'inside')) continue;
      if (Math.abs(sentUs - atUs) > ambiguousUs) continue;
      counted[as] -= 1;
      if (isLater === true) counted.receivedLater -= 1;
      this.ring[number % mostKept] = undefined;
    }
  }
}
