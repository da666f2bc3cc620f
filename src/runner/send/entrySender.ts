import type { HubConnection } from '../../wire/hub/clientConnection';
import type { Completion } from '../../wire/message/hubMessage';
import type { PersistentSends } from '../../wire/service/persistentSends';
import type { RestCalls } from '../../wire/rest/restCalls';
import type { EntryRecorder, Recorder } from '../recorder';
import type { Membership } from '../prepare/sharedMembers';
import type { Random } from '../../base/random';
import { ClosedPace, Pace, type Pacing } from '../../plan/pace';
import type { Plan, PlanStep } from '../../plan/plan';
import { ranksOf, sendersOf, type Population } from '../../plan/population';

/** Takes an item of a stream of the user's own; false when the connection has no such streams. */
export type TakeItem = (
  connection: HubConnection,
  call: number,
  payloadBytes: number,
  wireBytes: number,
  nowUs: number,
) => boolean;

export interface EntrySender {
  /** Begins a step whose warm-up starts at `startUs` (run time). */
  begin(step: PlanStep, startUs: number, recorder: EntryRecorder): void;
  halt(): void;
  /** Run time at which {@link pump} has something to do again; Infinity when no step is being sent. */
  readonly nextUs: number;
  /**
   * Sends what is due, up to a bound.
   *
   * @returns `done` once the step's last message was due, `more` when the bound was reached
   */
  pump(): 'idle' | 'more' | 'done';
  lost?(index: number): void;
  /** A delivery from the entry's source was counted. */
  arrived?(index: number, source: number, sequence: number): void;
  /** Takes an item of a stream of the user's own; false when it is of none of this entry's. */
  itemCame?: TakeItem;
  /** Takes a completion; false when it is not of one of its invocations. */
  completed?(connection: HubConnection, message: Completion, nowUs: number): boolean;
}

/** Connections are those of the whole run. */
export interface SenderDependencies {
  readonly members: Pick<Membership, 'version' | 'isOpen' | 'count' | 'idOf'>;
  /** The worker's own connection of that index; undefined when it does not take part. */
  readonly connection: (index: number) => HubConnection | undefined;
  /** Whether messages leave as WebSocket frames, not as bare hub messages in HTTP bodies. */
  readonly framed: boolean;
  /** An official client encodes what leaves. */
  readonly takesMessages?: boolean;
  /** Calls to the service's REST API; absent where the target is a hub. */
  readonly rest?: RestCalls;
  /** The server connection to the service; absent where no use case sends over one. */
  readonly persistent?: PersistentSends;
  readonly nowUs: () => number;
  /** Counts errors, and deliveries that are no messages of their own. */
  readonly recorder: Pick<Recorder, 'delivered' | 'error'>;
}

export interface StepPacing {
  readonly pace: Pacing;
  /** Connection index of each of the worker's senders. */
  readonly senders: Uint32Array;
}

export function stepPacing(
  plan: Plan,
  position: number,
  worker: number,
  { senderOrder }: Population,
  step: PlanStep,
  random: Random,
): StepPacing {
  const intervalUs = plan.entries[position]!.intervalMs * 1000;
  const senders = sendersOf(step, position);
  const ranks = ranksOf(senderOrder, senders, worker, plan.workers.length);
  const pace =
    plan.pacing === 'open'
      ? new Pace(ranks, senders, intervalUs)
      : new ClosedPace(ranks.length, intervalUs, random);
  return { pace, senders: ranks.map((rank) => senderOrder[rank]!) };
}
