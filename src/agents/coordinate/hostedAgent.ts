import type { WorkerSample } from '../../measure/sample';
import type { AgentProgress } from '../../measure/summary';
import { ReportedCpu } from '../../engine/machineClock';
import { InOrder } from '../bus/logWriter';
import type { Beat, Member, NumberedFact } from '../messages';

/** Source: decision record on several machines, "Merging and losing". */
const suspectMs = 5000;

/** `left` and `lost` are over, as `final` is; a `suspect` may come back. */
type AgentState = 'joined' | 'running' | 'suspect' | 'leaving' | 'final' | 'left' | 'lost';

const statusOf: Readonly<Record<AgentState, AgentProgress['status']>> = {
  joined: 'running',
  running: 'running',
  suspect: 'silent',
  leaving: 'leaving',
  final: 'done',
  left: 'left',
  lost: 'lost',
};

/** One agent as its coordinator knows it, by beats and facts. */
export class HostedAgent {
  state: AgentState = 'joined';
  readonly ready = new Set<number>();
  readonly facts: InOrder<NumberedFact>;
  /** Beats so far. */
  beats = 0;
  /** Number of the last order that it has taken. */
  orders = 0;
  /** Connections that take part. */
  open = 0;
  readonly cpu = new ReportedCpu();
  clockErrorUs = 0;
  /** Why it leaves, as it said. */
  leaves = '';
  private reportedFacts = 0;
  private behindSinceMs: number | undefined;
  private mostClockErrorUs = 0;
  private clockJumps = 0;
  private lastTick = 0;

  constructor(
    readonly index: number,
    readonly member: Member,
    readonly workers: ReadonlySet<number>,
    public heardMs: number,
    take: (agent: HostedAgent, fact: NumberedFact) => void,
  ) {
    this.facts = new InOrder((fact) => take(this, fact));
  }

  beat({ facts, orders, clockErrorUs }: Beat, nowMs: number): void {
    this.heardMs = nowMs;
    this.beats += 1;
    this.reportedFacts = facts;
    this.orders = orders;
    this.clockErrorUs = clockErrorUs;
    this.mostClockErrorUs = Math.max(this.mostClockErrorUs, clockErrorUs);
    if (this.state === 'suspect') this.state = 'running';
  }

  sampled({ tick, clock, atUs }: WorkerSample): void {
    this.cpu.sampled(atUs);
    this.lastTick = Math.max(this.lastTick, tick);
    if (clock === undefined) return;
    this.mostClockErrorUs = Math.max(this.mostClockErrorUs, clock.errorUs);
    this.clockJumps = Math.max(this.clockJumps, clock.jumps);
  }

  /** Time passes, in which nobody could be heard where the coordinator is deaf. */
  pass(nowMs: number, deafForMs: number): void {
    this.heardMs += deafForMs;
    if (this.isSilent(nowMs) && this.state === 'running') this.state = 'suspect';
    this.behindSinceMs = this.isBehind ? (this.behindSinceMs ?? nowMs) : undefined;
  }

  isSilent(nowMs: number, forMs = suspectMs): boolean {
    return nowMs - this.heardMs > forMs;
  }

  /** How long it has reported more than was read, milliseconds. */
  behindMs(nowMs: number): number {
    return nowMs - (this.behindSinceMs ?? nowMs);
  }

  get isBehind(): boolean {
    return this.facts.taken < this.reportedFacts;
  }

  get isReady(): boolean {
    return this.ready.size >= this.workers.size;
  }

  get isHere(): boolean {
    const { state } = this;
    return state !== 'final' && state !== 'left' && state !== 'lost';
  }

  get place(): string {
    return this.member.node ?? this.member.host;
  }

  get name(): string {
    return `agent ${this.index + 1} (${this.place})`;
  }

  progress(agents: number): AgentProgress {
    const { index, place, state, lastTick, mostClockErrorUs, clockJumps } = this;
    return {
      index: index + 1,
      node: place,
      lastTick,
      share: 1 / agents,
      status: statusOf[state],
      clockErrorUs: Math.ceil(mostClockErrorUs),
      ...(clockJumps > 0 && { clockJumps }),
    };
  }
}
