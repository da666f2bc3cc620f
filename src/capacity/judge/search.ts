import type { ServiceLoad } from '../load/serviceLoad';
import type { Product, Estimate, NeighbourUse } from '../model';
import type { PublishedEdition, TableName, Direction } from '../tables/publishedEdition';
import {
  baseMessageBytes,
  connectionLimit,
  limitAt,
  tableOf,
  rounded,
  connectionSource,
  sourceOf,
} from '../tables/tables';
import {
  bandwidthScale,
  bandwidthWords,
  directionWords,
  figure,
  shareWords,
  tableWords,
} from '../wording';

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

/** Loads and limits are compared with this relative tolerance, so that exactly 100 % fits. */
export const tolerance = 1e-9;

/** A constraint with its numbers at one size, in messages per second of 2,048 bytes. */
export interface ConstraintUse extends Constraint {
  /** `echo.out_bandwidth`. */
  readonly name: string;
  /** Bytes the load's messages are counted as, on average. */
  readonly countedBytes: number;
  readonly load: number;
  readonly limit: number;
  readonly utilisation: number;
}

/** Every constraint of a load at a size. */
function constraintUses(
  edition: PublishedEdition,
  load: ServiceLoad,
  unit: number,
  reading: Reading,
): ConstraintUse[] {
  return constraintsOf(load, reading).map((constraint) => {
    const limit = limitAt(edition, constraint.table, constraint.direction, unit);
    const amount = amountOf(load, constraint);
    return {
      ...constraint,
      name: `${load.kind}.${constraint.direction}_${constraint.measure}`,
      countedBytes: load.countedBytes,
      load: amount,
      limit,
      utilisation: amount / limit,
    };
  });
}

function amountOf(load: ServiceLoad, { direction, measure }: Constraint): number {
  if (measure === 'messages') return direction === 'in' ? load.inMessages : load.outMessages;
  return (direction === 'in' ? load.inBandwidth : load.outBandwidth) / baseMessageBytes;
}

/**
 * Sum over the use cases of the largest load / limit of each, at one size; of one direction only if
 * it is given. Above 1 the size does not do.
 */
export function trafficUtilisation(
  edition: PublishedEdition,
  loads: readonly ServiceLoad[],
  unit: number,
  reading: Reading,
  direction?: Direction,
): number {
  let sum = 0;
  for (const load of loads) {
    let peak = 0;
    for (const constraint of constraintsOf(load, reading)) {
      if (direction !== undefined && constraint.direction !== direction) continue;
      const limit = limitAt(edition, constraint.table, constraint.direction, unit);
      peak = Math.max(peak, amountOf(load, constraint) / limit);
    }
    sum += peak;
  }
  return sum;
}

type Measure = 'bandwidth' | 'messages';

/** A load that must stay under a row of a table. */
interface Constraint {
  readonly direction: Direction;
  readonly measure: Measure;
  /** Table the limit comes from; not always the table of the use case. */
  readonly table: TableName;
}

/**
 * How limits are read. The guides' limits are bandwidths, so small messages may go faster than any
 * table shows (`guide`); `strict` also holds message rates to the measured ones.
 */
type Reading = 'guide' | 'strict';

const bandwidth = (direction: Direction, table: TableName): Constraint => ({
  direction,
  measure: 'bandwidth',
  table,
});
const messages = (direction: Direction, table: TableName): Constraint => ({
  direction,
  measure: 'messages',
  table,
});
/** For traffic that is paid per message at any size: routing, an HTTP request. */
const both = (direction: Direction, table: TableName): Constraint[] => [
  bandwidth(direction, table),
  messages(direction, table),
];

/** Constraints by table: those always compared, and those of the strict reading. */
const byTable: Readonly<
  Record<TableName, { always: readonly Constraint[]; strict: readonly Constraint[] }>
> = {
  echo: {
    always: [bandwidth('in', 'echo'), bandwidth('out', 'echo')],
    strict: [messages('in', 'echo'), messages('out', 'echo')],
  },
  // The inbound rows of broadcast, big group and REST broadcast only record how little the benchmark
  // sent; the ceiling of another row stands in (docs/capacity.md, I-09).
  broadcast: {
    always: [bandwidth('in', 'echo'), bandwidth('out', 'broadcast')],
    strict: [messages('in', 'echo'), messages('out', 'broadcast')],
  },
  rest_broadcast: {
    always: [...both('in', 'rest_send_to_user'), bandwidth('out', 'rest_broadcast')],
    strict: [messages('out', 'rest_broadcast')],
  },
  big_group: {
    always: [...both('in', 'small_group'), bandwidth('out', 'big_group')],
    strict: [messages('out', 'big_group')],
  },
  small_group: paidPerMessage('small_group'),
  send_to_connection: paidPerMessage('send_to_connection'),
  rest_send_to_user: paidPerMessage('rest_send_to_user'),
  upstream_echo: paidPerMessage('upstream_echo'),
};

function paidPerMessage(table: TableName): { always: Constraint[]; strict: Constraint[] } {
  return { always: [...both('in', table), ...both('out', table)], strict: [] };
}

/** REST to groups has no table: the group's table, and the request rate of REST to users. */
const restRequests = both('in', 'rest_send_to_user');

/** Everything a load is compared with. */
export function constraintsOf(
  load: Pick<ServiceLoad, 'kind' | 'table'>,
  reading: Reading,
): readonly Constraint[] {
  const { always, strict } = byTable[load.table];
  return [
    ...always,
    ...(load.kind === 'rest_send_to_group' ? restRequests : []),
    ...(reading === 'strict' ? strict : []),
  ];
}

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
