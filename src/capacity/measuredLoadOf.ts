import type { Scenario } from '../scenario/scenario';
import { stepsOf } from '../scenario/steps';
import { applicationOf, assumptionsOf } from './loadOf';
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
  /** The same of each entry of a mix, in the order of the scenario. */
  readonly entries?: readonly MeasuredRates[];
}

type MeasuredRates = Pick<MeasuredStep, 'sentPerSecond' | 'receivedPerSecond'>;

/**
 * The input of the recommendation for a step that was run. A result of a mix without rates of its
 * entries shares the measured sums as the scenario intended.
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
  const nominal = found.sending.map(({ position, traffic }) => ({
    traffic,
    measured: measured.entries?.[position],
    load: trafficLoad(product, scenario.connections, traffic),
  }));
  const inbound = nominal.reduce((sum, { load }) => sum + load.inMessages, 0);
  const outbound = nominal.reduce((sum, { load }) => sum + load.outMessages, 0);
  return {
    load: {
      product,
      connections: measured.connections,
      step: measured.index,
      useCases: nominal.map(({ traffic, load, measured: own }) => ({
        kind: traffic.kind,
        senders: traffic.senders,
        messageBytes: traffic.messageBytes,
        ...(traffic.messageSizes === undefined ? {} : { messageSizes: traffic.messageSizes }),
        ...(traffic.leaving === undefined ? {} : { leaving: traffic.leaving }),
        inPerSecond: own?.sentPerSecond ?? (measured.sentPerSecond * load.inMessages) / inbound,
        outPerSecond:
          own?.receivedPerSecond ?? (measured.receivedPerSecond * load.outMessages) / outbound,
        ...(traffic.groupMembers === undefined ? {} : { groupMembers: traffic.groupMembers }),
      })),
      ...(scenario.connectionType === 'AspNet' ? { stack: 'aspnet' as const } : {}),
      ...applicationOf(scenario),
      assumptions: assumptionsOf(scenario),
    },
  };
}
