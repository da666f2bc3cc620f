/**
 * Reads the machine's monotonic clock in microseconds. All workers of a run share the same zero, so a
 * value taken in one thread may be subtracted from a value taken in another.
 */
export interface Clock {
  /** Microseconds since a fixed, unspecified moment; fractions are meaningful. */
  nowUs(): number;
}
