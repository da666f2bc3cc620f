/**
 * Names of the keys at the top of a scenario file: all that telling scenarios apart needs of them, so that their
 * descriptions need not be loaded for it.
 */
export const topNames = ['mode', 'kind', 'config', 'scenario', 'scenarios', 'slo'] as const;

/** Values of `kind`. */
export const kinds = ['perf', 'perf2', 'resultparser'] as const;
