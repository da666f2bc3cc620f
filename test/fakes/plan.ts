import { defaultSlo } from '../../src/base/slo';
import { split } from '../../src/plan/buildPlan';
import type { Plan, PlanEntry, PlanStep } from '../../src/plan/plan';

export const shortStep: PlanStep = {
  index: 1,
  senders: 10,
  warmupMs: 200,
  measureMs: 1000,
  drainMs: 100,
};

const echo: PlanEntry = {
  useCase: 'echo',
  parameters: { messageSize: 20, sendingInterval: 100 },
};

/**
 * A small echo plan; `workerCount` shares its connections among that many workers. Changes of an entry
 * change its only one.
 */
export function planOf(
  { useCase, parameters, payloadText, ...changes }: Partial<Plan> & Partial<PlanEntry> = {},
  workerCount = 1,
): Plan {
  const connectInFlight = changes.connectInFlight ?? 10;
  const entry = {
    useCase: useCase ?? echo.useCase,
    parameters: parameters ?? echo.parameters,
    ...(payloadText !== undefined && { payloadText }),
  };
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
    entries: [entry],
    steps: [shortStep],
    slo: defaultSlo,
    workers: split(connectInFlight, workerCount).map((inFlight, worker) => ({
      worker,
      workers: workerCount,
      connectInFlight: Math.max(1, inFlight),
    })),
    ...changes,
  };
}
