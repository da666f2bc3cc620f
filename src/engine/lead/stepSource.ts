import type { LatencyGrowth } from '../../measure/judge/stepWatches';
import { isUndecided, judgeSentLoad } from '../../measure/judge/verdict';
import { judgedLatency } from '../../measure/latencySummary';
import type { SearchProgress } from '../../measure/snapshot';
import type { Ending, SloCheck, Verdict } from '../../measure/summary';
import { isDisturbance } from '../../measure/judge/reason';
import type { StepTotals } from '../../measure/total/stepTotals';
import type { PlanStep } from '../../plan/plan';
import type { SearchSpec } from '../../scenario/scenario';
import type {
  BrokenObjective,
  SearchStep,
  SearchSummary,
  SearchEnd,
} from '../../base/searchSummary';

interface StepOver {
  readonly step: PlanStep;
  readonly totals: StepTotals;
  readonly verdict: Verdict;
  readonly checks: readonly SloCheck[];
  /** Growth of latency during the step. */
  readonly growth?: LatencyGrowth | undefined;
}

export interface StepSource {
  next(nowUs: number): PlanStep | undefined;
  over(step: StepOver): void;
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

/** Between two steps, besides the times of their plan; agents get orders a second ahead. */
const betweenMs = 200;
const betweenOnAgentsMs = 2000;

const outcomes: Readonly<Record<Exclude<Verdict['status'], 'invalid'>, StepOutcome>> = {
  pass: 'held',
  fail: 'missed',
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
      ? judgeSentLoad(verdict, (sent * 1000) / measureMs, this.value)
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
    this.search.recordOutcome(isTooShort ? this.leaning(step, growth) : outcomeOf(verdict));
  }

  /** Repeats the value with a step twice as long, if the budget allows; at an end of the range always. */
  private leaning({ measureMs }: PlanStep, { middle, limit }: LatencyGrowth): StepOutcome {
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
  growth: LatencyGrowth | undefined,
): BrokenObjective | undefined {
  if (status !== 'fail') return undefined;
  const missed = [...ofDeliveries, ...ofConnections].find(
    (each) => !each.met && !isUndecided(each),
  );
  if (missed !== undefined) {
    const { metric, name, limit, value } = missed;
    return { metric, ...(name !== undefined && { name }), limit, value };
  }
  if (growth?.kind !== 'grows') return undefined;
  return { metric: 'backlog', limit: growth.limit, value: growth.middle };
}

export interface SearchRange {
  readonly from: number;
  readonly to: number;
  /** Largest width of the result, as a share of its lower end. */
  readonly precision: number;
}

/**
 * `generator`: the generator could not offer the load. `disturbed`: neither target nor generator is to blame.
 * `leans…`: the step was too short to decide, but suggests an outcome; `open`: even the longest step could not
 * decide.
 */
export type StepOutcome =
  | 'held'
  | 'missed'
  | 'generator'
  | 'disturbed'
  | 'leansHeld'
  | 'leansMissed'
  | 'open';

/** Steps for and against a value. A miss right after another miss may be its after-effect and counts half. */
interface Votes {
  held: number;
  missed: number;
  steps: number;
  /** Of steps too short to decide: used to choose the next value, not to end. */
  lean?: 'held' | 'missed';
  isOpen?: true;
}

const doubtful = 0.5;
/** Lead of votes that confirms an end of the interval; more once steps have contradicted each other. */
const enoughLead = 2;
const noisyLead = 2.5;
/** Lead of votes that overrules a contradiction. */
const overruling = 2;
/** After that many steps a contested value stays inside the interval. */
const mostSteps = 6;
/** After that many misses in a row an easier value follows, so that the target can recover. */
const mostMisses = 3;
const easy = 0.75;
const mostDisturbed = 3;

type Standing = 'held' | 'missed' | 'contested';

/**
 * Doubles the value until a step misses, bisects until the interval is narrow enough, then repeats both ends until
 * each is confirmed. An end that turns out wrong reopens the interval; contested values stay inside it. Pure: no
 * clock, no engine.
 */
export class CapacitySearch {
  private readonly votes = new Map<number, Votes>();
  private trying: number | undefined;
  private missesInARow = 0;
  private isNoisy = false;
  private disturbedInARow = 0;
  private over: SearchEnd | undefined;

  constructor(private readonly range: SearchRange) {
    const { from, to, precision } = range;
    const isRange = [from, to].every((value) => Number.isSafeInteger(value) && value >= 1);
    if (!isRange || from > to || !(precision > 0)) throw new Error('this is not a range to search');
  }

  get ended(): SearchEnd | undefined {
    return this.over;
  }

  get low(): number | null {
    const lowestMissed = this.valuesThat('missed')[0] ?? Infinity;
    return (
      this.valuesThat('held')
        .filter((value) => value < lowestMissed)
        .at(-1) ?? null
    );
  }

  get high(): number | null {
    return this.valuesThat('missed')[0] ?? null;
  }

  next(): number | undefined {
    if (this.over !== undefined) return undefined;
    this.trying ??= this.choose();
    return this.trying;
  }

  recordOutcome(outcome: StepOutcome): void {
    const value = this.trying;
    if (value === undefined || this.over !== undefined) throw new Error('nothing was to be tried');
    this.trying = undefined;
    if (outcome === 'generator') this.end('generatorLimit');
    else if (outcome === 'disturbed') this.disturbed(value);
    else if (outcome === 'open') this.leaveOpen(value);
    else if (outcome === 'held' || outcome === 'missed') this.vote(value, outcome);
    else this.lean(value, outcome === 'leansHeld' ? 'held' : 'missed');
  }

  end(ended: SearchEnd): void {
    this.over ??= ended;
  }

  private disturbed(value: number): void {
    this.disturbedInARow += 1;
    this.trying = value;
    if (this.disturbedInARow >= mostDisturbed) this.end('generatorLimit');
  }

  private lean(value: number, lean: 'held' | 'missed'): void {
    this.votesOn(value).lean = lean;
    this.trying = this.choose();
  }

  /** A longer step would not decide either: the value counts as contested. */
  private leaveOpen(value: number): void {
    const votes = this.votesOn(value);
    votes.held += 1;
    votes.missed += 1;
    votes.steps = Math.max(mostSteps, votes.steps + 1);
    votes.isOpen = true;
    this.trying = this.choose();
  }

  private votesOn(value: number): Votes {
    const votes = this.votes.get(value) ?? { held: 0, missed: 0, steps: 0 };
    this.votes.set(value, votes);
    return votes;
  }

  private vote(value: number, outcome: 'held' | 'missed'): void {
    const votes = this.votesOn(value);
    votes.steps += 1;
    votes[outcome] += outcome === 'missed' && this.missesInARow > 0 ? doubtful : 1;
    this.disturbedInARow = 0;
    this.missesInARow = outcome === 'missed' ? this.missesInARow + 1 : 0;
    if (votes.held >= 1 && votes.missed >= 1) this.isNoisy = true;
    this.trying = this.recovery(value) ?? this.choose();
  }

  /** After many misses in a row: a value that has held, to let the target recover. */
  private recovery(missed: number): number | undefined {
    if (this.missesInARow < mostMisses) return undefined;
    this.missesInARow = 0;
    return this.valuesThat('held')
      .filter((value) => value <= easy * missed)
      .at(-1);
  }

  private choose(): number | undefined {
    const { from, to } = this.range;
    const { low, high } = this;
    const contested = this.valuesThat('contested').filter(
      (value) => value > (low ?? 0) && value < (high ?? Infinity),
    );
    const open = contested.find((value) => this.votes.get(value)!.steps < mostSteps);
    if (open !== undefined) return open;
    const first = contested[0] ?? high;
    const last = contested.at(-1) ?? low;
    if (low === null) {
      if (this.votes.has(from)) return this.proven(from) ?? this.finish('noneHeld');
      return from;
    }
    if (high === null) {
      if (last === to) return this.votes.get(to)!.steps === 0 ? to : this.finish('allHeld');
      return Math.min(to, 2 * (last ?? low));
    }
    // Narrows the interval on both sides of the contested values.
    if (!this.isNarrow(low, high, low)) {
      if (first !== null && !this.isNarrow(low, first, low)) return this.between(low, first);
      if (last !== null && !this.isNarrow(last, high, low)) return this.between(last, high);
    }
    // The lower end comes last: it must hold now.
    return this.proven(high) ?? this.proven(low) ?? this.finish('found');
  }

  private finish(ended: SearchEnd): number | undefined {
    this.over = ended;
    return undefined;
  }

  private isNarrow(low: number, high: number, of: number): boolean {
    return high - low <= Math.max(1, this.range.precision * of);
  }

  private between(low: number, high: number): number {
    const middle = (low + high) / 2;
    const room = (high - low) / 10;
    for (let step = 10 ** Math.floor(Math.log10(high)); step > 1; step /= 10) {
      const rounded = Math.round(middle / step) * step;
      if (Math.abs(rounded - middle) <= room) return rounded;
    }
    return Math.floor(middle);
  }

  private proven(value: number): number | undefined {
    const { held, missed, steps } = this.votes.get(value)!;
    const isBelieved =
      steps >= mostSteps || Math.abs(held - missed) >= (this.isNoisy ? noisyLead : enoughLead);
    return isBelieved ? undefined : value;
  }

  /** A contested value at an end of the range has no neighbour to confirm it: it counts as missed. */
  private standingOf(
    value: number,
    { held, missed, steps, lean, isOpen }: Votes,
  ): Standing | undefined {
    if (steps === 0) return this.over === undefined ? lean : undefined;
    if (missed === 0 || held - missed >= overruling) return 'held';
    if (held === 0 || missed - held >= overruling) return 'missed';
    const isEnd = value === this.range.from || value === this.range.to;
    if (isOpen === true) return 'contested';
    return isEnd && steps >= mostSteps ? 'missed' : 'contested';
  }

  private valuesThat(stand: Standing): number[] {
    return [...this.votes]
      .flatMap(([value, votes]) => (this.standingOf(value, votes) === stand ? [value] : []))
      .sort((a, b) => a - b);
  }
}
