import type { HubConnection } from '../../wire/hub/clientConnection';
import type { HubCodec } from '../../wire/message/hubCodec';
import type { Completion, Invocation, StreamItem } from '../../wire/message/hubMessage';
import type { PersistentSends } from '../../wire/service/persistentSends';
import type { RestCalls } from '../../wire/rest/restCalls';
import type { EntryRecorder, Recorder, StepRecorder } from '../recorder';
import type { MessageRows } from './messageRows';
import type { Preparation } from '../prepare/preparation';
import type { SharedMembers } from '../prepare/sharedMembers';
import type { MembersElsewhere } from '../prepare/membersElsewhere';
import type { SharedReach } from '../prepare/sharedReach';
import type { Random } from '../../base/random';
import { Activity } from '../../plan/activity';
import { intervalSeed, randomFor } from '../../plan/draws';
import { drawnTiming, drawsOf, evenTiming, jitterTiming } from '../../plan/intervals';
import { DrawnPace, Pace, type Pacing } from '../../plan/pace';
import type { Plan, PlanEntry, PlanStep } from '../../plan/plan';
import { ranksOf, sendersOf, type Population } from '../../plan/population';

/** The message at hand; good until the next one. */
export interface ReceivedMessage {
  connection: HubConnection;
  nowUs: number;
  /** With its frame, and without what marks its end. */
  wireBytes: number;
  bodyBytes: number;
  /** Where it stands; nowhere, where an official client has read it. */
  bytes: Buffer;
  start: number;
  end: number;
}

/** Takes an item of a stream of the user's own; false when the connection has no such streams. */
export type TakeItem = (at: ReceivedMessage, call: number, payloadBytes: number) => boolean;

/** What only sessions need, loaded where there are some. */
export interface SessionParts {
  readonly Sender: new (...parts: SenderParts) => EntrySender;
  readonly ReplaySender: new (...parts: SenderParts) => EntrySender;
}

/** Connections are those of the whole run. */
export interface SenderDependencies {
  /** Where it is measured when messages have reached all their receivers. */
  readonly reach?: SharedReach | undefined;
  readonly members: Pick<SharedMembers, 'version' | 'isOpen' | 'count' | 'idOf'> &
    Partial<Pick<SharedMembers, 'move' | 'counting' | 'missing' | 'wasMember' | 'came'>>;
  /** Where the plan has sessions. */
  readonly sessions?: SessionParts | undefined;
  /** Where the plan has several agents. */
  readonly elsewhere?: Pick<MembersElsewhere, 'placeOf' | 'sent'> | undefined;
  /** The worker's own connection of that index; undefined when it does not take part. */
  readonly connection: (index: number) => HubConnection | undefined;
  /** Whether it is away by our own will, and comes back; absent: none is. */
  readonly isExchanged?: (index: number) => boolean;
  /** Whether messages leave as WebSocket frames, not as bare hub messages in HTTP bodies. */
  readonly framed: boolean;
  /** How messages are encoded; absent: by the protocol of the plan. */
  readonly codec?: HubCodec;
  /** An official client encodes what leaves. */
  readonly takesMessages?: boolean;
  /** Calls to the service's REST API; absent where the target is a hub. */
  readonly rest?: RestCalls;
  /** The server connection to the service; absent where no use case sends over one. */
  readonly persistent?: PersistentSends;
  /** Values that messages may hold of their senders' rows; absent: there are no rows. */
  readonly rows?: MessageRows | undefined;
  /** Calls a hub method and waits for its answer; absent where nobody moves. */
  readonly invoke?: Preparation['invoke'];
  /** Run time. */
  readonly nowUs: () => number;
  /** Counts errors, and deliveries that are no messages of their own. */
  readonly recorder: Pick<Recorder, 'delivered' | 'error'> &
    Partial<Pick<Recorder, 'arrived' | 'awaited'>>;
}

/** Whether what is due there is skipped: it is not connected, and not because we exchange it. */
export const isMissing = (
  { connection, isExchanged }: Pick<SenderDependencies, 'connection' | 'isExchanged'>,
  sender: number,
): boolean => connection(sender) === undefined && isExchanged?.(sender) !== true;

/** What a step is for the senders of an entry. Times are run time in microseconds. */
export interface StepWindow {
  readonly index: number;
  readonly recorder: EntryRecorder;
  readonly startUs: number;
  readonly measureUs: number;
  readonly endUs: number;
}

/** Who of a worker sends when in a step: indexes of the connections, and their pace. */
export interface StepPacing {
  readonly pace: Pacing;
  readonly senders: Uint32Array;
}

/** Sends in one go at most, so that receiving is not starved while a backlog is worked off. */
export const burst = 256;
/** Backlog is worked off this long after the step; the rest counts as offered, not sent. */
export const graceUs = 1_000_000;

export type SenderParts = ConstructorParameters<typeof EntrySender>;

/** What is due of one entry in a step: messages, streams, or moves in and out of groups. */
export abstract class EntrySender<Step extends StepWindow = StepWindow> {
  protected readonly entry: PlanEntry;
  protected readonly random: Random;
  /** Undefined when none is being sent. */
  protected step: Step | undefined;

  constructor(
    protected readonly plan: Plan,
    readonly position: number,
    protected readonly worker: number,
    protected readonly population: Population,
    protected readonly dependencies: SenderDependencies,
  ) {
    this.entry = plan.entries[position]!;
    this.random = randomFor(plan, 'sending', worker, position);
  }

  /** Begins a step whose warm-up starts at `startUs` (run time). */
  abstract begin(step: PlanStep, startUs: number, recorder: StepRecorder): void;
  /** Run time at which the next is due. */
  protected abstract readonly dueUs: number;
  /** Sends the next, which is due. */
  protected abstract sendDue(step: Step, dueUs: number, nowUs: number, unixMs: number): void;
  /** @param isCut something was due that could not be sent in time */
  protected abstract endStep(step: Step, isCut: boolean): void;
  lost?(index: number): void;
  /** A delivery from the entry's source was counted. */
  arrived?(index: number, source: number, sequence: number): void;
  /** False when the item is of no stream of this entry. */
  itemCame?(...item: Parameters<TakeItem>): boolean;
  /**
   * The answer to a call of a session, or a callback of one, was counted.
   *
   * @returns the client method that was called where that connection does no session of this entry
   */
  answered?(at: ReceivedMessage, call: number, sequence: number): string | undefined;
  /** That client method was called by what another entry has sent. */
  calledBack?(at: ReceivedMessage, method: string): void;
  /** The hub has called a client method that is no delivery. */
  called?(at: ReceivedMessage, message: Invocation): void;
  /** An item has come of a stream that is none of those that are measured. */
  streamed?(at: ReceivedMessage, message: StreamItem): void;
  /** False when the completion is of none of its invocations. */
  completed?(connection: HubConnection, message: Completion, nowUs: number): boolean;

  halt(): void {
    this.step = undefined;
  }

  /** Run time at which {@link pump} has something to do again; Infinity when no step is being sent. */
  get nextUs(): number {
    return this.step === undefined ? Infinity : Math.min(this.dueUs, this.step.endUs);
  }

  /** Sends what is due, up to a bound (`more`); `done` once the step's last was due. */
  pump(): 'idle' | 'more' | 'done' {
    const unixMs = Date.now();
    let nowUs = this.dependencies.nowUs();
    for (let count = 0; count < burst; count++) {
      const { step } = this;
      if (step === undefined) return 'idle';
      const { dueUs } = this;
      if (dueUs >= step.endUs || nowUs > step.endUs + graceUs) {
        if (nowUs < step.endUs) return 'idle';
        this.step = undefined;
        this.endStep(step, dueUs < step.endUs);
        return 'done';
      }
      if (dueUs > nowUs || this.mustWait) return 'idle';
      this.sendDue(step, dueUs, nowUs, unixMs);
      nowUs = this.dependencies.nowUs();
    }
    return 'more';
  }

  /** Whether what is due cannot leave yet. */
  protected get mustWait(): boolean {
    return false;
  }

  /** @param atUs begins the warm-up; stamps hold whole microseconds */
  protected windowOf(step: PlanStep, atUs: number, recorder: StepRecorder): StepWindow {
    const startUs = Math.floor(atUs);
    const measureUs = startUs + step.warmupMs * 1000;
    return {
      ...{ index: step.index, recorder: recorder.entries[this.position]!, startUs, measureUs },
      endUs: measureUs + step.measureMs * 1000,
    };
  }

  protected isMissing(sender: number): boolean {
    return isMissing(this.dependencies, sender);
  }

  pacing(step: PlanStep): StepPacing {
    const { plan, worker } = this;
    const { senderOrder } = this.population;
    const intervalUs = (step.intervalsMs?.[this.position] ?? this.entry.intervalMs) * 1000;
    const senders = sendersOf(step, this.position);
    const ranks = ranksOf(senderOrder, senders, worker, plan.workers.length);
    const pace = this.drawnPace(step, ranks, intervalUs) ?? new Pace(ranks, senders, intervalUs);
    return { pace, senders: ranks.map((rank) => senderOrder[rank]!) };
  }

  /** Where messages are not evenly spaced, or senders come and go. */
  private drawnPace(step: PlanStep, ranks: Uint32Array, intervalUs: number): Pacing | undefined {
    const { plan, position, entry } = this;
    const closed = plan.pacing === 'closed';
    const arrivals = closed ? undefined : plan.arrivals;
    const { stages, warmupMs, senders } = step;
    const intervals =
      entry.intervals ??
      (arrivals === 'poisson' ? ({ distribution: 'exponential', spread: 1 } as const) : undefined);
    if (!closed && (intervals ?? arrivals ?? stages) === undefined) return undefined;
    const draw = drawsOf(intervalSeed(plan, position, step.index));
    const timing =
      intervals !== undefined
        ? drawnTiming(intervalUs, intervals, draw)
        : arrivals === 'jitter'
          ? jitterTiming(intervalUs, draw)
          : closed
            ? drawnTiming(intervalUs, { distribution: 'uniform', spread: 0 }, draw)
            : evenTiming(intervalUs);
    const share = senders === 0 ? 0 : sendersOf(step, position) / senders;
    const activity = stages && new Activity(stages, warmupMs * 1000, share);
    return new DrawnPace({ ranks, timing, activity, closed });
  }
}
