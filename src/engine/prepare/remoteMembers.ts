import { agentOfWorker, type Plan } from '../../plan/plan';
import { countGroups, type Population, hasManyReceivers } from '../../plan/population';
import type { UnsettledMessages } from '../../measure/sample';
import type { MembershipReport } from '../../messages/worker';
import type { MemberChange } from './sharedMembers';

interface ExpectedCounts {
  expected: number;
  ambiguous: number;
  /** Uncertainty between the clocks of two agents in the step. */
  readonly ambiguousUs: number;
}

interface Change {
  readonly connection: number;
  readonly atUs: number;
  readonly joins: boolean;
  readonly outside: boolean;
  /** Set when it only moves in or out of its group of that population. */
  readonly moved: Population | undefined;
  readonly heardAt: number;
}

/** 28 bytes each; more than one thread sends in a minute. */
const mostUnsettled = 2 ** 22;
const firstPlaces = 2 ** 10;

/**
 * Members on other agents, and deliveries expected of them. Threads of one agent share memory ({@link
 * import('./sharedMembers').SharedMembers}); agents exchange changes by messages, which arrive later.
 *
 * A message first counts for the members known when it leaves. It is settled once all workers of the other agents
 * have reported their changes up to that time: then the count is corrected by the time in its stamp. Receivers decide
 * by the same two numbers, so both sides agree whatever the clocks. A message sent within the clock uncertainty of a
 * receiver's change is ambiguous, and neither side counts it.
 */
export class RemoteMembers {
  private readonly members: Int32Array;
  /** By connection: 0 when not a member, else the flags of its join. */
  private readonly state: Uint8Array;
  private readonly inside = new Map<number, Population>();
  /** By worker: its changes are known up to that time. */
  private readonly knownUs: Float64Array;
  private readonly populationOfGroup: readonly Population[];
  private readonly reaching: readonly Population[];
  private changes: Change[] = [];
  private ambiguousUs = 0;
  private readonly counted: ExpectedCounts[] = [];
  /** Numbers of the first unsettled message and of the next one; the ring index is their lower bits. */
  private first = 0;
  private next = 0;
  private sentUs = new Float64Array(firstPlaces);
  private group = new Int32Array(firstPlaces);
  private assumed = new Int32Array(firstPlaces);
  private place = new Int32Array(firstPlaces);
  private before = new Float64Array(firstPlaces);
  private assumedSoFar = 0;
  /** Messages of this step that could not be settled. */
  private guessed = 0;

  constructor(
    private readonly plan: Plan,
    worker: number,
    private readonly populations: readonly Population[],
    private readonly nowUs: () => number,
  ) {
    const ofGroup = (this.populationOfGroup = new Array<Population>(countGroups(populations)));
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
    this.reaching = populations.filter(hasManyReceivers);
  }

  begin(ambiguousUs: number): void {
    this.guessed = 0;
    this.ambiguousUs =
      this.next > this.first ? Math.max(this.ambiguousUs, ambiguousUs) : ambiguousUs;
  }

  get unsettled(): UnsettledMessages | undefined {
    const { first, next, assumedSoFar } = this;
    const messages = next - first + this.guessed;
    if (messages === 0) return undefined;
    const settled = first === next ? assumedSoFar : this.before[first & (this.before.length - 1)]!;
    return { messages, deliveries: assumedSoFar - settled };
  }

  placeOf(counted: ExpectedCounts): number {
    return this.counted.push(counted) - 1;
  }

  /** Expected deliveries on other agents, as known now, of a message sent at a whole microsecond. */
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

  /** From its last report on nothing is expected of a lost agent. */
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

  /** Only members outside of a group move into it. */
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

  private correct(first: number, end: number): void {
    const { members, sentUs, group, assumed, place, counted } = this;
    const changes = this.changes.sort((a, b) => a.atUs - b.atUs);
    const oldestUs = changes[0]!.atUs;
    const heardFirst = changes.reduce((least, { heardAt }) => Math.min(least, heardAt), Infinity);
    const last = sentUs.length - 1;
    const undone = new Map<number, number>();
    let later = changes.length;
    for (let number = end - 1; number >= first; number--) {
      const at = number & last;
      const us = sentUs[at]!;
      const counts = counted[place[at]!]!;
      // All earlier messages left before the first change and before any report of it.
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

  /** Excludes receivers whose change is too near to the message; `later` is the first change after it. */
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

  /** Drops changes that no unsettled or future message needs. */
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
      // A worker has not reported for long: the counts may be wrong, and the step says so.
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

/** Bits of {@link import('../../messages/worker').MembershipChange}; the entry index is stored above them. */
const changeBits = { joins: 1, outside: 2, moves: 4, position: 3 } as const;

export class MemberChangeLog {
  private changes: number[] = [];
  private reportedUs = 0;

  constructor(private readonly populations: readonly Population[]) {}

  /** `atUs` is a whole microsecond after the time of the call. */
  add({ index, atUs, joins, where, population }: MemberChange): void {
    let what = joins ? changeBits.joins : 0;
    if (where === 'outside') what |= changeBits.outside;
    if (population !== undefined)
      what |= changeBits.moves | (this.populations.indexOf(population) << changeBits.position);
    this.changes.push(index, atUs, what);
  }

  /** Changes since the last call; later ones take effect after `nowUs`. */
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
