import { ExpectedError } from '../../base/expectedError';
import type { SignInCheck } from '../service/tokenCheck';
import { parseQuotaFlags, type QuotaFlags, type QuotaOptions } from '../service/serviceSize';

/** `default`: app servers run the hub; `serverless`: the service itself, REST and webhooks do. */
export type ServiceMode = 'default' | 'serverless';

/** Where events of serverless clients go; `{hub}`, `{category}` and `{event}` are filled in. */
export interface UpstreamTemplate {
  readonly url: string;
  /** Comma lists; absent or `*` stands for all. */
  readonly hubs?: string;
  readonly categories?: string;
  readonly events?: string;
}

export interface AzureSignalrOptions extends QuotaOptions {
  /** Port on 127.0.0.1; 0, the default, takes any free one. */
  readonly port?: number;
  /** Without it, a hub with server connections is in default mode and one without is serverless. */
  readonly mode?: ServiceMode;
  /** The first one that fits gets the event. */
  readonly upstreams?: readonly UpstreamTemplate[];
  /** Primary key first; default is the public one of Microsoft's emulator. */
  readonly accessKeys?: readonly string[];
  /** Decides on applications that sign in instead of using a key; without it none can. */
  readonly signIns?: SignInCheck;
  /** Time between negotiate and connect, default 5 s. */
  readonly connectWindowMs?: number;
  /** A client that leaves more than this unread is closed, default 16 MiB. */
  readonly maxUnreadBytes?: number;
  /** Between two pings to an app server, default 5 s. */
  readonly serverPingMs?: number;
  /** An app server that is silent for so long is gone, default 30 s. */
  readonly serverTimeoutMs?: number;
  /** Pings to serverless clients, default 15 s. */
  readonly keepAliveMs?: number;
  /** A serverless client that has sent a ping is closed after this much silence, default 30 s. */
  readonly clientTimeoutMs?: number;
  /** The upstream has this much time to answer, default 100 s. */
  readonly upstreamTimeoutMs?: number;
}

/** The key that Microsoft's emulator has: known to everyone, for nothing here is worth a secret. */
export const publicAccessKey = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEFGH';

/** Texts of the flags of `serve azure-signalr`. */
export interface AzureSignalrFlags extends QuotaFlags {
  readonly mode?: string | undefined;
  readonly upstream?: string | undefined;
}

function badFlag(flag: string, wanted: string): ExpectedError {
  return new ExpectedError('bad-option', `--${flag}: expected ${wanted}.`);
}

/** Whether a text is an address that requests can be sent to, whatever its places are filled with. */
export function isUpstreamUrl(text: string): boolean {
  // What a client names an event must not choose the host.
  if (/^[a-z]+:[/\\]*[^/?#\\]*\{/i.test(text)) return false;
  const filled = text.replace(/\{(hub|category|event)\}/g, 'x');
  if (!URL.canParse(filled)) return false;
  const { protocol, username, password } = new URL(filled);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/**
 * All flags at once; absent flags stay absent.
 * @throws ExpectedError `bad-option` for the first flag that cannot be read
 */
export function parseAzureSignalrFlags(flags: AzureSignalrFlags): AzureSignalrOptions {
  const { mode, unit, limitConnectRate, upstream } = flags;
  if (mode !== undefined && mode !== 'default' && mode !== 'serverless') {
    throw badFlag('mode', 'default or serverless');
  }
  if (upstream !== undefined && !isUpstreamUrl(upstream)) {
    throw badFlag(
      'upstream',
      'an http or https URL without a user name, and no {place} in its host',
    );
  }
  return {
    ...(mode !== undefined && { mode }),
    ...parseQuotaFlags({ unit, limitConnectRate }),
    ...(upstream !== undefined && { upstreams: [{ url: upstream }] }),
  };
}
