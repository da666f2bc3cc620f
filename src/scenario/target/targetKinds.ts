import { connectionKind } from './connectionKind';
import { endpointHost } from './connectionString';
import { hostOf } from './hubUrl';
import { hubUrlKind } from './hubUrlKind';
import { localKind } from './localKind';
import type { Behind, TargetKind } from './targetKind';

/** All kinds of targets, in the order in which a text is offered to them; hub URLs take what is left. */
const registered = [localKind, connectionKind, hubUrlKind] as const;

type SpecOf<Kind> = Kind extends TargetKind<infer Spec> ? Spec : never;
/** Where the file says the load goes. */
export type TargetSpec = SpecOf<(typeof registered)[number]>;

/** Their descriptions. */
export const targetKinds: readonly TargetKind<TargetSpec>[] = registered;

const kindNamed = (name: string): TargetKind<TargetSpec> | undefined =>
  targetKinds.find(({ kind }) => kind === name);

/** What stands behind a target, an open one or that of a result; undefined where nobody knows. */
export const behindOf = (target: { readonly kind: string } | undefined): Behind | undefined =>
  target && kindNamed(target.kind)?.behind;

/** URLs of hubs that a target names; none for other kinds. */
export const urlsOf = (target: TargetSpec | undefined): readonly string[] =>
  (target && kindNamed(target.kind)?.urls?.(target)) ?? [];

/** The connection string that a target names; undefined for other kinds. */
export const connectionStringOf = (target: TargetSpec | undefined): string | undefined =>
  target && kindNamed(target.kind)?.connectionString?.(target);

/** Hosts that a target names, without those that references stand for. */
export function hostsOf(target: TargetSpec | undefined): string[] {
  const text = connectionStringOf(target);
  const hosts = [
    ...urlsOf(target).map(hostOf),
    text === undefined ? undefined : endpointHost(text),
  ];
  return hosts.filter((host) => host !== undefined);
}

/** Different hosts and ports that connections are spread over. */
export const addressCount = (target: TargetSpec | undefined): number =>
  Math.max(
    1,
    new Set(urlsOf(target).map((url) => /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? url)).size,
  );

/** The target with its texts changed, such as without secrets. */
export const withTexts = (target: TargetSpec, change: (text: string) => string): TargetSpec =>
  kindNamed(target.kind)?.withTexts?.(target, change) ?? target;

/** A target for people; secrets are still in it. */
export const targetWords = (target: TargetSpec | undefined): string =>
  connectionStringOf(target) ?? (urlsOf(target).join(', ') || (target?.kind ?? localKind.kind));
