import type { RunSummary, Verdict } from '../measure/show/summary';
import type { Estimate } from '../capacity/estimate';
import type { Recommendation } from '../capacity/judge/recommend';
import type { Scenario } from '../scenario/scenario';

/** Version of the result file; a reader refuses a newer one. */
export const resultSchema = 'signalr-bench-result/1';

/** A finished run as stored in `result.json`. Secrets appear as references only. */
export interface Result extends RunSummary {
  readonly schema: typeof resultSchema;
  readonly id: string;
  readonly tool: { readonly name: 'signalr-bench'; readonly version: string };
  readonly verdict: Verdict;
  readonly scenario: Scenario;
  /** Null with the reason in `estimateProblem` when the scenario has no published table. */
  readonly estimate: (Estimate & { readonly basis: 'published' }) | null;
  readonly estimateProblem?: string;
  /** Null when nothing valid was measured. */
  readonly recommendation: (Recommendation & { readonly basis: 'measured' }) | null;
  readonly recommendationProblem?: string;
}
