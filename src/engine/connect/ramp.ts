import type { Clock } from '../machineClock';
import type { PhaseTimes } from '../../base/endpoint';
import { pause } from '../pause';
import { splitEvenly, type Plan } from '../../plan/plan';
import { randomFor } from '../../plan/draws';
import type { BatchMode } from '../../scenario/scenario';
import { ConnectFailure, mayRetry } from '../../wire/connectFailure';

const retries = 2;
const firstPauseMs = 200;
const gatePollMs = 5;
/** `setTimeout` takes at most 24 days. */
const longestSleepMs = 60_000;

interface RampDependencies {
  readonly clock: Clock;
  readonly open: (index: number, signal: AbortSignal) => Promise<PhaseTimes>;
  readonly opened: (index: number, tookUs: number, phases: PhaseTimes) => void;
  readonly retried?: (failure: ConnectFailure) => void;
  readonly failed: (index: number, failure: ConnectFailure) => void;
}

/**
 * Opens this worker's connections at the rate of the plan: connection i is due i / arrivingRate seconds after the
 * start, or later if too many are opening. A failed one is tried again at most twice, within its connect timeout. The
 * ramp modes of the Azure SignalR benchmark replace the rate.
 */
export class Ramp {
  private readonly stopping = new AbortController();
  private over = 0;
  private readonly inFlight = new Set<AbortController>();
  private readonly random;
  private wake: (() => void) | undefined;

  constructor(
    private readonly plan: Plan,
    private readonly worker: number,
    private readonly dependencies: RampDependencies,
  ) {
    this.random = randomFor(plan, 'ramp', worker);
  }

  /** Opens connections `from` … `to` − 1; settles when each has opened or failed. */
  async run(startUs: number, from = 0, to = this.plan.connections): Promise<void> {
    const { plan, worker } = this;
    const { workers, connectInFlight } = plan.workers[worker]!;
    const pending: Promise<void>[] = [];
    const first = from + ((((worker - from) % workers) + workers) % workers);
    const gate = this.gate();
    this.over = 0;
    for (let index = first, begun = 0; index < to; index += workers, begun++) {
      if (gate !== undefined) await this.permitted(gate, begun, startUs);
      else await this.until(startUs + ((index - from) / plan.arrivingRate) * 1_000_000);
      while (this.inFlight.size >= connectInFlight && !this.isStopped) await this.nextSettled();
      if (this.isStopped) break;
      pending.push(this.connect(index));
    }
    await Promise.all(pending);
  }

  stop(): void {
    this.stopping.abort();
    for (const controller of this.inFlight) controller.abort();
    this.wake?.();
  }

  private get isStopped(): boolean {
    return this.stopping.signal.aborted;
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
          const phases = await open(index, controller.signal);
          opened(index, clock.nowUs() - startedUs, phases);
          return;
        } catch (error) {
          if (!(error instanceof ConnectFailure)) throw error;
          const pauseMs =
            error.retryAfterMs ?? firstPauseMs * 2 ** attempt * (0.5 + this.random.next());
          const leftMs = this.plan.connectTimeoutMs - (clock.nowUs() - startedUs) / 1000;
          if (attempt >= retries || !mayRetry(error) || pauseMs >= leftMs || this.isStopped) {
            failed(index, error);
            return;
          }
          await pause(pauseMs, controller.signal);
          if (controller.signal.aborted) {
            failed(index, error);
            return;
          }
          this.dependencies.retried?.(error);
        }
      }
    } finally {
      clearTimeout(timer);
      this.inFlight.delete(controller);
      this.over += 1;
      this.wake?.();
    }
  }

  private gate(): Arrivals | undefined {
    const { arrival, arrivingRate, workers } = this.plan;
    if (arrival === undefined) return undefined;
    const share = Math.max(1, splitEvenly(arrivingRate, workers.length)[this.worker]!);
    return new Arrivals({ ...arrival, share });
  }

  private async permitted(gate: Arrivals, begun: number, startUs: number): Promise<void> {
    await this.until(startUs);
    for (;;) {
      const elapsedMs = (this.dependencies.clock.nowUs() - startUs) / 1000;
      if (this.isStopped || gate.mayHaveBegun(elapsedMs, this.over) > begun) return;
      await pause(gatePollMs, this.stopping.signal);
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
    for (let leftUs = atUs - this.dependencies.clock.nowUs(); leftUs > 0 && !this.isStopped;) {
      await pause(Math.min(longestSleepMs, Math.ceil(leftUs / 1000)), this.stopping.signal);
      leftUs = atUs - this.dependencies.clock.nowUs();
    }
  }
}

interface ArrivalMode {
  readonly mode: BatchMode;
  readonly share: number;
  readonly batchWaitMs: number;
}

const periodMs = 100;

/**
 * How many connects may have begun, by the ramp modes of the Azure SignalR benchmark:
 *
 * - `HighPress` limits the connects in flight: half of the share at first, one more every 100 ms;
 * - `LowPress` begins a batch of the share after each pause;
 * - `LimitRatePress` adds a tenth of the share every 100 ms, but no more than ended in that time unless none did, and
 *   at first one more each time;
 * - `ExtLimitRatePress` adds a tenth of the share every 100 ms.
 */
export class Arrivals {
  private periods = 0;
  private overBefore = 0;
  private filled = 0;

  constructor(private readonly arrival: ArrivalMode) {}

  /** `elapsedMs` must not fall; `over`: connects that have succeeded or failed. */
  mayHaveBegun(elapsedMs: number, over: number): number {
    const { mode, share, batchWaitMs } = this.arrival;
    const periods = Math.floor(elapsedMs / periodMs);
    switch (mode) {
      case 'HighPress':
        return over + Math.min(share, Math.ceil(share / 2) + periods);
      case 'LowPress':
        return batchWaitMs === 0 ? Infinity : share * (Math.floor(elapsedMs / batchWaitMs) + 1);
      case 'LimitRatePress':
        if (periods > this.periods) this.fill(periods, over);
        return Math.floor(this.filled + 1e-9);
      case 'ExtLimitRatePress':
        return Math.floor((share * periods * periodMs) / 1000 + 1e-9);
    }
  }

  /** One more each time at first: the rate recovers after slow connects. */
  private fill(periods: number, over: number): void {
    const { share } = this.arrival;
    const ended = over - this.overBefore;
    // A fraction of a connect cannot have ended.
    const most = ended === 0 ? share : ended + (this.filled % 1);
    this.filled += Math.min((share * (periods - this.periods) * periodMs) / 1000, most);
    this.filled += Math.min(periods, share) - Math.min(this.periods, share);
    this.periods = periods;
    this.overBefore = over;
  }
}
