import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { SigningRule } from '../../base/endpoint';

/** The key of a rule. @throws Error when it is no key for the algorithm */
export function signingKey({
  key,
  head,
}: Pick<SigningRule, 'key' | 'head'>): KeyObject | Uint8Array {
  return head.alg.startsWith('HS') ? new TextEncoder().encode(key) : createPrivateKey(key);
}

/** A token is made anew so long before its end, so that clocks may differ; a short one after four fifths of its life. */
export const renewalLeadMs = (lifetimeMs: number): number => Math.min(300_000, lifetimeMs / 5);
