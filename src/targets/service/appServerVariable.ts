/** Variable of the environment with the options of an app server, as JSON. */
export const appServerVariable = 'SIGNALR_BENCH_APP_SERVER';
