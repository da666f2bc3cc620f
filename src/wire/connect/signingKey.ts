import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { SigningRule } from '../../base/endpoint';

/** @throws Error when it is no key for the algorithm */
export function signingKey({
  key,
  head,
}: Pick<SigningRule, 'key' | 'head'>): KeyObject | Uint8Array {
  return head.alg.startsWith('HS') ? new TextEncoder().encode(key) : createPrivateKey(key);
}

/** A token is renewed this long before it expires, since clocks may differ. */
export const renewalLeadMs = (lifetimeMs: number): number => Math.min(300_000, lifetimeMs / 5);
