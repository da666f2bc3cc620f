import { azureServiceOf } from '../../base/services';
import { formatCount } from '../../base/units';
import type { Scenario } from '../../scenario/scenario';
import { stepsOf } from '../../scenario/steps';
import { applicationOf, assumptionsOf, entryTraffic } from '../load/loadOf';
import type { Carried, MeasuredLoad, StepStatus } from './recommend';
import { trafficLoad } from '../load/serviceLoad';
import { figure } from '../wording';

/** Messages into the service, deliveries that were due out of it, and deliveries beyond those. */
interface MeasuredCounts {
  readonly sent: number;
  readonly expected: number;
  readonly extra: number;
}

/** What a run measured in one step. */
export interface MeasuredStep extends MeasuredCounts {
  /** From 1. */
  readonly index: number;
  readonly status: StepStatus;
  /** After a failed step. */
  readonly carried?: Carried | null;
  /** Connections that the step asked for, or held where that is more: also those that were lost. */
  readonly connections: number;
  /** Connections that failed or were dropped, up to the end of the run. */
  readonly lostConnections: number;
  /** Deliveries that were due and did not arrive. */
  readonly lost: number;
  readonly seconds: number;
  /** Joins and leaves of groups that worked, and those that failed or were put off for want of an answer. */
  readonly moves?: { readonly done: number; readonly missed: number };
  /** The counts of each entry of a mix, in the order of the scenario. */
  readonly entries?: readonly MeasuredCounts[];
}

/**
 * The input of the recommendation for a step that was run: what its traffic needs, whatever became of it. Where
 * {@link holdsBack something} kept traffic from being sent or counted, the rates of the scenario are given too.
 */
export function measuredLoadOf(
  scenario: Scenario,
  measured: MeasuredStep,
): { readonly load: MeasuredLoad } | { readonly problem: string } {
  const { index, connections, seconds, status, carried, entries } = measured;
  const step = stepsOf(scenario)[index - 1];
  if (step === undefined) return { problem: `The scenario has no step ${index}.` };
  const found = entryTraffic(scenario, step);
  if ('problem' in found) return found;
  const product = azureServiceOf(scenario.service);
  const isHeldBack = holdsBack(scenario, measured);
  const perSecond = (count: number): number => (seconds > 0 ? count / seconds : 0);
  return {
    load: {
      product,
      connections,
      step: index,
      stepStatus: status,
      ...(carried !== undefined && { carried }),
      useCases: found.sending.map(({ position, traffic }) => {
        const { sent, expected, extra } = entries?.[position] ?? measured;
        const load = trafficLoad(product, scenario.connections, traffic);
        const planned = { inPerSecond: load.inMessages, outPerSecond: load.outMessages };
        return {
          kind: traffic.kind,
          senders: traffic.senders,
          messageBytes: traffic.messageBytes,
          ...(traffic.messageSizes === undefined ? {} : { messageSizes: traffic.messageSizes }),
          ...(traffic.leaving === undefined ? {} : { leaving: traffic.leaving }),
          inPerSecond: perSecond(sent),
          outPerSecond: perSecond(expected + extra),
          extraPerSecond: perSecond(extra),
          ...(isHeldBack && { planned }),
          ...(traffic.groupMembers === undefined ? {} : { groupMembers: traffic.groupMembers }),
        };
      }),
      ...(scenario.connectionType === 'AspNet' ? { stack: 'aspnet' as const } : {}),
      ...applicationOf(scenario),
      remarks: remarksOf(measured),
      assumptions: assumptionsOf(scenario),
    },
  };
}

/**
 * Whether the server may have made the traffic smaller: lost connections send and get nothing, extra deliveries are
 * counted by arrival only, late joins get fewer of them, and closed pacing waits.
 */
function holdsBack({ pacing }: Scenario, { lost, lostConnections, moves }: MeasuredStep): boolean {
  const missed = moves?.missed ?? 0;
  return lost > 0 || lostConnections > 0 || missed > 0 || pacing === 'closed';
}

/** What the rates are to be read with. */
function remarksOf(measured: MeasuredStep): string[] {
  const { lost, expected, extra, lostConnections, connections, moves, seconds } = measured;
  const remarks: string[] = [];
  if (lost > 0) {
    remarks.push(
      `${formatCount(lost)} of ${formatCount(expected)} deliveries did not arrive; they count all the same, as the traffic needs them.`,
    );
  }
  if (lostConnections > 0) {
    remarks.push(
      `${formatCount(lostConnections)} of ${formatCount(connections)} connections failed or were dropped; they count all the same, with the rates that the scenario plans.`,
    );
  }
  if (extra > 0) {
    remarks.push(
      'Extra are deliveries to connections that were joining or leaving, or that were not meant to get them: a service sends them too.',
    );
  }
  if (moves !== undefined && moves.done > 0) {
    remarks.push(
      `${figure(moves.done / seconds)} joins and leaves a second, and as many answers, are not counted: no table has them.`,
    );
  }
  return remarks;
}
