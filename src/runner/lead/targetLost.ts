import { formatCount } from '../../base/units';
import { firstErrorWords, lostWords } from '../../measure/judge/hubComplaint';
import type { Phase } from '../../measure/snapshot';
import type { RunTotals } from '../../measure/total/runTotals';
import type { Plan } from '../../plan/plan';
import type { WorkerHost } from '../../protocol/worker';
import type { RecoveryPolling } from './progress';
import { waits } from './waits';

/** Words for a target that never answered, or has dropped everything and nothing comes back; undefined for others. */
export function targetLost(
  phase: Phase,
  plan: Plan,
  totals: RunTotals,
  recovery: RecoveryPolling,
  workers: WorkerHost,
): (() => string) | undefined {
  const { requested, connected, failed, dropped } = totals.connectionCounts();
  if (phase === 'connecting') {
    const isHopeless = connected === 0 && failed >= Math.min(waits.hopelessConnects, requested);
    return isHopeless ? () => unreachableWords(totals) : undefined;
  }
  const isDead = (): boolean =>
    plan.life === undefined
      ? // A client that recovers its socket was dropped, and takes part all the same.
        connected === dropped && workers.takingPart() === 0
      : recovery.deadForMs() > (plan.search ? waits.deadInSearchMs : waits.deadMs);
  if (connected === 0 || !isDead() || phase === 'closing' || phase === 'done') return undefined;
  return () => lostWords(connected, totals.errorExamples);
}

/** More connections may fail until the run is over. */
export function unreachableWords(totals: RunTotals): string {
  const { failed } = totals.connectionCounts();
  return `No connection could be opened (${formatCount(failed)} failed). ${firstErrorWords(totals.errorExamples)}`;
}
