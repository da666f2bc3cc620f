import { sentence, type Words } from '../../base/sentence';
import { latencyWords, formatCount } from '../../base/units';
import type { ClockSample } from '../sample';

/** What two threads of one machine may read its clock apart, microseconds. */
const readingUs = 5;
/** More than a run may have; whoever has the key of the bus may name any. */
const mostAgents = 1000;

/** The clocks of all agents in one step: how far they may differ, and whether the traffic between them agrees. */
export class StepClocks {
  private readonly errors = new Map<number, number>();
  private readonly moved = new Set<number>();
  /** Of agents that deliveries between them prove to differ by so much, microseconds: by receiver, then by sender. */
  private readonly ahead = new Map<number, Map<number, number>>();
  jumps = 0;

  note(agent: number, { errorUs, jumps }: ClockSample): void {
    this.errors.set(agent, Math.max(errorUs, this.errors.get(agent) ?? 0));
    if (jumps === 0) return;
    this.jumps += jumps;
    this.moved.add(agent);
  }

  came(receiver: number, ahead: readonly number[]): void {
    const of = this.ahead.get(receiver) ?? new Map<number, number>();
    this.ahead.set(receiver, of);
    for (let at = 0; at + 1 < ahead.length; at += 2) {
      const [sender, us] = [ahead[at]!, ahead[at + 1]!];
      const isAgent = Number.isSafeInteger(sender) && sender >= 0 && sender < mostAgents;
      if (isAgent && us > 0 && us < Infinity) of.set(sender, Math.max(us, of.get(sender) ?? 0));
    }
  }

  /** By how much the clocks of two agents may differ, microseconds; undefined: nobody has said. */
  get errorUs(): number | undefined {
    if (this.errors.size === 0) return undefined;
    const [most = 0, next = 0] = [...this.errors.values()].sort((a, b) => b - a);
    return most + next;
  }

  /**
   * Why latency between agents says nothing. A delivery that came before it was sent shows by how much two clocks
   * differ at least.
   */
  get problem(): Words | undefined {
    const [first] = this.moved;
    if (first !== undefined)
      return sentence('the clock of agent {0} was moved', formatCount(first + 1));
    let worst: { readonly words: Words; readonly byUs: number } | undefined;
    for (const [receiver, of] of this.ahead)
      for (const [sender, us] of of) {
        const [a, b] = [this.errors.get(sender), this.errors.get(receiver)];
        if (a === undefined || b === undefined) continue;
        const byUs = us - a - b - readingUs;
        if (byUs <= 0 || (worst !== undefined && worst.byUs >= byUs)) continue;
        const agents = [sender, receiver].map((agent) => formatCount(agent + 1));
        const words = sentence(
          'messages of agent {0} came to agent {1} {2} before they were sent although their clocks differ by at most {3}',
          ...[...agents, latencyWords(us), latencyWords(a + b)],
        );
        worst = { words, byUs };
      }
    return worst?.words;
  }
}
