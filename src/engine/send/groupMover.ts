import { inBackground } from '../../base/background';
import { membershipMethods } from '../../base/message';
import { MembershipCounts } from '../../measure/sample';
import { Pace } from '../../plan/pace';
import type { Plan, PlanStep } from '../../plan/plan';
import { silentUpTo, type Population } from '../../plan/population';
import { shownText } from '../../wire/connectFailure';
import type { StepRecorder } from '../recorder';
import { EntrySender, type SenderDependencies, type StepWindow } from './entrySender';

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
    const all = [...silentUpTo(this.plan, this.populations, step.index)];
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
      // A drop is counted elsewhere.
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
