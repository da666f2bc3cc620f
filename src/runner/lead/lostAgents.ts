import { formatCount } from '../../base/units';
import { agentsOf } from '../../plan/agents';
import type { Plan } from '../../plan/plan';

/** More are counted in a sentence. */
const mostNamed = 2;

/** Agents that were lost while the others went on, and why. */
export class LostAgents {
  private readonly words = new Map<number, string>();

  /** @param shown what may be shown of a text */
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

  /** Agents of the plan that are there. */
  get others(): number {
    return agentsOf(this.plan) - this.words.size;
  }

  /** What is said of it: the error names the agent. */
  add(agent: number, { message }: Error): string {
    const said = this.shown(message);
    this.words.set(agent, said);
    return said;
  }

  /** Of each, in the order in which they were lost. */
  all(): string[] {
    return [...this.words.values()];
  }

  /** For people, as the reason why a run has ended. */
  sentence(): string {
    const all = this.all();
    const [first = '', ...more] = all;
    const said =
      all.length <= mostNamed ? all.join('; ') : `${first}, and ${formatCount(more.length)} more`;
    return `A part of the load was missing: ${said}`;
  }
}
