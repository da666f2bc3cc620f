import { countsServers, servedLoads, type Stack } from './appServers';
import { connectionsFit, listedByAll, type Demand, type Sizes } from './search';
import { floorBytes } from '../load/serviceLoad';
import { tableOf } from '../tables/tables';
import { tolerance, trafficUtilisation } from './utilisation';

export type Warning =
  | 'message-floor'
  | 'senders-above-benchmark'
  | 'no-table'
  | 'interpolated'
  | 'premium-p2'
  | 'routing-cost-not-in-server-load'
  | 'more-units-do-not-help'
  | 'faster-than-measured'
  | 'rounding-edge'
  | 'guide-sum-differs';

/** Largest size of the Standard and Premium_P1 tiers; above it is Premium_P2. */
export const premiumP2Above = 100;
/** From this size on the tables show the routing limit. */
const routingLimitFrom = 50;

/** The warnings that hold, in the order of {@link Warning}. */
export function warningsOf(demand: Demand, sizes: Sizes, atUnit: number, stack: Stack): Warning[] {
  const { edition, loads } = demand;
  const { unit } = sizes;
  const listed = listedByAll(demand);
  const holds: Readonly<Record<Warning, boolean>> = {
    'message-floor': loads.some((load) => load.sizes.some(({ bytes }) => bytes < floorBytes)),
    'senders-above-benchmark': loads.some(
      (load) => load.senders > (tableOf(edition, load.table).sendersAtMost ?? Infinity),
    ),
    'no-table':
      loads.some((load) => load.kind === 'rest_send_to_group') ||
      (servedLoads(edition, loads).length > 0 && !countsServers(edition, stack)),
    interpolated: unit !== null && !listed.includes(unit),
    'premium-p2': unit !== null && unit > premiumP2Above,
    'routing-cost-not-in-server-load':
      atUnit >= routingLimitFrom &&
      loads.some(({ table }) => table === 'small_group' || table === 'send_to_connection'),
    'more-units-do-not-help':
      unit === null && connectionsFit(demand, largestOf(demand)) && isFlat(demand, listed),
    'faster-than-measured': sizes.strict !== unit,
    'rounding-edge': sizes.withinRounding !== unit,
    'guide-sum-differs': sizes.guideSum !== unit,
  };
  return (Object.keys(holds) as Warning[]).filter((warning) => holds[warning]);
}

/** Whether the load is as heavy at the largest listed size as at the first one of the routing limit. */
function isFlat({ edition, loads }: Demand, listed: readonly number[]): boolean {
  const high = listed.filter((unit) => unit >= routingLimitFrom);
  if (high.length < 2) return false;
  const [first, last] = [high[0]!, high.at(-1)!].map((unit) =>
    trafficUtilisation(edition, loads, unit, 'guide'),
  ) as [number, number];
  return last >= first * (1 - tolerance);
}

/** The largest size that can be bought in this edition. */
export function largestOf({ edition }: Pick<Demand, 'edition'>): number {
  return edition.candidates.at(-1)!;
}
