import type { SignInCheck } from '../service/tokenCheck';
import { parseQuotaFlags, type QuotaFlags, type QuotaOptions } from '../service/serviceSize';

export interface WebPubSubEmulatorOptions extends QuotaOptions {
  /** On loopback, default any free port. */
  readonly port?: number;
  /** Event handler of hubs for which none is registered; `{hub}` and `{event}` are filled in. */
  readonly upstream?: string;
  /** Let clients without a token connect. */
  readonly allowAnonymous?: boolean;
  /** Primary key first; default is the public one of emulators. */
  readonly accessKeys?: readonly string[];
  /** Decides on applications that sign in instead of using a key; without it none can. */
  readonly signIns?: SignInCheck;
  /** For each answer of an event handler, default 10 s. */
  readonly upstreamTimeoutMs?: number;
}

/** Flags of `serve web-pubsub`. */
export interface WebPubSubFlags extends QuotaFlags {
  readonly upstream?: string;
  readonly allowAnonymous?: boolean;
}

/**
 * All flags at once; absent flags stay absent.
 * @throws ExpectedError `bad-option` for the first flag that cannot be read
 */
export function parseWebPubSubFlags({
  unit,
  limitConnectRate,
  ...others
}: WebPubSubFlags): WebPubSubEmulatorOptions {
  return { ...others, ...parseQuotaFlags({ unit, limitConnectRate }) };
}
