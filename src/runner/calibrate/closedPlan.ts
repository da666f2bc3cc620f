import { defaultSlo } from '../../base/slo';
import type { WireProtocol } from '../../base/wireProtocol';
import type { Plan } from '../../plan/plan';
import { planEntryOf } from '../../plan/planEntry';
import type { Parameters } from '../../usecases/parameterSpec';

/** A plan for code that paces itself in a closed loop: only what sending and receiving need is real. */
export function closedPlan(
  connections: number,
  protocol: WireProtocol,
  useCase: string,
  parameters: Parameters,
): Plan {
  const all = { sendingInterval: 1000, ...parameters };
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
    entries: [planEntryOf({ name: useCase, parameters: all })],
    steps: [],
    slo: defaultSlo,
    workers: [{ worker: 0, workers: 1, connectInFlight: connections }],
  };
}
