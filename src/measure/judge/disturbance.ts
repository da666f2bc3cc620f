const disturbances: ReadonlySet<string> = new Set(['starved', 'suspended']);

/** Whether a step is invalid by what is neither the target nor the generator; `cause` is the code of its first reason. */
export const isDisturbance = (cause: string | undefined): boolean =>
  cause !== undefined && disturbances.has(cause);
