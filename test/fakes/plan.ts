import { defaultSlo } from '../../src/base/slo';
import { split } from '../../src/plan/buildPlan';
import type { Plan, PlanStep } from '../../src/plan/plan';

export const shortStep: PlanStep = {
  index: 1,
  senders: 10,
  warmupMs: 200,
  measureMs: 1000,
  drainMs: 100,
};

/** A small echo plan; `workerCount` shares its connections among that many workers. */
export function planOf(changes: Partial<Plan> = {}, workerCount = 1): Plan {
  const connectInFlight = changes.connectInFlight ?? 10;
  return {
    runId: 0xdeadbeef,
    seed: 7,
    connections: 10,
    arrivingRate: 100,
    connectInFlight,
    connectTimeoutMs: 5000,
    pacing: 'open',
    dialect: 'recordLatency',
    useCase: 'echo',
    parameters: { messageSize: 20, sendingInterval: 100 },
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
