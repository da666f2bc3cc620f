import { PairTable } from '../../measure/sequence';
import type { Plan, PlanEntry } from '../../plan/plan';
import type { Population } from '../../plan/population';
import {
  audienceOfStep,
  listCalls,
  isListenOnly,
  mostEvents,
  namesGroup,
  excludesCaller,
  type CallAudience,
  type CountedStep,
  type SessionStep,
} from '../../usecases/sessionSteps';
import type { HubConnection } from '../../wire/hub/clientConnection';
import { hubMessageType } from '../../wire/message/hubMessage';
import { streamIdLength } from '../../wire/message/messageLayout';
import { emptyStamp, readStamp, stampLength, writeHex, type Stamp } from '../../wire/message/stamp';
import type { PushedMessage } from '../recorder';
import { CallMessages, compileKeep } from './callMessages';
import { isSkippedSender, type SenderDependencies } from './entrySender';
import { WaitingQueue, type ReceivedEvent, type Session, type SessionStepWindow } from './session';

/** See {@link import('./openStream').streamCallNumber}. */
const callLetter = 0x69;

export interface CompiledCall {
  readonly step: CountedStep;
  readonly name: string;
  /** Per session; 0 where that varies. */
  readonly times: number;
  readonly audience: CallAudience;
  readonly waits: boolean;
  readonly queue: WaitingQueue | undefined;
  readonly keepers: ReturnType<typeof compileKeep>;
  /** Bit of the event it waits for, or of its callback. */
  readonly event: number;
  readonly namesGroup: boolean;
  readonly excludesCaller: boolean;
  /** Each call requests a completion, not only the first. */
  readonly asksAlways: boolean;
}

function bitOf(eventNames: readonly string[], event: string): number {
  const at = eventNames.indexOf(event.toLowerCase());
  return at < 0 ? 0 : 2 ** at;
}

/** Runtime form of a session's calls, one queue per timeout, and lower-case event names. */
export function compileCalls(steps: readonly SessionStep[]): {
  readonly calls: readonly CompiledCall[];
  readonly queues: readonly WaitingQueue[];
  readonly eventNames: readonly string[];
} {
  const found = listCalls(steps);
  const events = found.flatMap(({ step }) =>
    step.kind === 'on' && !isListenOnly(step) ? [step.event.toLowerCase()] : [],
  );
  const eventNames = [...new Set(events)].slice(0, mostEvents);
  const queues = new Map<number, WaitingQueue>();
  const calls = found.map(({ step, name, times = 0 }): CompiledCall => {
    const waits = !isListenOnly(step) && (step.kind !== 'call' || step.reply === 'completion');
    let queue = waits ? queues.get(step.withinMs) : undefined;
    if (waits && queue === undefined)
      queues.set(step.withinMs, (queue = new WaitingQueue(step.withinMs * 1000)));
    const event = step.kind === 'on' ? step.event : step.kind === 'call' ? step.callback : '';
    return {
      ...{ step, name, times, waits, queue, audience: audienceOfStep(step) },
      keepers: step.kind === 'stream' ? [] : compileKeep(step.keep),
      event: bitOf(eventNames, event ?? ''),
      namesGroup: namesGroup(step),
      excludesCaller: excludesCaller(step),
      asksAlways: step.kind === 'call' && step.answered === true,
    };
  });
  return { calls, queues: [...queues.values()], eventNames };
}

export function timeoutText({ step, name, queue }: CompiledCall): string {
  const within = `within ${Number((queue!.withinUs / 1e6).toFixed(3))} s`;
  if (step.kind === 'on') return `${name}: the hub did not call it ${within}`;
  return step.kind === 'stream'
    ? `${name}: the stream was not completed ${within}`
    : `${name}: no answer ${within}`;
}

/** At the end of a step an event is lost only if it took this many times the slowest one seen, at least `usualUs`. */
const patience = 2;
const usualUs = 500_000;

/** Approximate bytes around an event's name and arguments. */
const eventEnvelopeBytes = { json: 35, messagepack: 7 };

export function eventArgumentBytes(
  { name, bytes }: PushedMessage,
  { protocol }: Pick<Plan, 'protocol'>,
): number {
  const form = protocol === 'messagepack' ? 'messagepack' : 'json';
  return Math.max(1, bytes - name.length - eventEnvelopeBytes[form]);
}

export class SessionEvents {
  private readonly keptBits: number;
  /** By call: the slowest event of the step, microseconds. */
  private readonly slowestUs: Float64Array;

  constructor(
    calls: readonly CompiledCall[],
    private readonly names: readonly string[],
  ) {
    this.keptBits = calls
      .filter(({ keepers: all }) => all.length > 0)
      .reduce((bits, { event }) => bits | event, 0);
    this.slowestUs = new Float64Array(calls.length);
  }

  begin(): void {
    this.slowestUs.fill(0);
  }

  bitOf(name: string): number {
    return bitOf(this.names, name);
  }

  /** Remembers an event for a later `on` step. */
  note(session: Session, event: number, heard: ReceivedEvent): void {
    session.events |= event;
    const { push } = heard;
    const args = (this.keptBits & event) === 0 ? undefined : heard.args;
    (session.heard ??= [])[Math.log2(event)] = { args, push };
  }

  take(session: Session, event: number): ReceivedEvent | undefined {
    if ((session.events & event) === 0) return undefined;
    session.events &= ~event;
    return session.heard![Math.log2(event)];
  }

  took(call: number, us: number): void {
    this.slowestUs[call] = Math.max(this.slowestUs[call]!, us, usualUs);
  }

  /** The event may have been due after the end of the step. */
  isLostAfter(call: number, us: number): boolean {
    return us > patience * this.slowestUs[call]!;
  }
}

export class SessionCalls {
  private readonly messages: CallMessages;
  private readonly stamp = emptyStamp();
  /** Stamp read by {@link callOf}. */
  readonly answer = emptyStamp();
  private readonly sequences = new PairTable();
  private readonly asked = new PairTable();
  private readonly groupNames: (Buffer | undefined)[] = [];
  private readonly kept = new Map<string, string>();
  private readonly source = {
    ...{ index: 0, id: undefined as Buffer | undefined },
    callId: Buffer.alloc(streamIdLength, callLetter),
  };
  private streams = 0;
  private seenVersion = -1;
  /** Time of the last read; calls in the same go are not sent before it. */
  private seenUs = 0;

  constructor(
    private readonly plan: Plan,
    entry: PlanEntry,
    private readonly population: Population,
    private readonly dependencies: SenderDependencies,
    private readonly calls: readonly CompiledCall[],
  ) {
    const steps = calls.map(({ step }) => step);
    this.messages = new CallMessages(plan, entry, steps, dependencies);
    this.stamp.runId = plan.runId;
    for (const { step, name } of calls)
      for (const [value, path] of step.kind === 'stream' ? [] : Object.entries(step.keep))
        this.kept.set(value, `${path} of ${name}`);
  }

  /**
   * Sends a call of the session, whose connection is open. Returns undefined when it was sent, else the missing kept
   * value as an error text, or '' when there is nobody to send to. @param expects counts its deliveries as expected
   */
  send(
    session: Session,
    number: number,
    nowUs: number,
    unixMs: number,
    expects: boolean,
  ): string | undefined {
    const { window, sender, connection, dueUs } = session;
    const { stamp, population, dependencies, source, sequences } = this;
    const { members } = dependencies;
    const call = this.calls[number]!;
    const counted = window.calls[number]!;
    const receiver = this.receiverOf(sender, call);
    if (receiver === null) return '';
    const isFollowed = call.audience === 'group' && population.othersMove;
    if (isFollowed) members.counting!(this.groupOf(sender), true);
    let [receivers, sentUs, isSpared] = [0, Math.max(nowUs, this.seenUs), false];
    // Receivers and send time must be on the same side of each membership change.
    for (let version = members.version(), before = -1; before !== version;) {
      before = version;
      if (version !== this.seenVersion) this.seenUs = sentUs = dependencies.nowUs();
      this.seenVersion = version;
      receivers = this.receiversOf(sender, call);
      isSpared = call.excludesCaller && members.wasMember!(sender, Math.floor(sentUs), isFollowed);
      version = members.version();
    }
    if (isFollowed) members.counting!(this.groupOf(sender), false);
    if (isSpared) {
      receivers -= 1;
      if (isFollowed) members.came!(sender);
    }
    stamp.step = window.index;
    stamp.source = population.firstSource + sender * population.sourcesPerSender + number;
    stamp.warmup = dueUs < window.measureUs;
    stamp.intendedUs = this.plan.pacing === 'open' ? dueUs : sentUs;
    stamp.sentUs = sentUs;
    source.index = sender;
    source.id = members.idOf(sender);
    const isStream = call.step.kind === 'stream';
    if (isStream) this.openStream(session);
    const slot = sequences.slot(stamp.source, 0);
    stamp.sequence = sequences.values[slot]!;
    const asks = !call.waits && (call.asksAlways || this.asks(sender, number));
    const options = { asks, session, unixMs };
    const missing = this.messages.send(number, connection!, stamp, receiver, source, options);
    if (missing !== undefined) return this.missingValue(call, missing);
    sequences.values[slot] = stamp.sequence + 1;
    session.sequence = stamp.sequence;
    session.sentUs = sentUs;
    session.callDueUs = dueUs;
    counted.slip.record(sentUs - Math.max(dueUs, session.freeUs), stamp.warmup);
    if (stamp.warmup) return undefined;
    counted.offered += 1;
    counted.sent += 1;
    if (expects) counted.expected += call.step.kind === 'stream' ? call.step.items : receivers;
    if (dependencies.elsewhere !== undefined && reachesOthers(call))
      counted.expected += dependencies.elsewhere.sent(
        this.groupOf(sender),
        Math.floor(sentUs),
        window.places[number]!,
      );
    counted.payloadBytesIn += this.messages.payloadBytes;
    counted.wireBytesIn += this.messages.wireBytes;
    return undefined;
  }

  /** Whether the connection is missing; its messages are then counted as skipped. */
  skips(
    { calls, measureUs }: SessionStepWindow,
    sender: number,
    dueUs: number,
    sessions = 1,
  ): boolean {
    if (this.dependencies.connection(sender) !== undefined) return false;
    if (dueUs >= measureUs && isSkippedSender(this.dependencies, sender))
      for (const [number, { step, times }] of this.calls.entries())
        if (step.kind !== 'on') calls[number]!.skipped += times * sessions;
    return true;
  }

  private missingValue({ name }: CompiledCall, value: string): string {
    const where = this.kept.get(value) ?? 'nothing';
    return `${name} needs {${value}}, but there was none: ${where} found nothing that can be kept`;
  }

  /** Undefined where messages name none; null when there is none to name. */
  private receiverOf(sender: number, call: CompiledCall): Buffer | undefined | null {
    const { population, dependencies } = this;
    if (call.audience === 'client')
      return dependencies.members.idOf(population.fixedTargets![sender]!) ?? null;
    if (!call.namesGroup) return undefined;
    const group = population.groupOf(sender, 0);
    return (this.groupNames[group] ??= Buffer.from(population.groupName(group), 'latin1'));
  }

  private receiversOf(sender: number, { audience }: CompiledCall): number {
    const { members } = this.dependencies;
    switch (audience) {
      case 'nobody':
        return 0;
      case 'self':
        return 1;
      case 'client':
        return members.isOpen(this.population.fixedTargets![sender]!) ? 1 : 0;
      case 'group':
      case 'everyone':
        return members.count(this.groupOf(sender));
    }
  }

  private groupOf(sender: number): number {
    return this.population.firstGroup + this.population.groupOf(sender, 0);
  }

  /** Each sender's first call of a kind requests a completion, since errors are reported only that way. */
  private asks(sender: number, call: number): boolean {
    const slot = this.asked.slot(sender, call);
    const isFirst = this.asked.values[slot] === 0;
    this.asked.values[slot] = 1;
    return isFirst;
  }

  private openStream(session: Session): void {
    this.streams = (this.streams + 1) % 2 ** 32;
    session.streamId = this.streams;
    session.items = 0;
    writeHex(this.source.callId, 1, streamIdLength - 1, this.streams);
  }

  cancelStream({ streamId }: Session, connection: HubConnection): void {
    writeHex(this.source.callId, 1, streamIdLength - 1, streamId);
    const invocationId = this.source.callId.toString('latin1');
    connection.sendMessage({ type: hubMessageType.cancelInvocation, invocationId });
  }

  /** Leaves the stamp in {@link answer}. */
  callOf(invocationId: string, index: number): number | undefined {
    return callNumberOfStamp(invocationId, index, this.plan, this.population, this.answer);
  }
}

/** Reads the stamp in an invocation id; undefined when the connection has not made that call. */
export function callNumberOfStamp(
  invocationId: string,
  index: number,
  { runId }: Pick<Plan, 'runId'>,
  { firstSource, sources, sourcesPerSender }: Population,
  stamp: Stamp,
): number | undefined {
  if (invocationId.length !== stampLength) return undefined;
  if (!readStamp(Buffer.from(invocationId, 'latin1'), 0, stamp)) return undefined;
  const source = stamp.source - firstSource;
  const isOurs = stamp.runId === runId && source >= 0 && source < sources;
  const isItsOwn = isOurs && Math.floor(source / sourcesPerSender) === index;
  return isItsOwn ? source % sourcesPerSender : undefined;
}

const reachesOthers = ({ audience }: CompiledCall): boolean =>
  audience === 'group' || audience === 'everyone';

/** Deliveries to the caller, known before the call. */
export function deliveriesToCaller(call: CompiledCall | undefined): number {
  if (call === undefined || call.step.kind === 'on' || call.audience !== 'self') return 0;
  return call.step.kind === 'stream' ? call.step.items : 1;
}

export const leavesGroup = ({ step }: CompiledCall): boolean =>
  step.kind === 'call' && step.group === 'leave';
