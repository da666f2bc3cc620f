import type { NeighbourUse } from '../model';
import { rounded } from '../tables/rounded';
import { listedByAll, type Demand } from './search';
import { connectionLimit } from '../tables/tables';
import { trafficUtilisation } from './utilisation';

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
