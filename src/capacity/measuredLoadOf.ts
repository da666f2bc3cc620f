import type { Scenario } from '../scenario/scenario';
import { stepsOf } from '../scenario/steps';
import { assumptionsOf } from './loadOf';
import { entryTraffic, productOf } from './entryTraffic';
import type { MeasuredLoad } from './recommend';
import { trafficLoad } from './trafficLoad';

/** What a run measured in one step. */
export interface MeasuredStep {
  /** From 1. */
  readonly index: number;
  /** Connections that were open. */
  readonly connections: number;
  /** Messages into the service and deliveries out of it, per second. */
  readonly sentPerSecond: number;
  readonly receivedPerSecond: number;
}

/**
 * The input of the recommendation for a step that was run. A run counts all use cases together; those
 * of a mix share the measured rates as the scenario intended.
 */
export function measuredLoadOf(
  scenario: Scenario,
  measured: MeasuredStep,
): { readonly load: MeasuredLoad } | { readonly problem: string } {
  const step = stepsOf(scenario)[measured.index - 1];
  if (step === undefined) return { problem: `The scenario has no step ${measured.index}.` };
  const found = entryTraffic(scenario, step);
  if ('problem' in found) return found;
  const product = productOf(scenario);
  const nominal = found.sending.map(({ traffic }) => ({
    traffic,
    load: trafficLoad(product, scenario.connections, traffic),
  }));
  const inbound = nominal.reduce((sum, { load }) => sum + load.inMessages, 0);
  const outbound = nominal.reduce((sum, { load }) => sum + load.outMessages, 0);
  return {
    load: {
      product,
      connections: measured.connections,
      step: measured.index,
      useCases: nominal.map(({ traffic, load }) => ({
        kind: traffic.kind,
        senders: traffic.senders,
        messageBytes: traffic.messageBytes,
        inPerSecond: (measured.sentPerSecond * load.inMessages) / inbound,
        outPerSecond: (measured.receivedPerSecond * load.outMessages) / outbound,
        ...(traffic.groupMembers === undefined ? {} : { groupMembers: traffic.groupMembers }),
      })),
      ...(scenario.connectionType === 'AspNet' ? { stack: 'aspnet' as const } : {}),
      assumptions: assumptionsOf(scenario),
    },
  };
}
