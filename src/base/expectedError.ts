/**
 * A failure a person should read: what went wrong and what to do, in one or two sentences, without a
 * stack. Everything that is not an ExpectedError is a defect of ours.
 */
export class ExpectedError extends Error {
  /** Stable, machine-readable name of the failure, e.g. `target-unreachable`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ExpectedError';
    this.code = code;
  }
}
