import {
  EntrySender,
  type ReceivedMessage,
  type SenderDependencies,
  type StepWindow,
} from './entrySender';
import type { Plan, PlanStep } from '../../plan/plan';
import { type Population, nonSendersUpTo } from '../../plan/population';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { Completion, Invocation, StreamItem } from '../../wire/message/hubMessage';
import { MessageSender } from './messageSender';
import type { StepRecorder } from '../recorder';
import { StreamSender } from './streamSender';
import { inBackground } from '../../base/async';
import { membershipMethods } from '../../base/message';
import { MembershipCounts } from '../../measure/sample';
import { Pace } from '../../plan/pace';
import { shownText } from '../../wire/connectFailure';

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
          ? dependencies.sessions![session.replays ? 'ReplaySender' : 'SessionSender']
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

interface MoverStep extends StepWindow {
  readonly membership: MembershipCounts;
  readonly pace: Pace;
  readonly movers: readonly number[];
}

/** Connections that do not send join and leave an entry's groups in turn. Latency counts from when a move was due. */
export class GroupMover extends EntrySender<MoverStep> {
  private readonly inside = new Set<number>();
  private readonly busy = new Set<number>();

  constructor(
    plan: Plan,
    position: number,
    worker: number,
    private readonly populations: readonly Population[],
    dependencies: SenderDependencies,
  ) {
    super(plan, position, worker, populations[position]!, dependencies);
  }

  begin(step: PlanStep, startUs: number, recorder: StepRecorder): void {
    const all = [...nonSendersUpTo(this.plan, this.populations, step.index)];
    const workers = this.plan.workers.length;
    const ranks = all.flatMap((index, rank) => (index % workers === this.worker ? [rank] : []));
    const intervalUs = this.entry.moveIntervalMs! * 1000;
    this.step = {
      ...this.windowOf(step, startUs, recorder),
      membership: (recorder.membership ??= new MembershipCounts()),
      pace: new Pace(Uint32Array.from(ranks), all.length, intervalUs),
      movers: ranks.map((rank) => all[rank]!),
    };
  }

  override lost(index: number): void {
    this.inside.delete(index);
  }

  protected override get dueUs(): number {
    return this.step!.startUs + this.step!.pace.nextDueUs;
  }

  protected override sendDue(step: MoverStep, dueUs: number): void {
    inBackground(this.move(step, step.movers[step.pace.take()]!, dueUs));
  }

  protected override endStep(
    { pace, movers, membership, startUs, measureUs, endUs }: MoverStep,
    isCut: boolean,
  ): void {
    if (!isCut) return;
    for (const [position, index] of movers.entries())
      if (this.dependencies.connection(index) !== undefined)
        membership.skipped += pace.left(position, measureUs - startUs, endUs - startUs);
  }

  private async move(step: MoverStep, index: number, dueUs: number): Promise<void> {
    const connection = this.dependencies.connection(index);
    if (connection === undefined) return;
    const counted = dueUs >= step.measureUs;
    const { membership } = step;
    if (this.busy.has(index)) {
      if (counted) membership.skipped += 1;
      return;
    }
    this.busy.add(index);
    const joins = !this.inside.has(index);
    for (let slot = 0; slot < this.population.groupsPerConnection; slot++) {
      const group = this.population.groupName(this.population.groupOf(index, slot));
      const method = membershipMethods[joins ? 'join' : 'leave'];
      const outcome = await this.dependencies.invoke!(connection, method, [group]);
      if (!outcome.ok && outcome.errorClass !== 'closed')
        this.dependencies.recorder.error(outcome.errorClass, shownText(outcome.text));
      if (counted) membership.record(joins, outcome.ok, this.dependencies.nowUs() - dueUs);
      if (outcome.ok && connection.isOpen) {
        if (joins) this.inside.add(index);
        else this.inside.delete(index);
      }
    }
    this.busy.delete(index);
  }
}
