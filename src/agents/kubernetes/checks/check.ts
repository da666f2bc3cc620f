import { ExpectedError } from '../../../base/expectedError';
import type { ClusterView } from '../clusterView';
import type { ClusterRun } from '../manifest';

/** What was found, why it matters, and what to do. */
export interface Finding {
  /** `note`: worth knowing, or could not be found out. `bad`: a run would not start. */
  readonly status: 'good' | 'note' | 'warning' | 'bad';
  readonly text: string;
  readonly advice?: string;
}

/** One thing that is looked at, by `doctor` and before a run. */
export interface ClusterCheck {
  readonly name: string;
  /** What is worth knowing for whoever sets a cluster up, but not before each run. */
  readonly isForDoctor?: boolean;
  /** @throws ExpectedError where the cluster does not answer */
  look(view: ClusterView, run: ClusterRun): Promise<readonly Finding[]>;
}

/** What a check finds where it may not read what it wants: no reason to stop. */
export async function lookWith(
  check: ClusterCheck,
  view: ClusterView,
  run: ClusterRun,
): Promise<readonly Finding[]> {
  return check.look(view, run).catch((error: unknown) => {
    if (!(error instanceof ExpectedError)) throw error;
    const isForbidden = error.code === 'cluster-rights';
    const text = isForbidden ? 'not known: you may not read it.' : error.message;
    return [{ status: isForbidden ? 'note' : 'bad', text } as const];
  });
}
