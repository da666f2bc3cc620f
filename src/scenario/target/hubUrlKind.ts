import type { TargetKind } from './targetKind';

/** One or more hub URLs; `targetChoice` says which connection uses which. An entry may be a reference. */
export interface HubUrlSpec {
  readonly kind: 'hubUrl';
  readonly urls: readonly string[];
}

/** The user's own hubs. They alone come in lists, so the reader of `target` takes for them what is left. */
export const hubUrlKind: TargetKind<HubUrlSpec> = {
  kind: 'hubUrl',
  behind: 'userHub',
  urls: ({ urls }) => urls,
  withTexts: (spec, change) => ({ ...spec, urls: spec.urls.map(change) }),
};
