/** Marks it across bundles, each of which has its own class. */
const mark = Symbol.for('signalr-bench.expectedError');

/** What went wrong and what to do, for people, without a stack. Any other error is a defect of ours. */
export class ExpectedError extends Error {
  /** Stable, machine-readable name, such as `target-unreachable`. */
  readonly code: string;
  readonly [mark] = true;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ExpectedError';
    this.code = code;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== ExpectedError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && mark in value;
  }
}
