/** What stands behind `target` and `connectionString`, and which parts of them are secret. */
import { endpointHost, isOneReference, looksLikeConnectionString } from './connectionString';
import { hostOf } from './hubUrl';

/** What stands behind a target, which decides what a run has to ask and may take for granted. */
type Behind =
  /** A server that is started for the run: nobody is asked, and nothing leaves this machine. */
  | 'ownServer'
  /** Somebody's app server: it has its own dialect and its own way to a service, and may be shared. */
  | 'userHub'
  /** A service of Azure or its emulator, for which a run brings tokens and, in default mode, app servers. */
  | 'service';

/** What one kind of target is, as far as a file says. The Node half opens it: `src/targets/openTarget.ts`. */
export interface TargetKind<Spec extends { readonly kind: string }> {
  readonly kind: Spec['kind'];
  readonly behind: Behind;
  /** How the summary of `target` names it: in hover, `keys`, schema and documents. */
  readonly summary: string;
  /** Reads `target` where it is one text; undefined when that is of another kind. */
  matches?(text: string, wishes: TargetWishes): Spec | undefined;
  /** Regular expression of such texts, for the schema. */
  readonly pattern?: string;
  /** What completion offers for `target`, with some words of English. */
  readonly offers?: readonly (readonly [text: string, words: string])[];
  urls?(spec: Spec): readonly string[];
  connectionString?(spec: Spec): string;
  /** The same with other texts, such as those without secrets. */
  withTexts?(spec: Spec, change: (text: string) => string): Spec;
}

export interface TargetWishes {
  /** A text that is nothing but a reference stands for a connection string. */
  readonly preferConnectionString: boolean;
}

/** The embedded hub, or the emulator of the scenario's service. */
const localKind: TargetKind<{ readonly kind: 'local' }> = {
  kind: 'local',
  behind: 'ownServer',
  summary: '`local` for the embedded hub',
  matches: (text) => (text.toLowerCase() === 'local' ? { kind: 'local' } : undefined),
  pattern: '^(?:[lL][oO][cC][aA][lL])$',
  offers: [['local', 'the embedded hub']],
};

/** Azure SignalR Service or Azure Web PubSub, by connection string; the value may be a reference. */
const connectionKind: TargetKind<{ readonly kind: 'connectionString'; readonly value: string }> = {
  kind: 'connectionString',
  behind: 'service',
  summary: 'a connection string',
  matches: (text, { preferConnectionString }) =>
    looksLikeConnectionString(text) ||
    (isOneReference(text) && (preferConnectionString || /conn/i.test(text)))
      ? { kind: 'connectionString', value: text }
      : undefined,
  pattern: '(^|;)\\s*[eE][nN][dD][pP][oO][iI][nN][tT]\\s*=',
  connectionString: ({ value }) => value,
  withTexts: (spec, change) => ({ ...spec, value: change(spec.value) }),
};

/** They alone come in lists, so the reader of `target` takes for them what is left. */
const hubUrlKind: TargetKind<{ readonly kind: 'hubUrl'; readonly urls: readonly string[] }> = {
  kind: 'hubUrl',
  behind: 'userHub',
  summary: 'one or more hub URLs',
  urls: ({ urls }) => urls,
  withTexts: (spec, change) => ({ ...spec, urls: spec.urls.map(change) }),
};

/** All kinds of targets, in the order in which a text is offered to them. */
const registered = [localKind, hubUrlKind, connectionKind] as const;

type SpecOf<Kind> = Kind extends TargetKind<infer Spec> ? Spec : never;
export type TargetSpec = SpecOf<(typeof registered)[number]>;

export const targetKinds: readonly TargetKind<TargetSpec>[] = registered;

/** `a, b, or c`, of all kinds. */
export const targetSummaries = (): string =>
  targetKinds
    .map(({ summary }, at) => (at === targetKinds.length - 1 ? `or ${summary}` : summary))
    .join(', ');

const kindOf = (
  target: { readonly kind: string } | undefined,
): TargetKind<TargetSpec> | undefined =>
  target && targetKinds.find(({ kind }) => kind === target.kind);

/** What stands behind a target, an open one or that of a result; undefined where nobody knows. */
export const behindOf = (target: { readonly kind: string } | undefined): Behind | undefined =>
  kindOf(target)?.behind;

export const urlsOf = (target: TargetSpec | undefined): readonly string[] =>
  (target && kindOf(target)?.urls?.(target)) ?? [];

export const connectionStringOf = (target: TargetSpec | undefined): string | undefined =>
  target && kindOf(target)?.connectionString?.(target);

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

export const withTexts = (target: TargetSpec, change: (text: string) => string): TargetSpec =>
  kindOf(target)?.withTexts?.(target, change) ?? target;

/** A target for people; secrets are still in it. */
export const targetWords = (target: TargetSpec | undefined): string =>
  connectionStringOf(target) ?? (urlsOf(target).join(', ') || (target?.kind ?? localKind.kind));
