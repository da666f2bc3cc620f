import type { Estimate, NeighbourUse } from '../model';
import { rounded } from '../tables/rounded';
import { baseMessageBytes, connectionLimit, connectionSource, sourceOf } from '../tables/tables';
import {
  bandwidthScale,
  bandwidthWords,
  directionWords,
  figure,
  shareWords,
  tableWords,
} from '../wording';
import { listedByAll, type Demand } from './search';
import { constraintUses, tolerance, trafficUtilisation, type ConstraintUse } from './utilisation';

/** How full a size is, and the constraints that fill it. */
export interface Fill {
  readonly traffic: number;
  readonly connections: number;
  /** Every constraint of the guide reading, use case by use case. */
  readonly uses: readonly ConstraintUse[];
  /** Names of those that bind: connections, or the largest constraints of the largest use cases. */
  readonly limiting: readonly string[];
}

/** Utilisation at a size and what binds there; connections and traffic both on a tie. */
export function fillAt(demand: Demand, unit: number): Fill {
  const { edition, loads } = demand;
  const traffic = trafficUtilisation(edition, loads, unit, 'guide');
  const connections = demand.connections / connectionLimit(edition, unit);
  const uses = loads.map((load) => constraintUses(edition, load, unit, 'guide'));
  const limiting: string[] = [];
  if (connections >= traffic * (1 - tolerance)) limiting.push('connections');
  if (traffic >= connections * (1 - tolerance)) {
    const peak = Math.max(...uses.flat().map((use) => use.utilisation));
    for (const use of uses.flat()) {
      const reaches = use.utilisation > 0 && use.utilisation >= peak * (1 - tolerance);
      if (reaches && !limiting.includes(use.name)) limiting.push(use.name);
    }
  }
  return { traffic, connections, uses: uses.flat(), limiting };
}

/**
 * The one limit people are told, e.g. "outbound 19,000 of 20,000 msg/s (95 %, small group, guide of
 * 2023-03)". On a tie: connections, else outbound bandwidth, else outbound messages, else the first.
 */
export function bindingOf(demand: Demand, fill: Fill, unit: number): Estimate['binding'] {
  const { edition } = demand;
  const name =
    fill.limiting.find((candidate) => candidate === 'connections') ??
    fill.limiting.find((candidate) => candidate.endsWith('.out_bandwidth')) ??
    fill.limiting.find((candidate) => candidate.endsWith('.out_messages')) ??
    fill.limiting[0]!;
  if (name === 'connections') {
    const limit = connectionLimit(edition, unit);
    const share = shareWords(fill.connections);
    return {
      name,
      utilisation: rounded(fill.connections),
      text: `connections ${figure(demand.connections)} of ${figure(limit)} (${share}, ${edition.label})`,
      source: connectionSource(edition),
    };
  }
  const use = peakUse(fill.uses.filter((candidate) => candidate.name === name));
  const together =
    demand.loads.length > 1 ? `; all use cases together ${shareWords(fill.traffic)}` : '';
  return {
    name,
    utilisation: rounded(use.utilisation),
    text: `${useWords(demand, use)}${together}`,
    source: sourceOf(edition, use.table, use.direction),
  };
}

/** The fullest of some constraints; the first on a tie. */
export function peakUse(uses: readonly ConstraintUse[]): ConstraintUse {
  return uses.reduce((peak, use) => (use.utilisation > peak.utilisation ? use : peak));
}

function useWords({ edition }: Demand, use: ConstraintUse): string {
  const inMessages = use.measure === 'messages' || use.countedBytes === baseMessageBytes;
  const amounts = inMessages
    ? `${figure(use.load)} of ${figure(use.limit)} msg/s`
    : bandwidthOf(use.load * baseMessageBytes, use.limit * baseMessageBytes);
  const place = `${shareWords(use.utilisation)}, ${tableWords[use.table]}, ${edition.label}`;
  return `${directionWords[use.direction]} ${amounts} (${place})`;
}

function bandwidthOf(load: number, limit: number): string {
  if (bandwidthScale(load).name !== bandwidthScale(limit).name)
    return `${bandwidthWords(load)} of ${bandwidthWords(limit)}`;
  const { divisor, name } = bandwidthScale(limit);
  return `${figure(load / divisor)} of ${figure(limit / divisor)} ${name}`;
}

/** The size itself between the nearest sizes that all tables of the demand list, rising. */
export function neighboursOf(demand: Demand, unit: number, recommended: boolean): NeighbourUse[] {
  const listed = listedByAll(demand);
  const below = listed.filter((candidate) => candidate < unit).at(-1);
  const above = listed.find((candidate) => candidate > unit);
  const { edition, loads } = demand;
  return [below, unit, above]
    .filter((candidate) => candidate !== undefined)
    .map((candidate) => ({
      unit: candidate,
      recommended: recommended && candidate === unit,
      connections: rounded(demand.connections / connectionLimit(edition, candidate)),
      inbound: rounded(trafficUtilisation(edition, loads, candidate, 'guide', 'in')),
      outbound: rounded(trafficUtilisation(edition, loads, candidate, 'guide', 'out')),
    }));
}
