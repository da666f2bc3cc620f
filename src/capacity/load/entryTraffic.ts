import type { Scenario, ScenarioEntry } from '../../scenario/scenario';
import type { StepSenders } from '../../scenario/steps';
import { findUseCase } from '../../usecases/registry';
import { payloadOf } from '../../usecases/payloadSizes';
import type { Traffic } from '../../usecases/traffic';
import type { Product } from '../model';
import { leavingSizes } from './leavingSizes';
import { kindsOf, sizesOf } from './serviceLoad';

/** Traffic of the entries that send in one step, with the entries they come from. */
export type EntryTraffic =
  { readonly sending: readonly SendingEntry[] } | { readonly problem: string };

interface SendingEntry {
  readonly entry: ScenarioEntry;
  /** Place of the entry in the scenario. */
  readonly position: number;
  readonly traffic: Traffic;
}

/** Product whose tables a scenario is compared with; a plain hub counts as Azure SignalR. */
export function productOf(scenario: Pick<Scenario, 'service'>): Product {
  return scenario.service === 'webpubsub' ? 'webpubsub' : 'signalr';
}

/**
 * Traffic of each entry in a step. Entries without senders, and use cases that send nothing, contribute
 * connections only and are left out.
 */
export function entryTraffic(
  scenario: Parameters<typeof leavingSizes>[0] & Pick<Scenario, 'connections'>,
  step: StepSenders,
): EntryTraffic {
  const { connections, entries, service } = scenario;
  const sending: SendingEntry[] = [];
  for (const [position, entry] of entries.entries()) {
    const useCase = findUseCase(entry.name);
    if (useCase === undefined) return { problem: `There is no use case ${entry.name}.` };
    const senders = step.perEntry[position] ?? 0;
    if (senders === 0) continue;
    const traffic = useCase.traffic(entry.parameters, { connections, senders }, service);
    if (traffic === undefined) continue;
    if (!kindsOf[productOf(scenario)].includes(traffic.kind)) {
      const guide = productOf(scenario) === 'webpubsub' ? 'Web PubSub' : 'SignalR';
      return { problem: `The ${guide} guide has no table for ${useCase.name}.` };
    }
    const { sizes, meanBytes } = payloadOf(entry.parameters);
    // A limit that holds for each message is lost in the mean.
    const several = sizes.length > 1 && { messageSizes: sizes };
    const sent = { ...traffic, messageBytes: meanBytes, ...several };
    const leaving = leavingSizes(scenario, entry, sizesOf(sent));
    sending.push({ entry, position, traffic: { ...sent, leaving } });
  }
  return { sending };
}
