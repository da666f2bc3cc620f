import type { Population } from '../plan/population';
import type { SharedPopulation } from '../protocol/worker';

/** Bytes and cells of the memory that all workers of a run share. */
export function sharedPopulation(connections: number, groupCount: number): SharedPopulation {
  return {
    members: new SharedArrayBuffer(4 * groupCount),
    open: new SharedArrayBuffer(connections),
  };
}

/**
 * Which connections take part, over all workers, so that the receivers of a message are known at the
 * moment it is due.
 */
export class SharedMembers {
  private readonly members: Int32Array;
  private readonly open: Uint8Array;

  constructor(
    shared: SharedPopulation,
    private readonly population: Population,
  ) {
    this.members = new Int32Array(shared.members);
    this.open = new Uint8Array(shared.open);
  }

  isOpen(index: number): boolean {
    return Atomics.load(this.open, index) === 1;
  }

  /** Members of a group; of everyone when the audience has no groups. */
  count(group: number): number {
    return Atomics.load(this.members, group);
  }

  join(index: number): void {
    if (Atomics.exchange(this.open, index, 1) === 0) this.add(index, 1);
  }

  leave(index: number): void {
    if (Atomics.exchange(this.open, index, 0) === 1) this.add(index, -1);
  }

  private add(index: number, change: number): void {
    for (let slot = 0; slot < this.population.sourcesPerSender; slot++) {
      Atomics.add(this.members, this.population.groupOf(index, slot), change);
    }
  }
}
