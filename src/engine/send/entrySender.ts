import type { HubConnection } from '../../wire/hub/clientConnection';
import type { HubCodec } from '../../wire/message/hubCodec';
import type { Completion, Invocation, StreamItem } from '../../wire/message/hubMessage';
import type { WeakServerConnection } from '../../wire/service/persistentSends';
import type { RestCalls } from '../../wire/rest/restCalls';
import type { EntryRecorder, Recorder, StepRecorder } from '../recorder';
import type { MessageRows } from './messageShape';
import type { Preparation } from '../prepare/preparation';
import type { SharedMembers } from '../prepare/sharedMembers';
import type { RemoteMembers } from '../prepare/remoteMembers';
import type { TimeToAllTracker } from '../prepare/timeToAllTracker';
import type { Random } from '../../base/random';
import {
  Activity,
  drawnTiming,
  createDraw,
  evenTiming,
  jitterTiming,
  DrawnPace,
  Pace,
  type Pacing,
} from '../../plan/pace';
import { intervalSeed, randomFor } from '../../plan/draws';
import type { Plan, PlanEntry, PlanStep } from '../../plan/plan';
import { senderRanksOfWorker, senderCount, type Population } from '../../plan/population';

/** The current message; reused for the next one. */
export interface ReceivedMessage {
  connection: HubConnection;
  nowUs: number;
  /** With its frame, without record separator or length prefix. */
  wireBytes: number;
  bodyBytes: number;
  /** Empty when an official client has read it. */
  bytes: Buffer;
  start: number;
  end: number;
}

/** False when the connection has no streams of the user's own. */
export type ItemHandler = (at: ReceivedMessage, call: number, payloadBytes: number) => boolean;

export interface SessionParts {
  readonly SessionSender: new (...parts: SenderParts) => EntrySender;
  readonly ReplaySender: new (...parts: SenderParts) => EntrySender;
}

/** Connection indexes are those of the whole run. */
export interface SenderDependencies {
  readonly reach?: TimeToAllTracker | undefined;
  readonly members: Pick<SharedMembers, 'version' | 'isOpen' | 'count' | 'idOf'> &
    Partial<Pick<SharedMembers, 'move' | 'counting' | 'missing' | 'wasMember' | 'came'>>;
  readonly sessions?: SessionParts | undefined;
  readonly elsewhere?: Pick<RemoteMembers, 'placeOf' | 'sent'> | undefined;
  readonly connection: (index: number) => HubConnection | undefined;
  readonly isExchanged?: (index: number) => boolean;
  /** WebSocket frames; false: bare hub messages in HTTP bodies. */
  readonly framed: boolean;
  readonly codec?: HubCodec;
  /** An official client encodes the messages. */
  readonly takesMessages?: boolean;
  readonly rest?: RestCalls;
  /** Server connection to the service. */
  readonly persistent?: WeakServerConnection;
  /** Absent where there are no rows. */
  readonly rows?: MessageRows | undefined;
  readonly invoke?: Preparation['invoke'];
  readonly nowUs: () => number;
  /** Counts errors and deliveries without a stamp. */
  readonly recorder: Pick<Recorder, 'delivered' | 'error'> &
    Partial<Pick<Recorder, 'arrived' | 'awaited'>>;
}

/** Whether messages due there are skipped: it is not connected, and not closed on purpose. */
export const isSkippedSender = (
  { connection, isExchanged }: Pick<SenderDependencies, 'connection' | 'isExchanged'>,
  sender: number,
): boolean => connection(sender) === undefined && isExchanged?.(sender) !== true;

/** Times are run time in microseconds. */
export interface StepWindow {
  readonly index: number;
  readonly recorder: EntryRecorder;
  readonly startUs: number;
  readonly measureUs: number;
  readonly endUs: number;
}

export interface StepPacing {
  readonly pace: Pacing;
  readonly senders: Uint32Array;
}

/** Most messages in one go, so that a backlog does not starve receiving. */
export const maxBurst = 256;
/** How long a backlog is worked off after the step; the rest counts as offered, not sent. */
export const graceUs = 1_000_000;

export type SenderParts = ConstructorParameters<typeof EntrySender>;

/** Sends one entry's messages, streams, sessions or group moves. */
export abstract class EntrySender<Step extends StepWindow = StepWindow> {
  protected readonly entry: PlanEntry;
  protected readonly random: Random;
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

  abstract begin(step: PlanStep, startUs: number, recorder: StepRecorder): void;
  protected abstract readonly dueUs: number;
  protected abstract sendDue(step: Step, dueUs: number, nowUs: number, unixMs: number): void;
  /** @param isCut some due messages were never sent */
  protected abstract endStep(step: Step, isCut: boolean): void;
  lost?(index: number): void;
  arrived?(index: number, source: number, sequence: number): void;
  /** False when the stream belongs to another entry. */
  itemCame?(...item: Parameters<ItemHandler>): boolean;
  /**
   * A completion or callback of a session's call was counted. Returns the callback's method if the connection has no
   * session of this entry.
   */
  answered?(at: ReceivedMessage, call: number, sequence: number): string | undefined;
  calledBack?(at: ReceivedMessage, method: string): void;
  called?(at: ReceivedMessage, message: Invocation): void;
  streamed?(at: ReceivedMessage, message: StreamItem): void;
  /** False when the invocation belongs to another entry. */
  completed?(connection: HubConnection, message: Completion, nowUs: number): boolean;

  halt(): void {
    this.step = undefined;
  }

  /** Next time {@link pump} has work; Infinity between steps. */
  get nextUs(): number {
    return this.step === undefined ? Infinity : Math.min(this.dueUs, this.step.endUs);
  }

  /** Sends what is due: `more` when it stopped at the limit, `done` after the step's last message. */
  pump(): 'idle' | 'more' | 'done' {
    const unixMs = Date.now();
    let nowUs = this.dependencies.nowUs();
    for (let count = 0; count < maxBurst; count++) {
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

  protected get mustWait(): boolean {
    return false;
  }

  protected windowOf(step: PlanStep, atUs: number, recorder: StepRecorder): StepWindow {
    const startUs = Math.floor(atUs);
    const measureUs = startUs + step.warmupMs * 1000;
    return {
      ...{ index: step.index, recorder: recorder.entries[this.position]!, startUs, measureUs },
      endUs: measureUs + step.measureMs * 1000,
    };
  }

  protected isMissing(sender: number): boolean {
    return isSkippedSender(this.dependencies, sender);
  }

  pacing(step: PlanStep): StepPacing {
    const { plan, worker } = this;
    const { senderOrder } = this.population;
    const intervalUs = (step.intervalsMs?.[this.position] ?? this.entry.intervalMs) * 1000;
    const senders = senderCount(step, this.position);
    const ranks = senderRanksOfWorker(senderOrder, senders, worker, plan.workers.length);
    const pace = this.drawnPace(step, ranks, intervalUs) ?? new Pace(ranks, senders, intervalUs);
    return { pace, senders: ranks.map((rank) => senderOrder[rank]!) };
  }

  private drawnPace(step: PlanStep, ranks: Uint32Array, intervalUs: number): Pacing | undefined {
    const { plan, position, entry } = this;
    const closed = plan.pacing === 'closed';
    const arrivals = closed ? undefined : plan.arrivals;
    const { stages, warmupMs, senders } = step;
    const intervals =
      entry.intervals ??
      (arrivals === 'poisson' ? ({ distribution: 'exponential', spread: 1 } as const) : undefined);
    if (!closed && (intervals ?? arrivals ?? stages) === undefined) return undefined;
    const draw = createDraw(intervalSeed(plan, position, step.index));
    const timing =
      intervals !== undefined
        ? drawnTiming(intervalUs, intervals, draw)
        : arrivals === 'jitter'
          ? jitterTiming(intervalUs, draw)
          : closed
            ? drawnTiming(intervalUs, { distribution: 'uniform', spread: 0 }, draw)
            : evenTiming(intervalUs);
    const share = senders === 0 ? 0 : senderCount(step, position) / senders;
    const activity = stages && new Activity(stages, warmupMs * 1000, share);
    return new DrawnPace({ ranks, timing, activity, closed });
  }
}
