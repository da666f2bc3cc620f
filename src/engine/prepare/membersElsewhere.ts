import { agentOfWorker } from '../../plan/agents';
import type { Plan } from '../../plan/plan';
import { groupsIn, type Population, reachesMany } from '../../plan/population';
import type { Unsettled } from '../../measure/sample';
import type { MembershipReport } from '../../messages/worker';
import type { MemberChange } from './sharedMembers';

/** Where messages count that go to groups or to everyone. */
interface ExpectedCounts {
  expected: number;
  /** See {@link import('../../measure/sample').MessageCounts}. */
  ambiguous: number;
  /** By how much the clocks of two agents may differ in the step. */
  readonly ambiguousUs: number;
}

/** Of a connection of another agent, at a whole microsecond of run time. */
interface Change {
  readonly connection: number;
  readonly atUs: number;
  readonly joins: boolean;
  readonly outside: boolean;
  /** It moves in or out of its group of that population alone. */
  readonly moved: Population | undefined;
  /** Messages up to that number had left before it was heard of. */
  readonly heardAt: number;
}

/** Messages that may be unsettled at the same time, 28 bytes each: more than a minute of what one thread can send. */
const mostUnsettled = 2 ** 22;
const firstPlaces = 2 ** 10;

/**
 * Which connections of other agents take part, and what messages to them are to be expected. Threads of one agent share
 * memory for it ({@link import('./sharedMembers').SharedMembers}); agents hear of each other by messages, later.
 *
 * A message counts at once for those members elsewhere that are known of when it leaves. It is settled when every worker
 * of the other agents has reported its changes up to that moment: then it is known who was a member at the microsecond in
 * its stamp, and what was counted is put right. The receivers decide by the same two numbers, so both sides agree on every
 * message, whatever the clocks. Where the clocks of agents may differ, a message that left as near to a change of a
 * receiver as that cannot be assigned to either side of it: it is ambiguous, and neither side counts it.
 */
export class MembersElsewhere {
  /** Of each group, as far as is known here. */
  private readonly members: Int32Array;
  /** Of each connection: 0 where it takes no part, else the flags of its join. */
  private readonly state: Uint8Array;
  /** Of those that take part outside: the population into whose group they have moved. */
  private readonly inside = new Map<number, Population>();
  /** Of each worker: its changes up to then are known. */
  private readonly knownUs: Float64Array;
  /** One of them, where entries share their groups. */
  private readonly populationOfGroup: readonly Population[];
  /** Whose messages go to connections of other agents at all. */
  private readonly reaching: readonly Population[];
  /** Those that a message may not be settled without. */
  private changes: Change[] = [];
  private ambiguousUs = 0;
  private readonly counted: ExpectedCounts[] = [];
  /** Numbers of the first message that is not settled, and of the next one; places in the ring by their lower bits. */
  private first = 0;
  private next = 0;
  private sentUs = new Float64Array(firstPlaces);
  private group = new Int32Array(firstPlaces);
  private assumed = new Int32Array(firstPlaces);
  private place = new Int32Array(firstPlaces);
  /** Sum of what was assumed for all messages before. */
  private before = new Float64Array(firstPlaces);
  private assumedSoFar = 0;
  /** In this step: there were too many to wait for what others report. */
  private guessed = 0;

  /** @param nowUs run time; messages come in its order */
  constructor(
    private readonly plan: Plan,
    worker: number,
    private readonly populations: readonly Population[],
    private readonly nowUs: () => number,
  ) {
    const ofGroup = (this.populationOfGroup = new Array<Population>(groupsIn(populations)));
    for (const population of populations) {
      const { firstGroup, groupCount } = population;
      ofGroup.fill(population, firstGroup, firstGroup + groupCount);
    }
    this.members = new Int32Array(this.populationOfGroup.length);
    this.state = new Uint8Array(plan.connections);
    const own = agentOfWorker(plan, worker);
    this.knownUs = Float64Array.from(plan.workers, (_, other) =>
      agentOfWorker(plan, other) === own ? Infinity : -Infinity,
    );
    this.reaching = populations.filter(reachesMany);
  }

  begin(ambiguousUs: number): void {
    this.guessed = 0;
    this.ambiguousUs =
      this.next > this.first ? Math.max(this.ambiguousUs, ambiguousUs) : ambiguousUs;
  }

  get unsettled(): Unsettled | undefined {
    const { first, next, assumedSoFar } = this;
    const messages = next - first + this.guessed;
    if (messages === 0) return undefined;
    const settled = first === next ? assumedSoFar : this.before[first & (this.before.length - 1)]!;
    return { messages, deliveries: assumedSoFar - settled };
  }

  /** For {@link sent}. */
  placeOf(counted: ExpectedCounts): number {
    return this.counted.push(counted) - 1;
  }

  /** Deliveries to be expected elsewhere of a message that left at that whole microsecond, as far as is known. */
  sent(group: number, sentUs: number, place: number): number {
    if (this.next - this.first === this.sentUs.length) this.makeRoom();
    const at = this.next & (this.sentUs.length - 1);
    const assumed = this.members[group]!;
    this.sentUs[at] = sentUs;
    this.group[at] = group;
    this.assumed[at] = assumed;
    this.place[at] = place;
    this.before[at] = this.assumedSoFar;
    this.assumedSoFar += assumed;
    this.next += 1;
    return assumed;
  }

  heard(reports: readonly MembershipReport[]): void {
    const { knownUs, plan } = this;
    const workers = plan.workers.length;
    for (const { worker, upToUs, changes } of reports) {
      // One's own agent, and those that were lost.
      if (!(knownUs[worker]! < Infinity)) continue;
      for (let at = 0; at + 2 < changes.length; at += 3) {
        const [connection, atUs, what] = [changes[at]!, changes[at + 1]!, changes[at + 2]!];
        const isKnown = connection < plan.connections && connection % workers === worker;
        if (isKnown && Number.isFinite(atUs)) this.change(connection, atUs, what);
      }
      if (upToUs > knownUs[worker]! && upToUs < Infinity) knownUs[worker] = upToUs;
    }
    this.settle();
  }

  /** From what it reported last on nothing is expected of the agent, and nothing waited for. */
  gone(agent: number): void {
    const { plan, knownUs, state } = this;
    const workers = plan.workers.length;
    const isLost = (worker: number): boolean => agentOfWorker(plan, worker) === agent;
    let lastUs = 0;
    knownUs.forEach((us, worker) => {
      if (isLost(worker) && us < Infinity) lastUs = Math.max(lastUs, us);
    });
    for (const { connection, atUs } of this.changes)
      if (isLost(connection % workers)) lastUs = Math.max(lastUs, atUs);
    for (let connection = 0; connection < plan.connections; connection++)
      if (state[connection] !== 0 && isLost(connection % workers))
        this.change(connection, lastUs + 1, 0);
    for (let worker = 0; worker < workers; worker++) if (isLost(worker)) knownUs[worker] = Infinity;
    this.settle();
  }

  private change(connection: number, atUs: number, what: number): void {
    if ((what & changeBits.moves) !== 0) {
      const population = this.populations[what >> changeBits.position];
      this.move(connection, atUs, (what & changeBits.joins) !== 0, population);
      return;
    }
    const { state } = this;
    const joins = (what & changeBits.joins) !== 0;
    const before = state[connection]!;
    if (joins === (before !== 0)) return;
    if (!joins) this.move(connection, atUs, false, this.inside.get(connection));
    state[connection] = joins ? what & (changeBits.joins | changeBits.outside) : 0;
    const outside = ((joins ? what : before) & changeBits.outside) !== 0;
    this.note({ connection, atUs, joins, outside, moved: undefined, heardAt: this.next });
  }

  /** Those alone move that take part, and are outside of what they move in. */
  private move(
    connection: number,
    atUs: number,
    joins: boolean,
    moved: Population | undefined,
  ): void {
    const { inside, state } = this;
    const isOutside = (state[connection]! & changeBits.outside) !== 0;
    const before = inside.get(connection);
    if (moved?.othersMove !== true || !isOutside) return;
    if (before !== (joins ? undefined : moved)) return;
    if (joins) inside.set(connection, moved);
    else inside.delete(connection);
    this.note({ connection, atUs, joins, outside: false, moved, heardAt: this.next });
  }

  private note(change: Change): void {
    this.changes.push(change);
    for (const group of this.groupsOfChange(change)) this.members[group]! += change.joins ? 1 : -1;
  }

  private *groupsOfChange({ connection, outside, moved }: Change): Generator<number> {
    if (moved !== undefined) {
      yield moved.firstGroup + moved.groupOf(connection, 0);
      return;
    }
    for (const population of this.reaching) {
      if (outside && population.othersMove) continue;
      for (let slot = 0; slot < population.groupsPerConnection; slot++)
        yield population.firstGroup + population.groupOf(connection, slot);
    }
  }

  /** Settles what can be: mostly nobody has come or gone, and there is nothing to put right. */
  private settle(): void {
    let knownUs = Infinity;
    for (const us of this.knownUs) if (us < knownUs) knownUs = us;
    const untilUs = knownUs - this.ambiguousUs;
    const { first, changes } = this;
    const end = this.firstAfter(untilUs);
    if (changes.length > 0 && end > first) this.correct(first, end);
    this.first = end;
    if (changes.length > 0) this.forgetChanges();
  }

  /** Number of the first message that is sent later. */
  private firstAfter(untilUs: number): number {
    const last = this.sentUs.length - 1;
    let [from, to] = [this.first, this.next];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      if (this.sentUs[middle & last]! <= untilUs) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Puts right what was expected of the messages from `first` up to `end`, the latest first. */
  private correct(first: number, end: number): void {
    const { members, sentUs, group, assumed, place, counted } = this;
    const changes = this.changes.sort((a, b) => a.atUs - b.atUs);
    const oldestUs = changes[0]!.atUs;
    const heardFirst = changes.reduce((least, { heardAt }) => Math.min(least, heardAt), Infinity);
    const last = sentUs.length - 1;
    /** By group: what has changed after the message at hand. */
    const undone = new Map<number, number>();
    let later = changes.length;
    for (let number = end - 1; number >= first; number--) {
      const at = number & last;
      const us = sentUs[at]!;
      const counts = counted[place[at]!]!;
      // It and all before it left before the first change, and before anything was heard of it.
      if (number < heardFirst && us < oldestUs - counts.ambiguousUs) return;
      for (; later > 0 && changes[later - 1]!.atUs > us; later--) {
        const change = changes[later - 1]!;
        for (const each of this.groupsOfChange(change))
          undone.set(each, (undone.get(each) ?? 0) + (change.joins ? 1 : -1));
      }
      const own = group[at]!;
      counts.expected += members[own]! - (undone.get(own) ?? 0) - assumed[at]!;
      if (counts.ambiguousUs > 0) this.leaveOut(counts, own, us, later);
    }
  }

  /** Receivers whose change is too near to the message; changes from `later` on came after it. */
  private leaveOut(counts: ExpectedCounts, group: number, sentUs: number, later: number): void {
    const { changes } = this;
    const { ambiguousUs } = counts;
    const seen = new Set<number>();
    const consider = (change: Change, wasMember: boolean): void => {
      if (seen.has(change.connection) || !this.isOf(change, group)) return;
      seen.add(change.connection);
      counts.ambiguous += 1;
      if (wasMember) counts.expected -= 1;
    };
    for (let at = later; at < changes.length && changes[at]!.atUs - sentUs <= ambiguousUs; at++)
      consider(changes[at]!, !changes[at]!.joins);
    for (let at = later - 1; at >= 0 && sentUs - changes[at]!.atUs <= ambiguousUs; at--)
      consider(changes[at]!, changes[at]!.joins);
  }

  private isOf({ connection, outside, moved }: Change, group: number): boolean {
    if (moved !== undefined) return moved.firstGroup + moved.groupOf(connection, 0) === group;
    const population = this.populationOfGroup[group]!;
    if (outside && population.othersMove) return false;
    for (let slot = 0; slot < population.groupsPerConnection; slot++)
      if (population.firstGroup + population.groupOf(connection, slot) === group) return true;
    return false;
  }

  /** Those that every message to come knows of and comes after. */
  private forgetChanges(): void {
    const { first, next, ambiguousUs } = this;
    const isEmpty = first === next;
    const fromUs = isEmpty
      ? Math.floor(this.nowUs())
      : this.sentUs[first & (this.sentUs.length - 1)]!;
    this.changes = this.changes.filter(
      ({ heardAt, atUs }) => heardAt > first || atUs + ambiguousUs >= fromUs,
    );
  }

  private makeRoom(): void {
    const { sentUs, group, assumed, place, before, first, next } = this;
    const places = sentUs.length;
    if (places >= mostUnsettled) {
      // Someone has not reported for long; what was assumed may be wrong, and the step says so.
      this.first += places / 2;
      this.guessed += places / 2;
      return;
    }
    this.sentUs = new Float64Array(2 * places);
    this.group = new Int32Array(2 * places);
    this.assumed = new Int32Array(2 * places);
    this.place = new Int32Array(2 * places);
    this.before = new Float64Array(2 * places);
    for (let number = first; number < next; number++) {
      const [from, to] = [number & (places - 1), number & (2 * places - 1)];
      this.sentUs[to] = sentUs[from]!;
      this.group[to] = group[from]!;
      this.assumed[to] = assumed[from]!;
      this.place[to] = place[from]!;
      this.before[to] = before[from]!;
    }
  }
}

/** In one report: three numbers each, below 100 KB as JSON. */
const mostChanges = 4096;

/** Bits of {@link import('../../messages/worker').MembershipChange}; above them stands the position of an entry. */
const changeBits = { joins: 1, outside: 2, moves: 4, position: 3 } as const;

/** The coming and going of one worker's connections, as other agents are to hear of it. */
export class MemberChanges {
  private changes: number[] = [];
  private reportedUs = 0;

  constructor(private readonly populations: readonly Population[]) {}

  /** At a whole microsecond that lies after `nowUs` of the moment. */
  add({ index, atUs, joins, where, population }: MemberChange): void {
    let what = joins ? changeBits.joins : 0;
    if (where === 'outside') what |= changeBits.outside;
    if (population !== undefined)
      what |= changeBits.moves | (this.populations.indexOf(population) << changeBits.position);
    this.changes.push(index, atUs, what);
  }

  /** Since the last call: whatever comes later takes effect after `nowUs`. */
  take(nowUs: number): Omit<MembershipReport, 'worker'>[] {
    const { changes } = this;
    const reports: Omit<MembershipReport, 'worker'>[] = [];
    let from = 0;
    for (; changes.length - from > 3 * mostChanges; from += 3 * mostChanges)
      reports.push({
        upToUs: this.reportedUs,
        changes: changes.slice(from, from + 3 * mostChanges),
      });
    this.reportedUs = Math.floor(nowUs);
    reports.push({ upToUs: this.reportedUs, changes: changes.slice(from) });
    this.changes = [];
    return reports;
  }
}
