import { formatBytes } from '../base/units';
import type { LeavingSize, PayloadSize } from '../usecases/payloadSizes';
import type { TrafficKind } from '../usecases/traffic';
import { billingOf } from './billing';
import { assess, checkAssignment } from './assess';
import { connectionsOnly } from './connectionsOnly';
import { measuredFormula } from './formula';
import { checkNumber, inputError } from './inputCheck';
import { undated, type Edition, type Estimate, type Product, type TableSource } from './model';
import { kindsOf, ratesOf, tableFor, type ServiceLoad } from './serviceLoad';
import { trafficLoad } from './trafficLoad';
import { figure, tableWords, unitWords } from './wording';

/** Traffic of one use case as measured in one step. */
export interface MeasuredTraffic {
  readonly kind: TrafficKind;
  readonly senders: number;
  readonly messageBytes: number;
  /** As in the input of an estimate: every size is sent as often as its weight says. */
  readonly messageSizes?: readonly PayloadSize[];
  /** As in the input of an estimate. */
  readonly leaving?: readonly LeavingSize[];
  /** Messages into the service per second. */
  readonly inPerSecond: number;
  /** Deliveries out of the service per second. */
  readonly outPerSecond: number;
  readonly groupMembers?: number;
}

export interface MeasuredLoad {
  readonly product: Product;
  readonly connections: number;
  readonly useCases: readonly MeasuredTraffic[];
  readonly stack?: 'aspnetcore' | 'aspnet';
  /** As in the input of an estimate. */
  readonly serverless?: boolean;
  /** As in the input of an estimate. */
  readonly serverConnections?: number;
  /** Step the rates were measured in, from 1. */
  readonly step: number;
  /** Sentences on how the input came about; the recommendation passes them on in `notes`. */
  readonly assumptions?: readonly string[];
}

/** An estimate whose input was measured, with the sentences that say why. */
export interface Recommendation extends Estimate {
  readonly step: number;
  /** One sentence: size, binding limit, its utilisation. */
  readonly headline: string;
  /** What was measured, what it was compared with, what follows for app servers. */
  readonly reasons: readonly string[];
}

export interface RecommendOptions {
  readonly edition?: Edition;
  readonly headroom?: number;
}

/**
 * How many units the measured rates need: the estimate with measured instead of nominal input. Without
 * use cases, or with rates of 0, the connections decide.
 * @throws ExpectedError `estimate-input` when a field is invalid
 */
export function recommend(measured: MeasuredLoad, options: RecommendOptions = {}): Recommendation {
  const { product, useCases } = measured;
  const idle = connectionsOnly(product);
  const assignment = checkAssignment(
    { ...measured, useCases: useCases.length === 0 ? [idle] : useCases },
    options,
  );
  const loads =
    useCases.length === 0
      ? [trafficLoad(product, assignment.connections, idle)]
      : useCases.map((traffic) => measuredLoad(product, traffic));
  const estimate = assess(assignment, loads, measured.assumptions ?? []);
  return {
    ...estimate,
    billing: billingOf(product, loads),
    step: measured.step,
    headline: headlineOf(estimate),
    reasons: reasonsOf(measured, estimate, loads),
  };
}

/** The load of one use case from its measured rates; the table is that of its nominal group size. */
function measuredLoad(product: Product, traffic: MeasuredTraffic): ServiceLoad {
  const { kind } = traffic;
  if (!kindsOf[product].includes(kind)) throw inputError('kind is not known for this product');
  const senders = checkNumber(traffic.senders, 'senders', { whole: true, zeroAllowed: true });
  checkNumber(traffic.messageBytes, 'message_bytes');
  const inMessages = checkNumber(traffic.inPerSecond, 'in_per_second', { zeroAllowed: true });
  const outMessages = checkNumber(traffic.outPerSecond, 'out_per_second', { zeroAllowed: true });
  const members =
    kind === 'send_to_group' || kind === 'rest_send_to_group'
      ? checkNumber(traffic.groupMembers, 'group_members', { whole: true })
      : 1;
  const rates = ratesOf(traffic, inMessages, outMessages);
  return {
    kind,
    table: tableFor(product, kind, members),
    senders,
    ...rates,
    formula: measuredFormula(rates),
  };
}

function headlineOf({ unit, binding }: Estimate): string {
  return `${unit === null ? 'No size of this guide fits' : unitWords(unit)}: ${binding.text}`;
}

function reasonsOf(
  { step, connections }: MeasuredLoad,
  { binding, at_unit, advice }: Estimate,
  loads: readonly ServiceLoad[],
): string[] {
  const rates = loads
    .filter((load) => load.inMessages > 0 || load.outMessages > 0)
    .map(
      (load) =>
        `${tableWords[load.table]} ${figure(load.inMessages)} msg/s in and ${figure(load.outMessages)} msg/s out of ${formatBytes(load.messageBytes)}`,
    );
  const traffic = rates.length === 0 ? 'no traffic' : rates.join('; ');
  const reasons = [
    `Measured in step ${figure(step)} with ${figure(connections)} connections: ${traffic}.`,
  ];
  if (binding.source !== undefined) {
    reasons.push(`Compared at ${unitWords(at_unit)} with ${placeOf(binding.source)}.`);
  }
  if (advice !== undefined) reasons.push(`${advice}.`);
  return reasons;
}

/** `"Case study > … > Small group" in Performance guide …, edition 2023-03, line 314`. */
function placeOf({ heading, title, edition, line }: TableSource): string {
  const at = line === undefined ? '' : `, line ${line}`;
  const dated = edition === undated ? edition : `edition ${edition}`;
  return `"${heading}" in ${title}, ${dated}${at}`;
}
