import { joined, SaidError, say, sentence, withValues, type Words } from '../../base/sentence';
import { formatCount } from '../../base/units';
import { agentsOf } from '../../plan/agents';
import type { Plan } from '../../plan/plan';

const mostNamed = 2;

/** Agents lost while the others went on, and why. */
export class LostAgents {
  private readonly words = new Map<number, Words>();

  constructor(
    private readonly plan: Pick<Plan, 'agents'>,
    private readonly shown: (text: string) => string,
  ) {}

  has(agent: number): boolean {
    return this.words.has(agent);
  }

  get any(): boolean {
    return this.words.size > 0;
  }

  get others(): number {
    return agentsOf(this.plan) - this.words.size;
  }

  add(agent: number, error: Error): string {
    const words = error instanceof SaidError ? error.words : error.message;
    const said = withValues(words, this.shown);
    this.words.set(agent, said);
    return say(said);
  }

  all(): Words[] {
    return [...this.words.values()];
  }

  /** The reason for the end of the run. */
  sentence(): Words {
    const all = this.all();
    const [first = '', ...more] = all;
    return all.length <= mostNamed
      ? sentence('A part of the load was missing: {0}', joined(all))
      : sentence(
          'A part of the load was missing: {0}, and {1} more',
          ...[first, formatCount(more.length)],
        );
  }
}
