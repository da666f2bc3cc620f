import type { Population } from '../../plan/population';
import type { MembershipReport } from '../../protocol/worker';
import type { MemberChange } from './membership';

/** In one report: three numbers each, below 100 KB as JSON. */
const mostChanges = 4096;

/** Bits of {@link import('../../protocol/worker').MembershipChange}; above them stands the position of an entry. */
export const changeBits = { joins: 1, outside: 2, moves: 4, position: 3 } as const;

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
