import { ExpectedError } from '../../base/expectedError';

/** The error for input that cannot be estimated; the message names the field. */
export function inputError(message: string): ExpectedError {
  return new ExpectedError('estimate-input', message);
}

/**
 * Refuses what is no finite number, no whole number where one is needed, or too small.
 * @throws ExpectedError `estimate-input`
 */
export function checkNumber(
  value: unknown,
  name: string,
  rule: { readonly whole?: boolean; readonly zeroAllowed?: boolean } = {},
): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw inputError(`${name} must be a number`);
  }
  if (rule.whole === true && !Number.isInteger(value)) {
    throw inputError(`${name} must be a whole number`);
  }
  if (rule.zeroAllowed === true) {
    if (value < 0) throw inputError(`${name} must not be negative`);
  } else if (value <= 0) {
    throw inputError(`${name} must be greater than 0`);
  }
  return value;
}
