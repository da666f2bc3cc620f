import { constraintsOf, tolerance, trafficUtilisation } from './utilisation';
import type { Product } from '../model';
import type { PublishedEdition, TableName } from '../tables/publishedEdition';
import type { ServiceLoad } from '../load/serviceLoad';
import { baseMessageBytes, connectionLimit, limitAt, tableOf } from '../tables/tables';

/**
 * 1,024 / 1,000: the guides' two worked examples agree only when this much is left open in the reading
 * of KB and MB (docs/capacity.md, I-20).
 */
const roundingSlack = 1.024;

/** Rows that the guides call the most a size takes in and sends out. */
const ceilings: Readonly<Record<Product, { in: TableName; out: TableName }>> = {
  signalr: { in: 'echo', out: 'broadcast' },
  webpubsub: { in: 'upstream_echo', out: 'big_group' },
};

/** What is to be placed, and how full a size may be. */
export interface Demand {
  readonly edition: PublishedEdition;
  readonly connections: number;
  readonly loads: readonly ServiceLoad[];
  /** Share of the traffic limits to plan for; connections are not scaled by it. */
  readonly headroom: number;
}

/** Smallest size by each method; null when none fits. */
export interface Sizes {
  readonly unit: number | null;
  readonly listed: number | null;
  readonly strict: number | null;
  readonly guideSum: number | null;
  readonly withinRounding: number | null;
}

/** The smallest sizes that carry the demand. Limits never fall with the size, so the first that fits is it. */
export function findSizes(demand: Demand): Sizes {
  const { candidates } = demand.edition;
  const listed = listedByAll(demand);
  const smallest = (fits: (unit: number) => boolean): number | null =>
    candidates.find(fits) ?? null;
  return {
    unit: smallest((unit) => fitsUnit(demand, unit)),
    listed: smallest((unit) => listed.includes(unit) && fitsUnit(demand, unit)),
    strict: smallest(
      (unit) => connectionsFit(demand, unit) && withinHeadroom(demand, unit, 'strict', 1),
    ),
    guideSum: smallest((unit) => fitsGuideSum(demand, unit)),
    withinRounding: smallest(
      (unit) =>
        connectionsFit(demand, unit) && withinHeadroom(demand, unit, 'guide', roundingSlack),
    ),
  };
}

/** Whether a size carries the demand: connections, and the utilisation sum of the traffic. */
export function fitsUnit(demand: Demand, unit: number): boolean {
  return connectionsFit(demand, unit) && withinHeadroom(demand, unit, 'guide', 1);
}

/** Connections are a hard limit. */
export function connectionsFit({ edition, connections }: Demand, unit: number): boolean {
  return connections <= connectionLimit(edition, unit);
}

function withinHeadroom(
  { edition, loads, headroom }: Demand,
  unit: number,
  reading: 'guide' | 'strict',
  slack: number,
): boolean {
  const allowed = headroom * slack * (1 + tolerance);
  return trafficUtilisation(edition, loads, unit, reading) <= allowed;
}

/** The guides' own method: bandwidths added and held under two ceilings; blind to routing cost. */
function fitsGuideSum(demand: Demand, unit: number): boolean {
  const { edition, loads, headroom } = demand;
  const top = ceilings[edition.product];
  const allowed = headroom * baseMessageBytes * (1 + tolerance);
  const inbound = loads.reduce((sum, load) => sum + load.inBandwidth, 0);
  const outbound = loads.reduce((sum, load) => sum + load.outBandwidth, 0);
  return (
    connectionsFit(demand, unit) &&
    inbound <= allowed * limitAt(edition, top.in, 'in', unit) &&
    outbound <= allowed * limitAt(edition, top.out, 'out', unit)
  );
}

/** Sizes that every table the loads are compared with lists, rising. */
export function listedByAll({ edition, loads }: Pick<Demand, 'edition' | 'loads'>): number[] {
  const tables = new Set(
    loads.flatMap((load) => constraintsOf(load, 'strict').map((constraint) => constraint.table)),
  );
  const lists = [...tables].map((table) => tableOf(edition, table).units);
  const [first = edition.listedUnits, ...others] = lists;
  return first.filter((unit) => others.every((units) => units.includes(unit)));
}
