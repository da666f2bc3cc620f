/** What stands behind `target` and `connectionString`, and which parts of them are secret. */
import { endpointHost, isOneReference, looksLikeConnectionString } from './connectionString';
import { hostOf } from './hubUrl';

export type TargetSpec =
  /** The embedded hub, or the emulator of the scenario's service. */
  | { readonly kind: 'local' }
  | { readonly kind: 'hubUrl'; readonly urls: readonly string[] }
  /** Of Azure SignalR Service or Azure Web PubSub; the value may be a reference. */
  | { readonly kind: 'connectionString'; readonly value: string };

/** What stands behind a target, which decides what a run has to ask and may take for granted. */
type Behind =
  /** A server that is started for the run: nobody is asked, and nothing leaves this machine. */
  | 'ownServer'
  /** Somebody's app server: it has its own dialect and its own way to a service, and may be shared. */
  | 'userHub'
  /** A service of Azure or its emulator, for which a run brings tokens and, in default mode, app servers. */
  | 'service';

const behind = new Map<string | undefined, Behind>([
  ['local', 'ownServer'],
  ['hubUrl', 'userHub'],
  ['connectionString', 'service'],
]);

/** What stands behind a target, an open one or that of a result; undefined where nobody knows. */
export const behindOf = (target: { readonly kind: string } | undefined): Behind | undefined =>
  behind.get(target?.kind);

export interface TargetWishes {
  /** A text that is nothing but a reference stands for a connection string. */
  readonly preferConnectionString: boolean;
}

/** Reads `target` where it is one text; undefined where that may be a hub URL, which may come in lists. */
export function targetOfText(
  text: string,
  { preferConnectionString }: TargetWishes,
): TargetSpec | undefined {
  if (text.toLowerCase() === 'local') return { kind: 'local' };
  const isReference = isOneReference(text) && (preferConnectionString || /conn/i.test(text));
  return isReference || looksLikeConnectionString(text)
    ? { kind: 'connectionString', value: text }
    : undefined;
}

/** Regular expressions of such texts, for the schema. */
export const targetPatterns = [
  '^(?:[lL][oO][cC][aA][lL])$',
  '(^|;)\\s*[eE][nN][dD][pP][oO][iI][nN][tT]\\s*=',
];

export const urlsOf = (target: TargetSpec | undefined): readonly string[] =>
  target?.kind === 'hubUrl' ? target.urls : [];

export const connectionStringOf = (target: TargetSpec | undefined): string | undefined =>
  target?.kind === 'connectionString' ? target.value : undefined;

/** Hosts that a target names, without those that references stand for. */
export function hostsOf(target: TargetSpec | undefined): string[] {
  const text = connectionStringOf(target);
  const hosts = [...urlsOf(target).map(hostOf), text && endpointHost(text)];
  return hosts.filter((host) => host !== undefined);
}

/** Different hosts and ports that connections are spread over. */
export function addressCount(target: TargetSpec | undefined): number {
  // A reference may stand for several URLs.
  const urls = urlsOf(target).flatMap((url) => url.split(',').map((one) => one.trim()));
  const addresses = urls.map((url) => /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? url);
  return Math.max(1, new Set(addresses).size);
}

/** The same target with other texts, such as those without secrets. */
export function withTexts(target: TargetSpec, change: (text: string) => string): TargetSpec {
  if (target.kind === 'hubUrl') return { ...target, urls: target.urls.map(change) };
  return target.kind === 'local' ? target : { ...target, value: change(target.value) };
}

/** A target for people; secrets are still in it. */
export const targetWords = (target: TargetSpec | undefined): string =>
  connectionStringOf(target) ?? (urlsOf(target).join(', ') || (target?.kind ?? 'local'));
