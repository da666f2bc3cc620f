import { defaultSlo } from '../../base/slo';
import type { WireProtocol } from '../../base/wireProtocol';
import type { Plan, PlanEntry } from '../../plan/plan';

/** A plan for code that paces itself in a closed loop: only what sending and receiving need is real. */
export function closedPlan(
  connections: number,
  protocol: WireProtocol,
  useCase: string,
  parameters: PlanEntry['parameters'],
): Plan {
  return {
    runId: 1,
    seed: 1,
    connections,
    arrivingRate: connections,
    connectInFlight: connections,
    connectTimeoutMs: 10_000,
    pacing: 'closed',
    protocol,
    dialect: 'recordLatency',
    entries: [{ useCase, parameters: { sendingInterval: 1000, ...parameters } }],
    steps: [],
    slo: defaultSlo,
    workers: [{ worker: 0, workers: 1, connectInFlight: connections }],
  };
}
