import type { Plan } from '../../plan/plan';
import { countGroups, populationsOf, type Population } from '../../plan/population';
import type { WorkerStart } from '../../messages/worker';

/**
 * Which messages a change holds for: all, those to groups where nobody moves (`outside`), or those where some do
 * (`inside`).
 */
export type ChangedWhere = 'everywhere' | 'outside' | 'inside';

export interface MemberChange {
  readonly index: number;
  readonly atUs: number;
  readonly joins: boolean;
  readonly where: ChangedWhere;
  /** Set with `inside`: the population whose group it enters or leaves. */
  readonly population?: Population;
}

export type MemberChangeListener = (change: MemberChange) => void;

/** Its length, then the id. Ids of ASP.NET Core and Azure have 22 to 40 bytes. */
const idBytes = 256;
/** Version (odd during a write), lock, number of open connections. */
const versionCell = 0;
const lockCell = 1;
const openCell = 2;
/** Waits for other threads: spins first, then naps. */
const spins = 1000;
const napMs = 0.05;

export interface MemberMemory {
  readonly state: SharedArrayBuffer;
  /** Int32 per group: its members; one group where everyone receives. */
  readonly members: SharedArrayBuffer;
  /** Uint8 per connection: 1 while it is open and prepared. */
  readonly open: SharedArrayBuffer;
  /** Two Int32 per group: messages whose counting has begun, and has ended; empty where unused. */
  readonly counted: SharedArrayBuffer;
  /** Ids in slots of equal size, where messages are addressed by them; else empty. */
  readonly ids: SharedArrayBuffer;
}

export interface ThreadStart extends WorkerStart {
  readonly memory: MemberMemory;
  readonly reach?: SharedArrayBuffer | undefined;
  readonly clock?: SharedArrayBuffer | undefined;
  readonly rows?: SharedArrayBuffer | undefined;
}

/** An entry without groups counts as one group. @param counts for {@link SharedMembers.missing} */
export function createMemberMemory(
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

export function memberMemoryOfPlan(plan: Plan): MemberMemory {
  const groupCount = countGroups(populationsOf(plan));
  const needsIds = plan.entries.some((entry) => {
    const { preparation, needsId = false } = entry.run;
    return preparation === 'connectionId' || needsId;
  });
  return createMemberMemory(plan.connections, groupCount, {
    ids: needsIds,
    counts: plan.entries.some(({ run }) => run.session?.joins === true),
  });
}

export function countOpenConnections({ state }: MemberMemory): number {
  return Atomics.load(new Int32Array(state), openCell);
}

/**
 * Which connections are members, shared by the threads of one agent: the expected receivers of each message.
 *
 * Connections join and leave while others send, and senders must count exactly those that count the message as
 * theirs. A change therefore takes effect at a whole microsecond of run time, under a lock and a version; the send
 * time in the stamp tells on which side of it a message lies. Senders read the version before and after clock and
 * counts, and repeat if it has changed.
 */
export class SharedMembers {
  private readonly state: Int32Array;
  private readonly members: Int32Array;
  private readonly open: Uint8Array;
  private readonly ids: Uint8Array;
  private readonly counted: Int32Array;
  /** By own connection: messages meant for it since it moved in (known once it is out), and those received. */
  private readonly meant: Int32Array;
  private readonly got: Int32Array;
  /** By own connection; [0] for groups where nobody moves, [1] for those where some do. */
  private readonly sinceUs: readonly Float64Array[];
  private readonly untilUs: readonly Float64Array[];
  private readonly outside = new Set<number>();
  private readonly inside = new Map<number, Population>();
  private readonly knownIds: (Buffer | undefined)[] = [];
  private readonly nap = new Int32Array(new SharedArrayBuffer(4));

  constructor(
    shared: MemberMemory,
    private readonly populations: readonly Population[],
    private readonly nowUs: () => number,
    private readonly changed?: MemberChangeListener,
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

  /** What was read between two equal versions is consistent. */
  version(): number {
    for (let tries = 0; ; tries++) {
      const version = Atomics.load(this.state, versionCell);
      if (version % 2 === 0) return version;
      this.pause(tries);
    }
  }

  isOpen(index: number): boolean {
    return Atomics.load(this.open, index) === 1;
  }

  /** Whether a message sent at `sentUs` was meant for this worker's connection. @param othersMove of its population */
  wasMember(index: number, sentUs: number, othersMove: boolean): boolean {
    const kind = othersMove ? 1 : 0;
    return sentUs >= this.sinceUs[kind]![index]! && sentUs < this.untilUs[kind]![index]!;
  }

  /** Whether the connection's last change is within that time of `sentUs`. */
  changedNear(index: number, sentUs: number, othersMove: boolean, withinUs: number): boolean {
    const kind = othersMove ? 1 : 0;
    return (
      Math.abs(sentUs - this.sinceUs[kind]![index]!) <= withinUs ||
      Math.abs(sentUs - this.untilUs[kind]![index]!) <= withinUs
    );
  }

  count(group: number): number {
    return Atomics.load(this.members, group);
  }

  idOf(index: number): Buffer | undefined {
    const at = index * idBytes;
    const length = this.ids[at] ?? 0;
    if (length === 0) return undefined;
    let known = this.knownIds[index];
    if (known?.length !== length)
      this.knownIds[index] = known = Buffer.from(this.ids.buffer, at + 1, length);
    return known;
  }

  /** False when the id is too long. */
  join(index: number, id?: Buffer): boolean {
    if (id !== undefined && id.length >= idBytes) return false;
    this.change(index, 1, () => {
      if (id === undefined) return;
      this.ids.set(id, index * idBytes + 1);
      this.ids[index * idBytes] = id.length;
    });
    return true;
  }

  /** Joins outside of its groups, which it enters and leaves by moving. */
  joinOutside(index: number, id?: Buffer): boolean {
    if (this.isOpen(index)) return true;
    this.outside.add(index);
    return this.join(index, id);
  }

  isInside(index: number): boolean {
    return this.isOpen(index) && !this.outside.has(index);
  }

  leave(index: number): void {
    const population = this.inside.get(index);
    if (population !== undefined) this.move(index, population, false);
    this.change(index, 0, () => undefined);
    this.outside.delete(index);
  }

  /** Moves one that is outside into its group of that population, or out of it. */
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

  /** Call before and after counting a message to a group with moving members. */
  counting(group: number, begins: boolean): void {
    Atomics.add(this.counted, 2 * group + (begins ? 0 : 1), 1);
  }

  /** An expected message of such a group has arrived. */
  came(index: number): void {
    if (index < this.got.length) this.got[index]! += 1;
  }

  /** Most messages that may still arrive at a connection that has moved out. */
  missing(index: number): number {
    return (this.meant[index] ?? 0) - (this.got[index] ?? 0);
  }

  /**
   * A move during the counting of a message may or may not be included and counts as meant: add the messages begun
   * before the connection leaves, subtract those finished before it joined.
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

  /** Runs exclusively; returns the whole microsecond from which the change holds. */
  private alone(change: (changedUs: number) => void): number {
    for (let tries = 0; Atomics.compareExchange(this.state, lockCell, 0, 1) !== 0; tries++)
      this.pause(tries);
    Atomics.add(this.state, versionCell, 1);
    const changedUs = Math.floor(this.nowUs()) + 1;
    change(changedUs);
    // Whoever reads clock and counts after this is on this side of the change.
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
