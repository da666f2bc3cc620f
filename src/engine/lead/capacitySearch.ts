/** The search for the highest value that holds: what to try next, by what came of the values before. */
import type { SearchEnd } from '../../base/searchSummary';

export interface SearchRange {
  /** Whole numbers from 1. */
  readonly from: number;
  readonly to: number;
  /** The interval may be so wide, as a share of its lower end. */
  readonly precision: number;
}

/**
 * What came of a step: it `held` its objectives or `missed` one; the `generator` could not offer it; or it was
 * `disturbed` by something that is neither the target nor the generator. It was too short to say, but leans to one side; or
 * even the longest leaves that `open`, which may be between the ends of the range alone.
 */
export type StepOutcome =
  | 'held'
  | 'missed'
  | 'generator'
  | 'disturbed'
  | 'leansHeld'
  | 'leansMissed'
  | 'open';

/**
 * Steps that speak for a value and against it. One that misses right after another that missed may suffer from that
 * one still: it counts half.
 */
interface Votes {
  held: number;
  missed: number;
  steps: number;
  /** Of steps that were too short: enough to go on by, not to end with. */
  lean?: 'held' | 'missed';
  /** Even the longest step has left it open. */
  isOpen?: true;
}

const doubtful = 0.5;
/** By so much more must speak for an end of the interval than against it, once steps have contradicted each other by more. */
const enoughLead = 2;
const noisyLead = 2.5;
/** One contradiction is overruled when so much more speaks against it. */
const overruling = 2;
/** A value that goes both ways is tried so often; then it lies between what held and what did not. */
const mostSteps = 6;
/** After so many misses in a row a value that is easy for the target comes in between. */
const mostMisses = 3;
const easy = 0.75;
/** One after the other, before the search gives up. */
const mostDisturbed = 3;

type Standing = 'held' | 'missed' | 'contested';

/**
 * A staircase that doubles until a step misses, then bisection until the interval is as narrow as asked. Then
 * both its ends are tried again until each is believed; an end that turns out to be wrong opens the interval
 * again. What goes both ways, however often it is tried, stays inside the interval, which is wider by that. No
 * clock and no engine is in here: `next` says what to try, `came` takes what came of it.
 */
export class CapacitySearch {
  private readonly votes = new Map<number, Votes>();
  private trying: number | undefined;
  /** Misses since the last step that held. */
  private missesInARow = 0;
  private isNoisy = false;
  private disturbedInARow = 0;
  private over: SearchEnd | undefined;

  constructor(private readonly range: SearchRange) {
    const { from, to, precision } = range;
    const isRange = [from, to].every((value) => Number.isSafeInteger(value) && value >= 1);
    if (!isRange || from > to || !(precision > 0)) throw new Error('this is not a range to search');
  }

  /** Undefined while it goes on. */
  get ended(): SearchEnd | undefined {
    return this.over;
  }

  /** The highest value that held, below all that did not; null where none did. */
  get low(): number | null {
    const lowestMissed = this.valuesThat('missed')[0] ?? Infinity;
    return (
      this.valuesThat('held')
        .filter((value) => value < lowestMissed)
        .at(-1) ?? null
    );
  }

  /** The lowest value that did not hold; null where all did. */
  get high(): number | null {
    return this.valuesThat('missed')[0] ?? null;
  }

  /** The value to try next; undefined when the search is over. */
  next(): number | undefined {
    if (this.over !== undefined) return undefined;
    this.trying ??= this.choose();
    return this.trying;
  }

  /** What came of the value that `next` has named. */
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

  /** Ends the search before it has come to an end by itself. */
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

  /** More steps as long would say no more: it lies between what held and what did not. */
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

  /** After many misses in a row: a value that has held, by which a target that has not recovered may show it. */
  private recovery(missed: number): number | undefined {
    if (this.missesInARow < mostMisses) return undefined;
    this.missesInARow = 0;
    return this.valuesThat('held')
      .filter((value) => value <= easy * missed)
      .at(-1);
  }

  /** Sets the end where there is nothing left to try. */
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
    // Between what goes both ways and what does not: on both sides of it.
    if (!this.isNarrow(low, high, low)) {
      if (first !== null && !this.isNarrow(low, first, low)) return this.between(low, first);
      if (last !== null && !this.isNarrow(last, high, low)) return this.between(last, high);
    }
    // The lower end last: it must hold now.
    return this.proven(high) ?? this.proven(low) ?? this.finish('found');
  }

  private finish(ended: SearchEnd): number | undefined {
    this.over = ended;
    return undefined;
  }

  private isNarrow(low: number, high: number, of: number): boolean {
    return high - low <= Math.max(1, this.range.precision * of);
  }

  /** The middle, by as few digits as keep it near there. */
  private between(low: number, high: number): number {
    const middle = (low + high) / 2;
    const room = (high - low) / 10;
    for (let step = 10 ** Math.floor(Math.log10(high)); step > 1; step /= 10) {
      const rounded = Math.round(middle / step) * step;
      if (Math.abs(rounded - middle) <= room) return rounded;
    }
    return Math.floor(middle);
  }

  /** The value where it needs another step to be believed; undefined where it is. */
  private proven(value: number): number | undefined {
    const { held, missed, steps } = this.votes.get(value)!;
    const isBelieved =
      steps >= mostSteps || Math.abs(held - missed) >= (this.isNoisy ? noisyLead : enoughLead);
    return isBelieved ? undefined : value;
  }

  /** What goes both ways at an end of the range has nothing beyond it that would hold it together: it does not hold. */
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

  /** Rising. */
  private valuesThat(stand: Standing): number[] {
    return [...this.votes]
      .flatMap(([value, votes]) => (this.standingOf(value, votes) === stand ? [value] : []))
      .sort((a, b) => a - b);
  }
}
