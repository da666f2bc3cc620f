/** What opening a connection consists of, in the order in which it happens but for negotiate, which comes first. */
export const connectPhases = ['dns', 'tcp', 'tls', 'negotiate', 'upgrade', 'handshake'] as const;
export type ConnectPhase = (typeof connectPhases)[number];

/** Microseconds that each phase took; phases that did not happen are absent. */
export type PhaseTimes = Partial<Record<ConnectPhase, number>>;
