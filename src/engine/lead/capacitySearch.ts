import type { SearchEnd } from '../../base/searchSummary';

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
  /** Even the longest step could not decide. */
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
/** In a row, before the search gives up. */
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

  came(outcome: StepOutcome): void {
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

  /** The middle, rounded to few digits. */
  private between(low: number, high: number): number {
    const middle = (low + high) / 2;
    const room = (high - low) / 10;
    for (let step = 10 ** Math.floor(Math.log10(high)); step > 1; step /= 10) {
      const rounded = Math.round(middle / step) * step;
      if (Math.abs(rounded - middle) <= room) return rounded;
    }
    return Math.floor(middle);
  }

  /** The value if it needs another step to be confirmed. */
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
