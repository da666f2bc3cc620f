import type { Plan } from '../../plan/plan';
import { groupsIn, populationsOf, type Population } from '../../plan/population';
import type { WorkerStart } from '../../messages/worker';

/** What joining and leaving holds for: all messages, those to groups where nobody moves, or those where some do. */
export type ChangedWhere = 'everywhere' | 'outside' | 'inside';

/** A connection of this worker joins or leaves at that whole microsecond of run time. */
export interface MemberChange {
  readonly index: number;
  readonly atUs: number;
  readonly joins: boolean;
  readonly where: ChangedWhere;
  /** Inside: the population into whose group it moves, or out of it. */
  readonly population?: Population;
}

export type MemberChanged = (change: MemberChange) => void;

/** Bytes for one connection id: its length, then the id. Those of ASP.NET Core and Azure have 22 to 40. */
const idBytes = 256;
/** Cells of the shared state: version (odd while somebody writes), lock, connections that take part. */
const versionCell = 0;
const lockCell = 1;
const openCell = 2;
/** Waits for other threads: spins first, then naps of that long. */
const spins = 1000;
const napMs = 0.05;

export interface MemberMemory {
  /** See the cells above. */
  readonly state: SharedArrayBuffer;
  /** Int32 per group: members joined; one entry, all open connections, when the audience is everyone. */
  readonly members: SharedArrayBuffer;
  /** Uint8 per connection: 1 while it is open and prepared. */
  readonly open: SharedArrayBuffer;
  /** Int32 per group, twice: messages to it that were begun to be counted, and that are; empty where nobody asks. */
  readonly counted: SharedArrayBuffer;
  /** Ids of the connections, in places of equal size, where messages are addressed by them; else empty. */
  readonly ids: SharedArrayBuffer;
}

export interface ThreadStart extends WorkerStart {
  readonly memory: MemberMemory;
  /** Of {@link import('./sharedReach').SharedReach}, where the plan asks for it. */
  readonly reach?: SharedArrayBuffer | undefined;
  /** Of {@link import('../machineClock').steeredClock}, where agents have clocks of their own. */
  readonly clock?: SharedArrayBuffer | undefined;
  /** Of {@link import('../send/messageRows').MessageRows}, where calls share rows. */
  readonly rows?: SharedArrayBuffer | undefined;
}

/**
 * An entry without groups counts as one group.
 *
 * @param ids messages are addressed by connection ids
 * @param counts what {@link SharedMembers.missing} needs is kept
 */
export function memberMemory(
  connections: number,
  groupCount: number,
  { ids = false, counts = false } = {},
): MemberMemory {
  return {
    state: new SharedArrayBuffer(4 * 3),
    members: new SharedArrayBuffer(4 * groupCount),
    open: new SharedArrayBuffer(connections),
    counted: new SharedArrayBuffer(counts ? 8 * groupCount : 0),
    ids: new SharedArrayBuffer(ids ? idBytes * connections : 0),
  };
}

/** For all workers that share it. */
export function memoryOf(plan: Plan): MemberMemory {
  const groupCount = groupsIn(populationsOf(plan));
  const needsIds = plan.entries.some((entry) => {
    const { preparation, needsId = false } = entry.run;
    return preparation === 'connectionId' || needsId;
  });
  return memberMemory(plan.connections, groupCount, {
    ids: needsIds,
    counts: plan.entries.some(({ run }) => run.session?.joins === true),
  });
}

/** For whoever only watches. */
export function openConnections({ state }: MemberMemory): number {
  return Atomics.load(new Int32Array(state), openCell);
}

/**
 * Which connections take part, over the threads of one agent: who was meant to get a message, and under which id it is reached, so that the receivers of a message are known at the moment it is due.
 *
 * Connections join and leave while others send, and a sender must count exactly those that will count the message as
 * meant for them: a change takes place at a whole microsecond of run time, under a lock and a version in shared memory,
 * and the send time in the stamp says on which side of it a message was counted. A sender looks at the version before
 * and after it has read clock and counts, and does it again when it has changed.
 */
export class SharedMembers {
  private readonly state: Int32Array;
  private readonly members: Int32Array;
  private readonly open: Uint8Array;
  private readonly ids: Uint8Array;
  private readonly counted: Int32Array;
  /** Of own connections: messages that were meant for them since they were moved in, once they are out; and those that came. */
  private readonly meant: Int32Array;
  private readonly got: Int32Array;
  /** Of own connections: in groups of entries where all stay (0), and where connections may move (1). */
  private readonly sinceUs: readonly Float64Array[];
  private readonly untilUs: readonly Float64Array[];
  /** Own ones that are open, but outside the groups they may move in. */
  private readonly outside = new Set<number>();
  /** Of those the ones that are in the group of a population for the time being. */
  private readonly inside = new Map<number, Population>();
  private readonly knownIds: (Buffer | undefined)[] = [];
  private readonly nap = new Int32Array(new SharedArrayBuffer(4));

  constructor(
    shared: MemberMemory,
    private readonly populations: readonly Population[],
    private readonly nowUs: () => number,
    private readonly changed?: MemberChanged,
  ) {
    this.state = new Int32Array(shared.state);
    this.members = new Int32Array(shared.members);
    this.open = new Uint8Array(shared.open);
    this.ids = new Uint8Array(shared.ids);
    this.counted = new Int32Array(shared.counted);
    const followed = this.counted.length > 0 ? this.open.length : 0;
    this.meant = new Int32Array(followed);
    this.got = new Int32Array(followed);
    const never = (): Float64Array => new Float64Array(this.open.length).fill(Infinity);
    this.sinceUs = [never(), never()];
    this.untilUs = [never(), never()];
  }

  /** Rises with every change; what was read between two equal versions belongs together. */
  version(): number {
    for (let tries = 0; ; tries++) {
      const version = Atomics.load(this.state, versionCell);
      if (version % 2 === 0) return version;
      this.pause(tries);
    }
  }

  /** Of any worker. */
  isOpen(index: number): boolean {
    return Atomics.load(this.open, index) === 1;
  }

  /** Whether a message counted at `sentUs` (run time) was meant for this worker's connection; `othersMove`: where some may move. */
  wasMember(index: number, sentUs: number, othersMove: boolean): boolean {
    const kind = othersMove ? 1 : 0;
    return sentUs >= this.sinceUs[kind]![index]! && sentUs < this.untilUs[kind]![index]!;
  }

  /** Whether the last change of this worker's connection lies within that time of `sentUs`. */
  changedNear(index: number, sentUs: number, othersMove: boolean, withinUs: number): boolean {
    const kind = othersMove ? 1 : 0;
    return (
      Math.abs(sentUs - this.sinceUs[kind]![index]!) <= withinUs ||
      Math.abs(sentUs - this.untilUs[kind]![index]!) <= withinUs
    );
  }

  /** Members of a group now, counted over all entries; of everyone where the audience has no groups. */
  count(group: number): number {
    return Atomics.load(this.members, group);
  }

  /** Of any connection that was ever prepared, as it is written into messages. */
  idOf(index: number): Buffer | undefined {
    const at = index * idBytes;
    const length = this.ids[at] ?? 0;
    if (length === 0) return undefined;
    let known = this.knownIds[index];
    if (known?.length !== length)
      this.knownIds[index] = known = Buffer.from(this.ids.buffer, at + 1, length);
    return known;
  }

  /** One of this worker's takes part from now on, reached by `id`; false when that is too long. */
  join(index: number, id?: Buffer): boolean {
    if (id !== undefined && id.length >= idBytes) return false;
    this.change(index, 1, () => {
      if (id === undefined) return;
      this.ids.set(id, index * idBytes + 1);
      this.ids[index * idBytes] = id.length;
    });
    return true;
  }

  /** The same for one that moves in and out of its groups: there it is no receiver. */
  joinOutside(index: number, id?: Buffer): boolean {
    if (this.isOpen(index)) return true;
    this.outside.add(index);
    return this.join(index, id);
  }

  /** Whether this worker's connection is open and a receiver everywhere. */
  isInside(index: number): boolean {
    return this.isOpen(index) && !this.outside.has(index);
  }

  leave(index: number): void {
    const population = this.inside.get(index);
    if (population !== undefined) this.move(index, population, false);
    this.change(index, 0, () => undefined);
    this.outside.delete(index);
  }

  /** One of this worker's, which is outside, comes into the group of that population, its only one, or leaves it again. */
  move(index: number, population: Population, inside: boolean): void {
    if (!this.outside.has(index) || this.inside.has(index) === inside) return;
    const atUs = this.alone((changedUs) => {
      const group = population.firstGroup + population.groupOf(index, 0);
      Atomics.add(this.members, group, inside ? 1 : -1);
      (inside ? this.sinceUs : this.untilUs)[1]![index] = changedUs;
      if (inside) this.untilUs[1]![index] = Infinity;
      this.follow(index, group, inside);
    });
    if (inside) this.inside.set(index, population);
    else this.inside.delete(index);
    this.changed?.({ index, atUs, joins: inside, where: 'inside', population });
  }

  /** Around the counting of a message to a group whose members move by calls of their own. */
  counting(group: number, begins: boolean): void {
    Atomics.add(this.counted, 2 * group + (begins ? 0 : 1), 1);
  }

  /** Such a message has reached this worker's connection, for which it was meant. */
  came(index: number): void {
    if (index < this.got.length) this.got[index]! += 1;
  }

  /** How many that were meant for this worker's connection, which was moved out, have not come: at most. */
  missing(index: number): number {
    return (this.meant[index] ?? 0) - (this.got[index] ?? 0);
  }

  /**
   * Who is between the two counts of a message may or may not be meant by it, and counts as meant: what begins before
   * somebody goes out, less what was over before it came in.
   */
  private follow(index: number, group: number, inside: boolean): void {
    if (this.counted.length === 0) return;
    if (inside) {
      this.meant[index] = -Atomics.load(this.counted, 2 * group + 1);
      this.got[index] = 0;
    } else this.meant[index]! += Atomics.load(this.counted, 2 * group);
  }

  private change(index: number, open: 0 | 1, also: () => void): void {
    // A connection belongs to one worker, so nobody else changes it meanwhile.
    if (Atomics.load(this.open, index) === open) return;
    const atUs = this.alone((changedUs) => {
      also();
      Atomics.store(this.open, index, open);
      Atomics.add(this.state, openCell, open === 1 ? 1 : -1);
      this.changeGroups(index, open, changedUs);
    });
    const where = this.outside.has(index) ? 'outside' : 'everywhere';
    this.changed?.({ index, atUs, joins: open === 1, where });
  }

  /** Changes what is shared while nobody else does; returns the whole microsecond from which on it holds. */
  private alone(change: (changedUs: number) => void): number {
    for (let tries = 0; Atomics.compareExchange(this.state, lockCell, 0, 1) !== 0; tries++)
      this.pause(tries);
    Atomics.add(this.state, versionCell, 1);
    const changedUs = Math.floor(this.nowUs()) + 1;
    change(changedUs);
    // Whoever reads clock and counts from now on is on this side of the change.
    for (let tries = 0; tries < spins && this.nowUs() < changedUs; tries++);
    Atomics.add(this.state, versionCell, 1);
    Atomics.store(this.state, lockCell, 0);
    return changedUs;
  }

  private changeGroups(index: number, open: 0 | 1, changedUs: number): void {
    const outside = this.outside.has(index);
    for (const population of this.populations) {
      if (outside && population.othersMove) continue;
      for (let slot = 0; slot < population.groupsPerConnection; slot++) {
        const group = population.firstGroup + population.groupOf(index, slot);
        Atomics.add(this.members, group, open === 1 ? 1 : -1);
      }
    }
    for (const kind of outside ? [0] : [0, 1]) {
      if (open === 1) {
        this.sinceUs[kind]![index] = changedUs;
        this.untilUs[kind]![index] = Infinity;
      } else this.untilUs[kind]![index] = changedUs;
    }
  }

  private pause(tries: number): void {
    if (tries >= spins) Atomics.wait(this.nap, 0, 0, napMs);
  }
}
