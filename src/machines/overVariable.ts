/** Set by a process that leads a run, for itself, when its end was on the bus: nobody is to lead that run on. */
export const overVariable = 'SIGNALR_BENCH_RUN_OVER';
