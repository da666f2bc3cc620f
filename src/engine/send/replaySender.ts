import {
  noStamp,
  replayStartUs,
  replayFlag,
  uncountedFlags,
  type ReplayTracks,
  type PlanStep,
} from '../../plan/plan';
import { senderRanksOfWorker, senderCount } from '../../plan/population';
import { isHubProtocol } from '../../base/message';
import { PairTable } from '../../measure/sequence';
import { listCalls, stepsIn } from '../../usecases/sessionSteps';
import { shownText } from '../../wire/connectFailure';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { Completion, StreamItem } from '../../wire/message/hubMessage';
import { firstMessageAckId, messageAckId, type Hole } from '../../wire/message/messageLayout';
import { MessageTemplate } from '../../wire/message/messageTemplate';
import { emptyStamp, stampLength, type Stamp } from '../../wire/message/stamp';
import { codecForProtocol } from '../../wire/connect/connectHub';
import type { CallRecorder, StepRecorder } from '../recorder';
import { DueHeap, type Due } from './dueQueues';
import { EntrySender, type ReceivedMessage, type SenderParts } from './entrySender';
import type { SessionStepWindow } from './session';
import { callNumberOfStamp } from './sessionCalls';

/** A Web PubSub message that asks for an acknowledgement, whose id carries no stamp. */
interface Asked {
  readonly step: number;
  readonly counted: CallRecorder;
  readonly intendedUs: number;
  readonly sentUs: number;
  /** Whether its acknowledgement counts as expected. */
  readonly isExpected: boolean;
  readonly wasRefused: boolean;
}

type ReplayStep = Omit<SessionStepWindow, 'places'>;

class ReplayedClient implements Due {
  wakeUs = 0;
  heapAt = -1;
  /** A replay does not go on over a new connection. */
  connection: HubConnection | undefined;
  streams: Map<number, Stamp> | undefined;
  refused: Set<string> | undefined;

  constructor(
    readonly sender: number,
    readonly beginUs: number,
    public at: number,
    readonly end: number,
  ) {}
}

/** Sends what recorded clients sent, at the recorded times: a late answer delays nothing else. */
export class ReplaySender extends EntrySender<ReplayStep> {
  private readonly tracks: ReplayTracks;
  private readonly codec;
  private readonly stamp = emptyStamp();
  private readonly read = emptyStamp();
  private readonly sequences = new PairTable();
  /** By call: the name under which its items are counted. */
  private readonly itemNames: readonly (string | undefined)[];
  private readonly heap = new DueHeap<ReplayedClient>();
  private readonly clients = new Map<number, ReplayedClient>();
  private window: ReplayStep | undefined;
  /** By connection and acknowledgement id; of this step and the one before. */
  private readonly asked = new Map<number, Map<string, Asked>>();
  private readonly isPubSub: boolean;
  private nextAckId = firstMessageAckId;

  constructor(...parts: SenderParts) {
    super(...parts);
    const { plan, entry } = this;
    this.tracks = entry.tracks!;
    this.codec = codecForProtocol(plan.protocol);
    this.isPubSub = !isHubProtocol(plan.protocol);
    const steps = listCalls(stepsIn(entry.run.session!)).map(({ step }) => step);
    this.itemNames = this.tracks.itemsOf.map((number) => {
      const step = steps[number];
      return step?.kind === 'on' ? step.event : undefined;
    });
  }

  begin(step: PlanStep, atUs: number, recorder: StepRecorder): void {
    this.halt();
    const { plan, position, worker, tracks } = this;
    const { senderOrder } = this.population;
    const window = this.windowOf(step, atUs, recorder);
    const { startUs, measureUs, endUs, recorder: counted } = window;
    this.step = this.window = { ...window, calls: counted.calls! };
    for (const asked of this.asked.values())
      for (const [id, one] of asked) if (one.step < step.index - 1) asked.delete(id);
    const ranks = senderRanksOfWorker(
      senderOrder,
      senderCount(step, position),
      worker,
      plan.workers.length,
    );
    for (const rank of ranks) {
      const sender = senderOrder[rank]!;
      const track = sender % tracks.clients;
      const [at, end] = [tracks.first[track]!, tracks.first[track + 1]!];
      const beginUs = startUs + replayStartUs(tracks, sender, plan.connections);
      const client = new ReplayedClient(sender, beginUs, at, end);
      client.connection = this.dependencies.connection(sender);
      if (client.connection === undefined) {
        if (this.isMissing(sender)) this.countLeft(client, 'skipped');
        continue;
      }
      this.clients.set(sender, client);
      if (at === end) continue;
      if (beginUs >= measureUs && beginUs < endUs) counted.sessions!.started += 1;
      this.sleep(client);
    }
  }

  override halt(): void {
    super.halt();
    for (const client of this.heap.all.slice()) this.heap.remove(client);
    this.clients.clear();
  }

  protected override get dueUs(): number {
    return this.heap.nextUs;
  }

  protected override sendDue(
    _step: ReplayStep,
    _dueUs: number,
    nowUs: number,
    unixMs: number,
  ): void {
    const first = this.heap.first!;
    this.heap.remove(first);
    this.goOn(first, nowUs, unixMs);
  }

  protected override endStep(): void {
    for (const client of this.heap.all.slice()) {
      this.countLeft(client, 'offered');
      this.heap.remove(client);
    }
  }

  /** Counts messages still due in the step that never leave. */
  private countLeft({ at, end, beginUs }: ReplayedClient, as: 'offered' | 'skipped'): void {
    const { calls, measureUs, endUs } = this.window!;
    const { dueUs, flags, call } = this.tracks;
    for (let next = at; next < end && beginUs + dueUs[next]! < endUs; next++)
      if (beginUs + dueUs[next]! >= measureUs && (flags[next]! & uncountedFlags) === 0)
        calls[call[next]!]![as] += 1;
  }

  private sleep(client: ReplayedClient): void {
    client.wakeUs = client.beginUs + this.tracks.dueUs[client.at]!;
    this.heap.push(client);
  }

  private goOn(client: ReplayedClient, nowUs: number, unixMs: number): void {
    const connection = this.dependencies.connection(client.sender);
    if (connection === undefined || connection !== client.connection) {
      this.breakOff(client);
      return;
    }
    this.send(client, connection, nowUs, unixMs);
    client.at += 1;
    if (client.at < client.end) this.sleep(client);
    else this.complete(client, nowUs);
  }

  private complete({ beginUs }: ReplayedClient, nowUs: number): void {
    const { recorder, measureUs, endUs } = this.window!;
    if (beginUs < measureUs || beginUs >= endUs) return;
    recorder.sessions!.completed += 1;
    recorder.sessions!.duration.record(nowUs - beginUs);
  }

  private breakOff(client: ReplayedClient): void {
    const { at, beginUs, sender } = client;
    if (this.isMissing(sender)) this.countLeft(client, 'skipped');
    const { recorder, calls, measureUs, endUs } = this.window!;
    if (beginUs < measureUs || beginUs >= endUs) return;
    recorder.sessions!.brokenOff += 1;
    calls[this.tracks.call[at]!]!.brokenOff += 1;
  }

  private send(
    client: ReplayedClient,
    connection: HubConnection,
    nowUs: number,
    unixMs: number,
  ): void {
    const { at, sender, beginUs, wakeUs: dueUs } = client;
    const { tracks, stamp, population } = this;
    const number = tracks.call[at]!;
    const flags = tracks.flags[at]!;
    const of = tracks.of[at]!;
    if ((flags & uncountedFlags) !== 0) {
      const opened = (flags & replayFlag.ends) !== 0 ? stamp : client.streams?.get(of);
      if (opened !== undefined) this.write(at, connection, opened, unixMs);
      return;
    }
    const { index, calls, measureUs, endUs } = this.window!;
    // The hub can answer once the call's streams have ended: latency counts from there.
    const answerableUs = beginUs + tracks.dueUs[of]!;
    stamp.runId = this.plan.runId;
    stamp.step = index;
    stamp.source = population.firstSource + sender * population.sourcesPerSender + number;
    stamp.warmup = dueUs < measureUs;
    stamp.intendedUs = answerableUs;
    stamp.sentUs = nowUs - dueUs + answerableUs;
    const slot = this.sequences.slot(stamp.source, 0);
    stamp.sequence = this.sequences.values[slot]!++;
    if ((flags & replayFlag.isCancelled) !== 0)
      (client.streams ??= new Map()).set(at, { ...stamp });
    if ((flags & replayFlag.refused) !== 0 && !this.isPubSub)
      (client.refused ??= new Set()).add(`${number} ${stamp.sequence}`);
    const counted = calls[number]!;
    const isExpected = (flags & replayFlag.answered) !== 0 && answerableUs < endUs;
    if (this.isPubSub && tracks.stampAt[at] !== noStamp) {
      const asked = this.asked.get(sender) ?? new Map<string, Asked>();
      asked.set(String(++this.nextAckId), {
        ...{ step: index, counted, intendedUs: answerableUs, sentUs: stamp.sentUs },
        ...{ isExpected: isExpected && !stamp.warmup },
        wasRefused: (flags & replayFlag.refused) !== 0,
      });
      this.asked.set(sender, asked);
    }
    const wireBytes = this.write(at, connection, stamp, unixMs);
    counted.slip.record(nowUs - dueUs, stamp.warmup);
    if (stamp.warmup) return;
    counted.offered += 1;
    counted.sent += 1;
    if (isExpected) counted.expected += 1;
    counted.payloadBytesIn += tracks.payloadBytes[at]!;
    counted.wireBytesIn += wireBytes;
  }

  /** Messages are shared by workers: stamps are written into a copy. */
  private write(at: number, connection: HubConnection, stamp: Stamp, unixMs: number): number {
    const { tracks, codec } = this;
    const { framed } = this.dependencies;
    const { buffer, byteOffset } = tracks.bytes;
    const shared = Buffer.from(buffer, byteOffset + tracks.at[at]!, tracks.length[at]);
    const body = framed ? shared : Buffer.from(shared);
    const stampAt = tracks.stampAt[at]!;
    const hole: Omit<Hole, 'at'> = this.isPubSub
      ? { kind: 'ackId', form: 'number', length: messageAckId.digits }
      : { kind: 'stamp', form: 'text', length: stampLength };
    const holes = stampAt === noStamp ? [] : [{ ...hole, at: stampAt }];
    const template = new MessageTemplate({ body, holes }, codec, framed);
    const source = { index: connection.index, ackId: this.nextAckId };
    return template.sendTo(connection, stamp, undefined, unixMs, source);
  }

  override streamed(at: ReceivedMessage, { invocationId }: StreamItem): void {
    const call = this.callOf(invocationId, at.connection.index);
    const name = call === undefined ? undefined : this.itemNames[call];
    if (name !== undefined && !this.read.warmup)
      this.dependencies.recorder.arrived!(at.nowUs, 0, name, at.bodyBytes);
  }

  /** Handles errors; other completions are counted by the receiver. */
  override completed({ index }: HubConnection, message: Completion, nowUs: number): boolean {
    const { invocationId, error } = message;
    if (this.isPubSub) return this.acknowledged(index, message, nowUs);
    const number = this.callOf(invocationId, index);
    if (number === undefined) return false;
    const { window, read, dependencies } = this;
    if (error === undefined || window === undefined) return true;
    const counted = read.step === window.index ? window.calls[number]! : undefined;
    const wasRefused = this.clients.get(index)?.refused?.delete(`${number} ${read.sequence}`);
    if (wasRefused !== true) dependencies.recorder.error('invocation', shownText(error), counted);
    else if (!read.warmup && counted !== undefined)
      dependencies.recorder.delivered(
        ...([read.step, counted, index, read.intendedUs, read.sentUs, nowUs] as const),
      );
    return true;
  }

  private acknowledged(index: number, { invocationId, error }: Completion, nowUs: number): boolean {
    const own = this.asked.get(index);
    const asked = own?.get(invocationId);
    if (asked === undefined) return false;
    own!.delete(invocationId);
    const { step, counted, intendedUs, sentUs, isExpected, wasRefused } = asked;
    const { recorder } = this.dependencies;
    if (error !== undefined && !wasRefused) recorder.error('invocation', shownText(error), counted);
    else if (isExpected) recorder.delivered(step, counted, index, intendedUs, sentUs, nowUs);
    return true;
  }

  private callOf(invocationId: string, index: number): number | undefined {
    return callNumberOfStamp(invocationId, index, this.plan, this.population, this.read);
  }

  override lost(index: number): void {
    this.asked.delete(index);
    const client = this.clients.get(index);
    if (client === undefined || client.heapAt < 0) return;
    this.heap.remove(client);
    this.breakOff(client);
  }
}
