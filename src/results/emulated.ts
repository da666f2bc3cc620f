import { behindOf } from '../scenario/target/targetKinds';
import type { RunSummary } from '../measure/show/summary';

/** What has answered in place of a service or a deployed hub. */
export type Emulated = 'embeddedHub' | 'emulator';

/**
 * What a run was measured against when it was none of the real things; undefined when it was, or when that
 * cannot be known.
 *
 * @param service of the scenario; a connection string belongs to a service whatever it says
 */
export function emulatedBy(
  { kind, emulated }: Partial<Pick<RunSummary['target'], 'kind' | 'emulated'>>,
  service: string,
): Emulated | undefined {
  if (emulated !== true) return undefined;
  return service === 'hub' && (kind === undefined || behindOf({ kind }) !== 'service')
    ? 'embeddedHub'
    : 'emulator';
}

/** What Units from such a run stand for. */
export const standsFor: Readonly<Record<Emulated, string>> = {
  embeddedHub:
    'Measured against the embedded hub: this compares the traffic with the published tables; how fast the embedded hub is says nothing about the service.',
  emulator:
    'Measured against an emulator: this compares the traffic with the published tables; how fast the emulator is says nothing about the service.',
};
