import type { Comparison } from '../measure/compare/comparison';
import type { RepeatedStep } from '../measure/compare/repeats';
import type { Observed } from '../measure/observed';
import type { RunSummary, Verdict } from '../measure/summary';
import { isAzure, type Service } from '../base/serviceTraits';
import type { CalibratedUnit } from '../capacity/judge/calibrate';
import type { Estimate } from '../capacity/model';
import type { Recommendation } from '../capacity/judge/recommend';
import type { Scenario } from '../scenario/scenario';
import { targetRole } from '../scenario/target/targetKinds';

/** Version of the result file; a reader takes earlier ones and refuses newer ones. */
export const resultSchema = 'signalr-bench-result/2';

/** Version of this program as stored in results; a test compares it with `package.json`. */
export const toolVersion = '0.1.0';

/** A finished run as stored in `result.json`. Secrets appear as references only. */
export interface Result extends RunSummary {
  readonly schema: typeof resultSchema;
  readonly id: string;
  /** File name of the scenario; older results have only their folder's name, which may end in a number of its own. */
  readonly scenarioName?: string;
  readonly tool: { readonly name: 'signalr-bench'; readonly version: string };
  readonly verdict: Verdict;
  readonly scenario: Scenario;
  readonly repeats?: readonly RepeatedStep[];
  readonly observed?: Observed;
  readonly baseline?: Comparison;
  /** Null with the reason in `estimateProblem` when the scenario has no published table. */
  readonly estimate: (Estimate & { readonly basis: 'published' }) | null;
  readonly estimateProblem?: string;
  readonly recommendation:
    | (Recommendation & {
        readonly basis: 'measured';
        /** By what a search has measured of a size, where one has; beside the published tables. */
        readonly calibrated?: CalibratedUnit;
      })
    | null;
  readonly recommendationProblem?: string;
}

export type EmulationKind = 'embeddedHub' | 'emulator';

/** What stood in for the real thing; a connection string belongs to a service whatever `service` of the scenario says. */
export function emulationKind(
  { kind, emulated }: Partial<Pick<RunSummary['target'], 'kind' | 'emulated'>>,
  service: Service,
): EmulationKind | undefined {
  if (emulated !== true) return undefined;
  return !isAzure(service) && (kind === undefined || targetRole({ kind }) !== 'service')
    ? 'embeddedHub'
    : 'emulator';
}

export const emulationNotes: Readonly<Record<EmulationKind, string>> = {
  embeddedHub:
    'Measured against the embedded hub: this compares the traffic with the published tables; how fast the embedded hub is says nothing about the service.',
  emulator:
    'Measured against an emulator: this compares the traffic with the published tables; how fast the emulator is says nothing about the service.',
};
