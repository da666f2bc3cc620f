import { defaultSlo } from '../../src/base/slo';
import { splitEvenly, type Plan, type PlanEntry, type PlanStep } from '../../src/plan/plan';
import { createPlanEntry } from '../../src/plan/buildPlan';
import type { Parameters } from '../../src/usecases/parameters';

export const shortStep: PlanStep = {
  index: 1,
  senders: 10,
  warmupMs: 200,
  measureMs: 1000,
  drainMs: 100,
};

const echo = { messageSize: 20, sendingInterval: 100 };

/** An entry as it stands in a scenario. */
export interface EntrySpec {
  readonly useCase: string;
  readonly parameters: Parameters;
}

export const entryOf = ({ useCase, parameters }: EntrySpec): PlanEntry =>
  createPlanEntry({ name: useCase, parameters });

type PlanChanges = Partial<Omit<Plan, 'entries'> & EntrySpec> & {
  readonly payloadText?: string;
  readonly entries?: readonly (PlanEntry | EntrySpec)[];
};

/**
 * A small echo plan; `workerCount` shares its connections among that many workers. Changes of an entry
 * change its only one.
 */
export function planOf(
  { useCase = 'echo', parameters = echo, payloadText, entries, ...changes }: PlanChanges = {},
  workerCount = 1,
): Plan {
  const connectInFlight = changes.connectInFlight ?? 10;
  const plain = entryOf({ useCase, parameters });
  const text = payloadText !== undefined && { text: payloadText };
  const only = { ...plain, payload: { ...plain.payload, ...text } };
  return {
    runId: 0xdeadbeef,
    seed: 7,
    connections: 10,
    arrivingRate: 100,
    connectInFlight,
    connectTimeoutMs: 5000,
    pacing: 'open',
    protocol: 'json',
    dialect: 'recordLatency',
    entries: entries?.map((entry) => ('run' in entry ? entry : entryOf(entry))) ?? [only],
    steps: [shortStep],
    slo: defaultSlo,
    workers: splitEvenly(connectInFlight, workerCount).map((inFlight, worker) => ({
      worker,
      workers: workerCount,
      connectInFlight: Math.max(1, inFlight),
    })),
    ...changes,
  };
}
