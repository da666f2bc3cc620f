/** What went wrong and what to do, for people, without a stack. Anything else that is thrown is a defect of ours. */
export class ExpectedError extends Error {
  /** Stable, machine-readable name of the failure, e.g. `target-unreachable`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ExpectedError';
    this.code = code;
  }
}
