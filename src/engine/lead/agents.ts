import {
  joinWords,
  SentenceError,
  say,
  sentence,
  mapPlainText,
  type Words,
} from '../../base/sentence';
import { formatCount } from '../../base/units';
import { agentCount, type Plan } from '../../plan/plan';
import type { MembershipReport, ToWorker } from '../../messages/worker';

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
    return agentCount(this.plan) - this.words.size;
  }

  add(agent: number, error: Error): string {
    const words = error instanceof SentenceError ? error.words : error.message;
    const said = mapPlainText(words, this.shown);
    this.words.set(agent, said);
    return say(said);
  }

  all(): Words[] {
    return [...this.words.values()];
  }

  sentence(): Words {
    const all = this.all();
    const [first = '', ...more] = all;
    return all.length <= mostNamed
      ? sentence('A part of the load was missing: {0}', joinWords(all))
      : sentence(
          'A part of the load was missing: {0}, and {1} more',
          ...[first, formatCount(more.length)],
        );
  }
}

/** Limit of one order, below 400 KB as JSON. */
const mostNumbers = 24_576;

/** Collects membership changes of all agents' workers and forwards them to all. */
export class MembershipRelay {
  private pending: MembershipReport[] = [];
  private readonly reporters = new Set<number>();

  constructor(
    private readonly alive: () => ReadonlySet<number>,
    private readonly order: (order: ToWorker) => void,
  ) {}

  /** Forwards once every worker has reported: nothing can be settled earlier. */
  add(report: MembershipReport): void {
    if (!isReport(report)) return;
    this.pending.push(report);
    this.reporters.add(report.worker);
    if (this.haveAllReported()) this.forward();
  }

  private haveAllReported(): boolean {
    for (const worker of this.alive()) if (!this.reporters.has(worker)) return false;
    return true;
  }

  forward(): void {
    const { pending } = this;
    this.pending = [];
    this.reporters.clear();
    for (let from = 0; from < pending.length;) {
      let to = from;
      for (let numbers = 0; to < pending.length; to++) {
        numbers += pending[to]!.changes.length;
        if (to > from && numbers > mostNumbers) break;
      }
      this.order({ type: 'moved', reports: pending.slice(from, to) });
      from = to;
    }
  }
}

/** Reports may come from other machines. */
const isReport = ({ upToUs, changes }: MembershipReport): boolean =>
  typeof upToUs === 'number' &&
  upToUs >= 0 &&
  upToUs <= Number.MAX_SAFE_INTEGER &&
  Array.isArray(changes) &&
  changes.length <= mostNumbers &&
  changes.every(Number.isSafeInteger);
