import { reconnectDelayMs } from '../../plan/arrivals';
import type { Plan, PlanLife } from '../../plan/plan';
import { randomFor } from '../../plan/draws';
import { ConnectFailure } from '../../wire/connect/connectFailure';

export interface ReconnectorDependencies {
  readonly nowUs: () => number;
  /** Opens the connection again and prepares it; false when it was lost while it was prepared. */
  readonly open: (index: number, signal: AbortSignal) => Promise<boolean>;
  /** A try has failed; there will be another one. */
  readonly failed: (index: number, failure: ConnectFailure) => void;
}

/**
 * Opens this worker's connections again: after the pause of the plan's policy, honouring Retry-After and
 * without giving up, or, where connections are only exchanged, at the rate of the ramp.
 */
export class Reconnector {
  private readonly tries = new Map<number, number>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly due: number[] = [];
  private readonly inFlight = new Set<AbortController>();
  private readonly random;
  private readonly betweenMs: number;
  private nextSlotMs = 0;
  private stopped = false;

  constructor(
    private readonly plan: Plan,
    private readonly life: PlanLife,
    private readonly worker: number,
    private readonly dependencies: ReconnectorDependencies,
  ) {
    this.random = randomFor(plan, 'reconnects', worker);
    this.betweenMs = (1000 * plan.workers.length) / plan.arrivingRate;
  }

  /** The connection is down and is opened again when the policy says so. */
  down(index: number): void {
    const tries = this.tries.get(index) ?? 0;
    this.tries.set(index, tries + 1);
    this.later(index, reconnectDelayMs(this.life, tries, this.random));
  }

  /** The connection is down and is opened again when the ramp has a place for it. */
  exchange(index: number): void {
    const nowMs = this.dependencies.nowUs() / 1000;
    this.nextSlotMs = Math.max(nowMs, this.nextSlotMs + this.betweenMs);
    this.later(index, this.nextSlotMs - nowMs);
  }

  /** Gives up everything that is not open yet. */
  stop(): void {
    this.stopped = true;
    for (const timer of this.timers) clearTimeout(timer);
    for (const controller of this.inFlight) controller.abort();
  }

  private later(index: number, ms: number): void {
    if (this.stopped) return;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.due.push(index);
      this.begin();
    }, ms);
    this.timers.add(timer);
  }

  private begin(): void {
    const most = this.plan.workers[this.worker]!.connectInFlight;
    while (!this.stopped && this.inFlight.size < most) {
      const index = this.due.shift();
      if (index === undefined) return;
      void this.open(index);
    }
  }

  private async open(index: number): Promise<void> {
    const controller = new AbortController();
    this.inFlight.add(controller);
    const timer = setTimeout(() => controller.abort(), this.plan.connectTimeoutMs);
    try {
      if (await this.dependencies.open(index, controller.signal)) this.tries.delete(index);
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
      if (this.stopped) return;
      this.dependencies.failed(index, error);
      const tries = this.tries.get(index) ?? 0;
      this.tries.set(index, tries + 1);
      const pauseMs = reconnectDelayMs(this.life, Math.max(1, tries), this.random);
      this.later(index, Math.max(pauseMs, error.retryAfterMs ?? leastPauseMs));
    } finally {
      clearTimeout(timer);
      this.inFlight.delete(controller);
      this.begin();
    }
  }
}

/** Between two tries of one connection at least, so that a delay of 0 is no busy loop. */
const leastPauseMs = 20;
