/** A plan in which everybody hears everybody, for clients that use the engine's parts by themselves. */
export function broadcastPlan(connections, protocol) {
  return {
    runId: 1,
    seed: 1,
    connections,
    protocol,
    dialect: 'recordLatency',
    entries: [{ useCase: 'broadcast', parameters: { messageSize: 2048, sendingInterval: 1000 } }],
    steps: [],
    workers: [{ worker: 0, workers: 1, connectInFlight: connections }],
  };
}
