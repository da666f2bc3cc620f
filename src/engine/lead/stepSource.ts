import type { Growth } from '../../measure/judge/stepWatches';
import { isOpen, withAsked } from '../../measure/judge/verdict';
import { judgedLatency } from '../../measure/latencySummary';
import type { SearchProgress } from '../../measure/snapshot';
import { type Ending, isDisturbance, type SloCheck, type Verdict } from '../../measure/summary';
import type { StepTotals } from '../../measure/total/stepTotals';
import type { PlanStep } from '../../plan/plan';
import type { SearchSpec } from '../../scenario/scenario';
import { CapacitySearch, type StepOutcome } from './capacitySearch';
import type { BrokenObjective, SearchStep, SearchSummary } from '../../base/searchSummary';

interface StepOver {
  readonly step: PlanStep;
  readonly totals: StepTotals;
  readonly verdict: Verdict;
  /** Objectives of its connections. */
  readonly checks: readonly SloCheck[];
  /** Growth of latency during the step. */
  readonly growth?: Growth | undefined;
}

export interface StepSource {
  next(nowUs: number): PlanStep | undefined;
  over(step: StepOver): void;
  /** As far as known. */
  readonly count: number;
  /** Whether a missed objective does not end the run. */
  readonly goesOn: boolean;
  withAsked?(verdict: Verdict, step: PlanStep, totals: StepTotals): Verdict;
  readonly progress?: SearchProgress;
  found?(ending: Ending, nowUs: number): SearchSummary;
}

export class ListedSteps implements StepSource {
  private at = 0;
  readonly goesOn = false;

  constructor(private readonly steps: readonly PlanStep[]) {}

  get count(): number {
    return this.steps.length;
  }

  next(): PlanStep | undefined {
    return this.steps[this.at++];
  }

  over(): void {}
}

/** Overhead between two steps; orders to agents are sent a second ahead. */
const betweenMs = 200;
const betweenOnAgentsMs = 2000;

const outcomes: Readonly<Record<Exclude<Verdict['status'], 'invalid'>, StepOutcome>> = {
  pass: 'held',
  fail: 'missed',
  // Agents were lost, so the outcome is unknown.
  incomplete: 'disturbed',
};

/** Longest step, as a share of the search budget. */
const longestShare = 0.2;

/** Steps of a capacity search, each chosen by the outcomes before. */
export class SearchedSteps implements StepSource {
  private readonly search: CapacitySearch;
  private readonly steps: SearchStep[] = [];
  private value = 0;
  /** Factor by which the step of a value is longer, because a shorter one could not decide. */
  private readonly times = new Map<number, number>();
  readonly goesOn = true;

  constructor(
    private readonly spec: SearchSpec,
    private readonly stepOf: (value: number, index: number) => PlanStep,
    private readonly agents = 1,
  ) {
    this.search = new CapacitySearch(spec);
  }

  get count(): number {
    return this.steps.length + (this.search.ended === undefined ? 1 : 0);
  }

  next(nowUs: number): PlanStep | undefined {
    const value = this.search.next();
    if (value === undefined) return undefined;
    const usual = this.stepOf(value, this.steps.length + 1);
    const step = { ...usual, measureMs: usual.measureMs * (this.times.get(value) ?? 1) };
    const between = this.agents > 1 ? betweenOnAgentsMs : betweenMs;
    const needsMs = step.warmupMs + step.measureMs + between;
    // The first step always runs: a search without steps says nothing.
    if (this.steps.length > 0 && nowUs / 1000 + needsMs > this.spec.budgetMs) {
      this.search.end('budget');
      return undefined;
    }
    this.value = value;
    return step;
  }

  get progress(): SearchProgress {
    const { search, spec, value, steps } = this;
    const { low, high } = search;
    const valuesThat = (status: Verdict['status'], from: number, to: number): number[] =>
      steps
        .filter((step) => step.status === status && step.value >= from && step.value <= to)
        .map((step) => step.value);
    // Steps too short to decide count for neither end.
    const held = low === null ? [] : valuesThat('pass', spec.from, low);
    const missed = high === null ? [] : valuesThat('fail', high, spec.to);
    const [most, least] = [Math.max(...held), Math.min(...missed)];
    return {
      ...{ of: spec.of, value },
      ...{ low: held.length === 0 ? null : most, high: missed.length === 0 ? null : least },
    };
  }

  withAsked(verdict: Verdict, { measureMs }: PlanStep, { sent }: StepTotals): Verdict {
    return this.spec.of === 'rate'
      ? withAsked(verdict, (sent * 1000) / measureMs, this.value)
      : verdict;
  }

  over({ step, totals, verdict, checks, growth }: StepOver): void {
    const { expected } = totals;
    const { received } = totals.delivered();
    const latency = judgedLatency({
      ...{ expected, received },
      latencyAtShareUs: (share) => totals.latency.valueAtShare(share),
    });
    const sentPerSecond = (totals.sent * 1000) / step.measureMs;
    const isUnsent = verdict.reasons.some(({ code }) => code === 'notSent');
    const broken =
      brokenBy(verdict, checks, growth) ??
      (isUnsent ? { metric: 'rate', limit: this.value, value: sentPerSecond } : undefined);
    const isTooShort = growth?.kind === 'open' && verdict.status === 'incomplete';
    this.steps.push({
      ...{ index: step.index, value: this.value, status: verdict.status },
      p50: expected > 0 ? latency.p50 : null,
      p99: expected > 0 ? latency.p99 : null,
      lost: expected - received,
      ...(broken !== undefined && { broken }),
      ...(isTooShort && { tooShort: true }),
    });
    this.search.came(isTooShort ? this.leaning(step, growth) : outcomeOf(verdict));
  }

  /** Repeats the value with a step twice as long, if the budget allows; at an end of the range always. */
  private leaning({ measureMs }: PlanStep, { middle, limit }: Growth): StepOutcome {
    const { from, to, budgetMs } = this.spec;
    const isEnd = this.value === from || this.value === to;
    if (!isEnd && 2 * measureMs > longestShare * budgetMs) return 'open';
    this.times.set(this.value, 2 * (this.times.get(this.value) ?? 1));
    return middle > limit ? 'leansMissed' : 'leansHeld';
  }

  found(ending: Ending, nowUs: number): SearchSummary {
    const { search, spec, steps } = this;
    if (ending === 'targetLost') search.end('targetLost');
    else if (ending !== 'completed') search.end('stopped');
    const { low, high, ended = 'stopped' } = search;
    const breaking = steps.filter(({ value, broken }) => value === high && broken !== undefined);
    return {
      ...spec,
      ...{ low, high, unit: null, ended, steps },
      broken: breaking.at(-1)?.broken ?? null,
      elapsedMs: Math.round(nowUs / 1000),
    };
  }
}

/** Some invalid verdicts are not the generator's fault. */
function outcomeOf({ status, reasons }: Verdict): StepOutcome {
  if (status !== 'invalid') return outcomes[status];
  const [{ code } = { code: '' }] = reasons;
  if (code === 'nothingSent') return 'missed';
  return isDisturbance(code) ? 'disturbed' : 'generator';
}

function brokenBy(
  { checks: ofDeliveries = [], status }: Verdict,
  ofConnections: readonly SloCheck[],
  growth: Growth | undefined,
): BrokenObjective | undefined {
  if (status !== 'fail') return undefined;
  const missed = [...ofDeliveries, ...ofConnections].find((each) => !each.met && !isOpen(each));
  if (missed !== undefined) {
    const { metric, name, limit, value } = missed;
    return { metric, ...(name !== undefined && { name }), limit, value };
  }
  if (growth?.kind !== 'grows') return undefined;
  return { metric: 'backlog', limit: growth.limit, value: growth.middle };
}
