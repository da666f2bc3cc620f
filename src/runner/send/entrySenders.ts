import type { Plan, PlanStep } from '../../plan/plan';
import type { Population } from '../../plan/population';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { Completion } from '../../wire/hub/hubMessage';
import { MessageSender } from './messageSender';
import type { EntryRecorder, StepRecorder } from '../receive/recorder';
import type { TakeItem } from './ownItems';
import { StreamSender, type StreamDependencies } from './streamSender';

/** Sends what is due of one entry of a plan. */
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
  /** The connection of that index is gone. */
  lost?(index: number): void;
  /** A delivery from the entry's source was counted. */
  arrived?(index: number, source: number, sequence: number): void;
  /** Takes an item of a stream of the user's own; false when it is of none of this entry's. */
  itemCame?: TakeItem;
  /** Takes a completion; false when it is not of one of its invocations. */
  completed?(connection: HubConnection, message: Completion, nowUs: number): boolean;
}

/** The sender of the entry at that position: chosen by how its use case runs. */
function entrySenderOf(
  plan: Plan,
  position: number,
  worker: number,
  population: Population,
  dependencies: StreamDependencies,
): EntrySender {
  if (plan.entries[position]!.run.streams !== undefined)
    return new StreamSender(plan, position, worker, population, dependencies);
  return new MessageSender(plan, position, worker, population, dependencies);
}

/** The senders of all entries as one: driven by one loop, done when all of them are. */
export class EntrySenders {
  private readonly senders: readonly EntrySender[];
  /** Whose turn is first, so that nobody's backlog keeps the others waiting. */
  private first = 0;
  private sending = 0;

  constructor(
    plan: Plan,
    worker: number,
    populations: readonly Population[],
    dependencies: StreamDependencies,
  ) {
    this.senders = populations.map((population, position) =>
      entrySenderOf(plan, position, worker, population, dependencies),
    );
  }

  begin(step: PlanStep, startUs: number, recorder: StepRecorder): void {
    this.sending = this.senders.length;
    this.senders.forEach((sender, position) => {
      sender.begin(step, startUs, recorder.entries[position]!);
    });
  }

  halt(): void {
    for (const sender of this.senders) sender.halt();
  }

  get nextUs(): number {
    let nextUs = Infinity;
    for (const sender of this.senders) nextUs = Math.min(nextUs, sender.nextUs);
    return nextUs;
  }

  /** As {@link EntrySender.pump}; `done` once all of them are. */
  pump(): 'idle' | 'more' | 'done' {
    const { senders } = this;
    let state: 'idle' | 'done' = 'idle';
    for (let turn = 0; turn < senders.length; turn++) {
      const position = (this.first + turn) % senders.length;
      const one = senders[position]!.pump();
      if (one === 'more') {
        this.first = position + 1;
        return 'more';
      }
      if (one === 'done' && --this.sending === 0) state = 'done';
    }
    return state;
  }

  lost(index: number): void {
    for (const sender of this.senders) sender.lost?.(index);
  }

  /** @param source counted within the entry at that position */
  arrived(position: number, index: number, source: number, sequence: number): void {
    this.senders[position]!.arrived?.(index, source, sequence);
  }

  itemCame(
    connection: HubConnection,
    call: number,
    payloadBytes: number,
    wireBytes: number,
    nowUs: number,
  ): boolean {
    for (const sender of this.senders)
      if (sender.itemCame?.(connection, call, payloadBytes, wireBytes, nowUs) === true) return true;
    return false;
  }

  completed(connection: HubConnection, message: Completion, nowUs: number): boolean {
    for (const sender of this.senders)
      if (sender.completed?.(connection, message, nowUs) === true) return true;
    return false;
  }
}
