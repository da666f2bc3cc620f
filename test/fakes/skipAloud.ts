/** Skips a test or suite and says why, with `CI=true`, too: for what not every machine lets anybody do. */
export function skipAnywhere(context: Mocha.Context, reason: string): never {
  process.stdout.write(`      skipped: ${reason}\n`);
  context.skip();
  throw new Error(reason);
}

/** The same, but with `CI=true`, where everything has to be there, it fails instead. */
export function skipAloud(context: Mocha.Context, reason: string): never {
  if (process.env['CI'] === 'true') throw new Error(reason);
  skipAnywhere(context, reason);
}

/** The same away from Linux, for what reads `/proc` or needs more than one address of loopback. */
export function needsLinux(context: Mocha.Context, what: string): void {
  if (process.platform !== 'linux') skipAloud(context, `${what}, which is there on Linux only`);
}

export const noSignals =
  'Windows knows no signals that a process could answer: kill() there just ends it';
