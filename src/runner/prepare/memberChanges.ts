import type { MembershipReport } from '../../protocol/worker';

/** In one report: three numbers each, below 100 KB as JSON. */
const mostChanges = 4096;

/** The coming and going of one worker's connections, as other agents are to hear of it. */
export class MemberChanges {
  private changes: number[] = [];
  private reportedUs = 0;

  /** At a whole microsecond that lies after `nowUs` of the moment. */
  add(connection: number, atUs: number, joins: boolean, outside: boolean): void {
    this.changes.push(connection, atUs, (joins ? 1 : 0) + (outside ? 2 : 0));
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
