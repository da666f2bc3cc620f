import type { EntrySender, ReceivedMessage, SenderDependencies } from './entrySender';
import type { Plan, PlanStep } from '../../plan/plan';
import type { Population } from '../../plan/population';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { Completion, Invocation, StreamItem } from '../../wire/message/hubMessage';
import { GroupMover } from './groupMover';
import { MessageSender } from './messageSender';
import type { StepRecorder } from '../recorder';
import { StreamSender } from './streamSender';

/** All senders of a worker, driven by one loop. */
export class EntrySenders {
  private readonly senders: readonly EntrySender[];
  /** Rotates, so that no backlog delays the other entries. */
  private first = 0;
  private sending = 0;

  constructor(
    plan: Plan,
    worker: number,
    populations: readonly Population[],
    dependencies: SenderDependencies,
  ) {
    this.senders = populations.flatMap((population, position) => {
      const { streams, session, othersMove = false } = plan.entries[position]!.run;
      const Sender =
        session !== undefined
          ? dependencies.sessions![session.replays ? 'ReplaySender' : 'Sender']
          : streams === undefined
            ? MessageSender
            : StreamSender;
      const sender = new Sender(plan, position, worker, population, dependencies);
      if (!othersMove) return [sender];
      return [sender, new GroupMover(plan, position, worker, populations, dependencies)];
    });
  }

  begin(step: PlanStep, startUs: number, recorder: StepRecorder): void {
    this.sending = this.senders.length;
    for (const sender of this.senders) sender.begin(step, startUs, recorder);
  }

  halt(): void {
    for (const sender of this.senders) sender.halt();
  }

  get nextUs(): number {
    let nextUs = Infinity;
    for (const sender of this.senders) nextUs = Math.min(nextUs, sender.nextUs);
    return nextUs;
  }

  /** `done` once all senders are. */
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

  /** @param source counted within the entry */
  arrived(position: number, index: number, source: number, sequence: number): void {
    const sender = this.senders.find((one) => one.position === position);
    sender?.arrived?.(index, source, sequence);
  }

  itemCame(at: ReceivedMessage, call: number, payloadBytes: number): boolean {
    return this.senders.some((sender) => sender.itemCame?.(at, call, payloadBytes) === true);
  }

  answered(position: number, at: ReceivedMessage, call: number, sequence: number): void {
    const sender = this.senders.find((one) => one.position === position);
    const called = sender?.answered?.(at, call, sequence);
    if (called === undefined) return;
    for (const other of this.senders) if (other !== sender) other.calledBack?.(at, called);
  }

  called(at: ReceivedMessage, message: Invocation): void {
    for (const sender of this.senders) sender.called?.(at, message);
  }

  streamed(at: ReceivedMessage, message: StreamItem): void {
    for (const sender of this.senders) sender.streamed?.(at, message);
  }

  completed(connection: HubConnection, message: Completion, nowUs: number): boolean {
    return this.senders.some((one) => one.completed?.(connection, message, nowUs) === true);
  }
}
