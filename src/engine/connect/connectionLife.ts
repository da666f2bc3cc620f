import { inBackground } from '../../base/async';
import { closeMarginUs } from '../../base/message';
import type { Random } from '../../base/random';
import { randomFor } from '../../plan/draws';
import type { Plan, PlanLife } from '../../plan/plan';
import { ConnectFailure } from '../../wire/connectFailure';
import type { HubConnection } from '../../wire/hub/clientConnection';

/** Times are run time in microseconds. */
interface LifeDependencies {
  readonly nowUs: () => number;
  readonly opened: () => readonly HubConnection[];
  readonly openAt: (index: number) => HubConnection | undefined;
  readonly reopen: (index: number, signal: AbortSignal) => Promise<HubConnection>;
  readonly prepare: (connection: HubConnection) => Promise<boolean>;
  readonly leave: (index: number) => void;
  readonly close: (connection: HubConnection) => void;
  readonly failed: (index: number, failure: ConnectFailure) => void;
}

const lookMs = 50;

/** Reconnects, random lifetimes, and dropping all connections at once. */
export class ConnectionLife {
  private readonly reconnector: Reconnector;
  private readonly random;
  private readonly endsUs = new Map<number, number>();
  private readonly leaving: { readonly connection: HubConnection; readonly closeUs: number }[] = [];
  private readonly exchanging = new Set<number>();
  /** A first try to reopen them has failed. */
  private readonly overdue = new Set<number>();
  private stormUs = Infinity;
  private storming = false;
  private readonly timer: NodeJS.Timeout;

  constructor(
    plan: Plan,
    private readonly life: PlanLife,
    worker: number,
    private readonly dependencies: LifeDependencies,
  ) {
    this.random = randomFor(plan, 'lives', worker);
    this.reconnector = new Reconnector(plan, life, worker, {
      nowUs: dependencies.nowUs,
      open: (index, signal) => this.reopen(index, signal),
      failed: (index, failure) => {
        this.overdue.add(index);
        dependencies.failed(index, failure);
      },
    });
    this.timer = setInterval(() => this.look(), lookMs);
  }

  /** Whether it is closed on purpose, or about to be, and no reconnect has failed yet. */
  isExchanged(index: number): boolean {
    return this.exchanging.has(index) && !this.overdue.has(index);
  }

  isLeaving(connection: HubConnection): boolean {
    return this.leaving.some((each) => each.connection === connection);
  }

  joined(index: number): void {
    const { lifetimeMs } = this.life;
    if (lifetimeMs === undefined || this.endsUs.has(index)) return;
    // Uniform between 0 and twice the mean, as in the Azure SignalR benchmark.
    const lifeUs = this.random.next() * 2 * lifetimeMs * 1000;
    this.endsUs.set(index, this.dependencies.nowUs() + lifeUs);
  }

  /** It was dropped, or failed to open. `mayReturn`: its client may reconnect by itself. */
  lost(index: number, mayReturn = true): void {
    this.endsUs.delete(index);
    if ((this.life.repair && mayReturn) || this.exchanging.has(index)) this.reconnector.down(index);
  }

  beginStep(measureUs: number, endUs: number): void {
    const { dropAllAfterMs } = this.life;
    if (dropAllAfterMs === undefined) return;
    const atUs = measureUs + dropAllAfterMs * 1000;
    this.stormUs = atUs < endUs ? atUs : Infinity;
  }

  stop(): void {
    clearInterval(this.timer);
    this.reconnector.stop();
  }

  private look(): void {
    const nowUs = this.dependencies.nowUs();
    this.storm(nowUs);
    for (const [index, endUs] of this.endsUs)
      if (endUs <= nowUs) this.leave(index, nowUs + closeMarginUs);
    for (
      let [first] = this.leaving;
      first !== undefined && first.closeUs <= nowUs;
      [first] = this.leaving
    ) {
      this.leaving.shift();
      if (!first.connection.isOpen) continue;
      this.dependencies.close(first.connection);
      this.reconnector.exchange(first.connection.index);
    }
  }

  private storm(nowUs: number): void {
    if (nowUs < this.stormUs - closeMarginUs) return;
    const connections = this.dependencies.opened();
    if (!this.storming) {
      this.storming = true;
      // A late timer must not shorten the time for messages in flight.
      this.stormUs = Math.max(this.stormUs, nowUs + closeMarginUs);
      for (const { index } of connections) {
        this.exchanging.add(index);
        this.dependencies.leave(index);
      }
    }
    if (nowUs < this.stormUs) return;
    this.stormUs = Infinity;
    this.storming = false;
    this.leaving.length = 0;
    for (const connection of connections) {
      this.endsUs.delete(connection.index);
      this.dependencies.close(connection);
      this.reconnector.down(connection.index);
    }
  }

  private leave(index: number, closeUs: number): void {
    this.endsUs.delete(index);
    const connection = this.dependencies.openAt(index);
    if (connection === undefined) return;
    this.exchanging.add(index);
    this.dependencies.leave(index);
    this.leaving.push({ connection, closeUs });
  }

  private async reopen(index: number, signal: AbortSignal): Promise<boolean> {
    const connection = await this.dependencies.reopen(index, signal);
    if (!(await this.dependencies.prepare(connection))) return false;
    this.exchanging.delete(index);
    this.overdue.delete(index);
    this.joined(index);
    return true;
  }
}

interface ReconnectorDependencies {
  readonly nowUs: () => number;
  readonly open: (index: number, signal: AbortSignal) => Promise<boolean>;
  readonly failed: (index: number, failure: ConnectFailure) => void;
}

/** Reopens connections by the reconnect policy, honours Retry-After, and never gives up. */
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

  down(index: number): void {
    const tries = this.tries.get(index) ?? 0;
    this.tries.set(index, tries + 1);
    this.later(index, reconnectDelayMs(this.life, tries, this.random));
  }

  exchange(index: number): void {
    const nowMs = this.dependencies.nowUs() / 1000;
    this.nextSlotMs = Math.max(nowMs, this.nextSlotMs + this.betweenMs);
    this.later(index, this.nextSlotMs - nowMs);
  }

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
      inBackground(this.open(index));
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

/** Least pause between two tries of one connection, so that a delay of 0 is no busy loop. */
const leastPauseMs = 20;

/** Delays of `withAutomaticReconnect` in the official clients; the last one repeats. */
const signalrMs = [0, 2000, 10_000, 30_000];
const longestMs = 30_000;

export function reconnectDelayMs(
  { policy, delayMs }: Pick<PlanLife, 'policy' | 'delayMs'>,
  attempt: number,
  random: Random,
): number {
  switch (policy) {
    case 'atOnce':
      return attempt === 0 ? 0 : delayMs;
    case 'fixed':
      return delayMs;
    case 'exponential':
      // Spread over 50 % to 150 %, so that they do not all come back at once.
      return Math.min(longestMs, delayMs * 2 ** Math.min(attempt, 30)) * (0.5 + random.next());
    case 'signalr':
      return signalrMs[Math.min(attempt, signalrMs.length - 1)]!;
  }
}
