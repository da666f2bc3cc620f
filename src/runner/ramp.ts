import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../base/clock';
import { seededRandom } from '../base/random';
import type { Plan } from '../plan/plan';
import { ConnectFailure, mayRetry } from '../wire/connectFailure';

/** Tries after the first one. */
const retries = 2;
const firstPauseMs = 200;

export interface RampDependencies {
  readonly clock: Clock;
  /** Opens one connection. */
  readonly open: (index: number, signal: AbortSignal) => Promise<void>;
  readonly opened: (index: number, tookUs: number) => void;
  /** A connect has failed and will be tried again. */
  readonly retried?: (index: number, failure: ConnectFailure) => void;
  readonly failed: (index: number, failure: ConnectFailure) => void;
}

/**
 * Opens this worker's connections at the plan's rate: connection i is due i / arrivingRate seconds after
 * the start, later only when too many are opening already. A failed one is tried again at most twice,
 * honouring Retry-After, within the plan's connect time.
 */
export class Ramp {
  private stopped = false;
  private readonly inFlight = new Set<AbortController>();
  private readonly random;
  private wake: (() => void) | undefined;

  constructor(
    private readonly plan: Plan,
    private readonly worker: number,
    private readonly dependencies: RampDependencies,
  ) {
    this.random = seededRandom(plan.seed ^ (worker + 1));
  }

  /** Runs the ramp from `startUs` (clock time); settles when every connect has succeeded, failed or been given up. */
  async run(startUs: number): Promise<void> {
    const { plan, worker } = this;
    const { workers, connectInFlight } = plan.workers[worker]!;
    const pending: Promise<void>[] = [];
    for (let index = worker; index < plan.connections; index += workers) {
      await this.until(startUs + (index / plan.arrivingRate) * 1_000_000);
      while (this.inFlight.size >= connectInFlight && !this.stopped) await this.nextSettled();
      if (this.stopped) break;
      pending.push(this.connect(index));
    }
    await Promise.all(pending);
  }

  /** Gives up everything that is not open yet. */
  stop(): void {
    this.stopped = true;
    for (const controller of this.inFlight) controller.abort();
    this.wake?.();
  }

  private async connect(index: number): Promise<void> {
    const { clock, open, opened, failed } = this.dependencies;
    const controller = new AbortController();
    this.inFlight.add(controller);
    const startedUs = clock.nowUs();
    const timer = setTimeout(() => controller.abort(), this.plan.connectTimeoutMs);
    try {
      for (let attempt = 0; ; attempt++) {
        try {
          await open(index, controller.signal);
          opened(index, clock.nowUs() - startedUs);
          return;
        } catch (error) {
          if (!(error instanceof ConnectFailure)) throw error;
          const pauseMs =
            error.retryAfterMs ?? firstPauseMs * 2 ** attempt * (0.5 + this.random.next());
          const leftMs = this.plan.connectTimeoutMs - (clock.nowUs() - startedUs) / 1000;
          if (attempt >= retries || !mayRetry(error) || pauseMs >= leftMs || this.stopped) {
            failed(index, error);
            return;
          }
          await sleep(pauseMs, undefined, { signal: controller.signal }).catch(() => undefined);
          if (controller.signal.aborted) {
            failed(index, error);
            return;
          }
          this.dependencies.retried?.(index, error);
        }
      }
    } finally {
      clearTimeout(timer);
      this.inFlight.delete(controller);
      this.wake?.();
    }
  }

  private nextSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = undefined;
        resolve();
      };
    });
  }

  private async until(atUs: number): Promise<void> {
    for (let leftUs = atUs - this.dependencies.clock.nowUs(); leftUs > 0 && !this.stopped;) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(500, Math.ceil(leftUs / 1000))));
      leftUs = atUs - this.dependencies.clock.nowUs();
    }
  }
}
