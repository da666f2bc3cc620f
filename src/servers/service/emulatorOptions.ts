import { ExpectedError } from '../../base/expectedError';
import type { ServiceSize } from '../../base/serviceTraits';

export type SignInCheck = (token: string) => 'accepted' | 'unauthorized' | 'forbidden';

export interface QuotaOptions {
  readonly unit?: ServiceSize;
  readonly limitConnectRate?: boolean;
}

export interface EmulatorOptions extends QuotaOptions {
  readonly port?: number;
  /** Primary key first; default is the public key of Microsoft's emulator. */
  readonly accessKeys?: readonly string[];
  /** Decides on tokens of Microsoft Entra ID; without it none is accepted. */
  readonly signIns?: SignInCheck;
  /** Time limit of each upstream answer; default 100 s for Azure SignalR, 10 s for Web PubSub. */
  readonly upstreamTimeoutMs?: number;
}

/** Where events of serverless clients go; `{hub}`, `{category}` and `{event}` are placeholders. */
export interface UpstreamTemplate {
  readonly url: string;
  readonly hubs?: string;
  readonly categories?: string;
  readonly events?: string;
}

export interface AzureSignalrOptions extends EmulatorOptions {
  /** Absent: a hub is in default mode while it has server connections, else serverless. */
  readonly mode?: 'default' | 'serverless';
  readonly upstreams?: readonly UpstreamTemplate[];
  readonly maxUnreadBytes?: number;
}

export interface WebPubSubEmulatorOptions extends EmulatorOptions {
  /** Event handler of hubs without a registered one; `{hub}` and `{event}` are placeholders. */
  readonly upstream?: string;
  readonly allowAnonymous?: boolean;
}

interface QuotaFlags extends Pick<QuotaOptions, 'limitConnectRate'> {
  readonly unit?: string;
}

export interface AzureSignalrFlags extends QuotaFlags {
  readonly mode?: string;
  readonly upstream?: string;
}

export interface WebPubSubFlags extends QuotaFlags {
  readonly upstream?: string;
  readonly allowAnonymous?: boolean;
}

/** @throws ExpectedError `bad-option` for the first flag that cannot be read */
export function parseAzureSignalrFlags(flags: AzureSignalrFlags): AzureSignalrOptions {
  const { mode, upstream, ...quota } = flags;
  if (mode !== undefined && mode !== 'default' && mode !== 'serverless')
    throw badOption('--mode: expected default or serverless.');
  if (upstream !== undefined && !isUpstreamUrl(upstream)) {
    throw badOption(
      '--upstream: expected an http or https URL without a user name, and no {place} in its host.',
    );
  }
  const upstreams = upstream === undefined ? undefined : [{ url: upstream }];
  return { mode, ...quotaOf(quota), upstreams };
}

/** @throws ExpectedError `bad-option` */
export const parseWebPubSubFlags = ({
  unit,
  limitConnectRate,
  ...others
}: WebPubSubFlags): WebPubSubEmulatorOptions => ({
  ...others,
  ...quotaOf({ unit, limitConnectRate }),
});

const badOption = (text: string): ExpectedError => new ExpectedError('bad-option', text);

const largestUnit = 1000;

function quotaOf({ unit, limitConnectRate }: QuotaFlags): QuotaOptions {
  if (limitConnectRate === true && unit === undefined)
    throw badOption('--limit-connect-rate goes by --unit, which is missing.');
  return { unit: unit === undefined ? undefined : sizeOf(unit), limitConnectRate };
}

function sizeOf(text: string): ServiceSize {
  if (text === 'free') return 'free';
  const unit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (unit >= 1 && unit <= largestUnit) return unit;
  throw badOption(`--unit: expected a number of Units from 1 to ${largestUnit}, or free.`);
}

/** Whether requests can be sent to a URL template, whatever fills its placeholders. */
export function isUpstreamUrl(text: string): boolean {
  // An event name of a client must not choose the host.
  if (/^[a-z]+:[/\\]*[^/?#\\]*\{/i.test(text)) return false;
  const filled = text.replace(/\{(hub|category|event)\}/g, 'x');
  if (!URL.canParse(filled)) return false;
  const { protocol, username, password } = new URL(filled);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
