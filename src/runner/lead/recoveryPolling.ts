import type { Slo } from '../../base/slo';
import { RecoveryWatch } from '../../measure/judge/recoveryWatch';
import type { MergedTick } from '../../measure/total/tickMerger';
import type { Plan } from '../../plan/plan';
import { leavingUs } from '../../base/leavingTime';
import type { RunningStep } from './progress';

const pollMs = 20;

/** Looks many times a second how many connections take part, while steps are measured. */
export class RecoveryPolling {
  private watch: RecoveryWatch | undefined;
  private timer: NodeJS.Timeout | undefined;
  private deadSinceUs: number | undefined;

  constructor(
    private readonly plan: Plan,
    private readonly slo: Slo,
    private readonly nowUs: () => number,
    private readonly openConnections: () => number,
  ) {}

  /** To be called when the measured time of a step begins; nothing happens where no connection comes back. */
  begin({ plan: step, totals, measureUs }: RunningStep): void {
    const { life } = this.plan;
    this.watch = undefined;
    // Where connections are only exchanged, some are always missing.
    if (life === undefined || (!life.repair && life.dropAllAfterMs === undefined)) return;
    const { dropAllAfterMs } = life;
    const stormUs = dropAllAfterMs === undefined ? undefined : measureUs + dropAllAfterMs * 1000;
    const watch = new RecoveryWatch({
      slo: this.slo,
      connections: this.openConnections(),
      measureUs,
      endUs: measureUs + step.measureMs * 1000,
      ...(stormUs !== undefined && { storm: { fromUs: stormUs - leavingUs, atUs: stormUs } }),
      sends: step.senders > 0,
    });
    this.watch = totals.recovery = watch;
    this.timer = setInterval(() => watch.open(this.nowUs(), this.openConnections()), pollMs);
  }

  /** Since how many milliseconds no connection takes part at all, as far as it was asked. */
  deadForMs(): number {
    const nowUs = this.nowUs();
    if (this.openConnections() > 0) this.deadSinceUs = undefined;
    else this.deadSinceUs ??= nowUs;
    return (nowUs - (this.deadSinceUs ?? nowUs)) / 1000;
  }

  end(): void {
    clearInterval(this.timer);
  }

  tick(tick: MergedTick): void {
    this.watch?.second(tick);
  }
}
