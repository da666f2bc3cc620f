import { scenarioCopy } from '../results/scenarioCopy';
import type { Override } from '../scenario/read/overrides';

/** Whether a scenario, or what replaces a key of it, holds a secret as text, as the copy in a result would not. */
export function secretInText(text: string, overrides: readonly Override[]): boolean {
  const values = overrides.map(({ value }) => `a: ${JSON.stringify(value)}`);
  return [text, ...values].some((each) => scenarioCopy(each, []) !== each);
}

export const asTextWords =
  'The scenario holds a secret as text, which would be copied to other machines: write ${env:NAME} in its place.';
