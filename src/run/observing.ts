import { observedOf, type Observed } from '../measure/observed';
import type { Snapshot } from '../measure/snapshot';
import type { Scenario } from '../scenario/scenario';
import type { ObserveContext, Observer } from './observe/openObserver';
import type { Shell } from './shell';

/** Loaded by runs that observe something only. @throws ExpectedError `missing-reference` */
export async function observerOf(
  scenario: Scenario,
  { context, say, t }: Pick<Shell, 'say' | 't'> & { readonly context: ObserveContext },
): Promise<Observer | undefined> {
  if (scenario.observe === undefined) return undefined;
  const { openObserver } = await import('./observe/openObserver.js');
  return openObserver(scenario, context, { warn: (text) => say('warning', text), t });
}

/** With what was last read of the server, where something is. */
export function withObserved(snapshot: Snapshot, observer: Observer | undefined): Snapshot {
  const observed = observer?.values() ?? {};
  return Object.keys(observed).length === 0 ? snapshot : { ...snapshot, observed };
}

/** All that was seen, when the run is over; undefined where nothing was to be. */
export async function observedOver(
  snapshots: readonly Snapshot[],
  observer: Observer | undefined,
  { startedAt, endedAt }: { readonly startedAt: string; readonly endedAt: string },
): Promise<Observed | undefined> {
  const [from, to] = [new Date(startedAt), new Date(endedAt)];
  const late = (await observer?.late(from, to)) ?? [];
  return observedOf(snapshots, observer?.problems(), late, from.getTime());
}
