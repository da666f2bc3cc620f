/** Variable in which the handler's process finds what it may do; arguments could be listed by others. */
export const upstreamVariable = 'SIGNALR_BENCH_UPSTREAM';
