import { ExpectedError } from '../../base/expectedError';
import type { ServiceSize } from '../../base/serviceLimits';

export interface QuotaOptions {
  /** Connections are bounded by it; without it they are not. */
  readonly unit?: ServiceSize;
  /** New connections per second are bounded by `unit` too. */
  readonly limitConnectRate?: boolean;
}

/** Texts of the flags. */
export interface QuotaFlags {
  readonly unit?: string | undefined;
  readonly limitConnectRate?: boolean | undefined;
}

const largestUnit = 1000;

/**
 * Absent flags stay absent.
 * @throws ExpectedError `bad-option` for the first flag that cannot be read
 */
export function parseQuotaFlags({ unit, limitConnectRate }: QuotaFlags): QuotaOptions {
  if (limitConnectRate === true && unit === undefined) {
    throw new ExpectedError('bad-option', '--limit-connect-rate goes by --unit, which is missing.');
  }
  return {
    ...(unit !== undefined && { unit: sizeOf(unit) }),
    ...(limitConnectRate === true && { limitConnectRate }),
  };
}

function sizeOf(text: string): ServiceSize {
  if (text === 'free') return 'free';
  const unit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (unit >= 1 && unit <= largestUnit) return unit;
  throw new ExpectedError(
    'bad-option',
    `--unit: expected a number of Units from 1 to ${largestUnit}, or free.`,
  );
}
