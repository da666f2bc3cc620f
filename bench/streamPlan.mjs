import { defaultSlo } from '../out/src/base/slo.js';

export const itemsPerStream = 10;

/** A plan of streams for code that wants one: only what sending and receiving need is real. */
export function streamPlan(connections, protocol, messageSize) {
  const parameters = {
    ...{ messageSize, sendingInterval: 1000, streamingItemCount: itemsPerStream },
    ...{ streamingItemSendDelay: 0, streamDirection: 'both' },
  };
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
    entries: [{ useCase: 'streamingEcho', parameters }],
    steps: [],
    slo: defaultSlo,
    workers: [{ worker: 0, workers: 1, connectInFlight: connections }],
  };
}
