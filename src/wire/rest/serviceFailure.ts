import type { ErrorClass } from '../../base/errorClass';

/** Why a service did not take what it was sent, or do what it was asked for. */
export interface ServiceFailure {
  readonly errorClass: ErrorClass;
  readonly text: string;
  /** HTTP status of the answer, where there was one. */
  readonly status?: number;
}
