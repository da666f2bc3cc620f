import { services } from '../../base/serviceTraits';
import type { ServiceLoad } from '../load/serviceLoad';
import type {
  Estimate,
  EstimateInput,
  NeighbourUse,
  Direction,
  PublishedEdition,
  TableName,
  PublishedTable,
} from '../model';
import {
  baseMessageBytes,
  offeredUnits,
  connectionLimit,
  connectionSource,
  guides,
  limitAt,
  rounded,
  sourceOf,
  tableOf,
  isRest,
} from '../tables/publishedLimits';
import {
  bandwidthScale,
  formatBandwidth,
  directionNames,
  formatFigure,
  formatUtilisation,
  tableNames,
} from '../capacityWords';

/** Relative, so that exactly 100 % fits. */
export const tolerance = 1e-9;

/**
 * The guides' worked examples agree only with this slack for KB and MB (docs/capacity.md, I-20).
 */
const roundingSlack = 1.024;

export interface Demand extends Traffic {
  readonly connections: number;
  /** Share of the traffic limits to plan for, not of connections. */
  readonly headroom: number;
  readonly stack: NonNullable<EstimateInput['stack']>;
  readonly serverless: boolean;
  readonly freeTier: boolean;
  readonly serverConnections: number | undefined;
}

interface Traffic {
  readonly edition: PublishedEdition;
  readonly loads: readonly ServiceLoad[];
}

export type Sizes = Pick<
  Estimate,
  'unit' | 'unit_listed' | 'unit_strict' | 'unit_guide_sum' | 'unit_within_rounding'
>;

export function findSizes(demand: Demand): Sizes {
  const listed = listedByAll(demand);
  const smallest = (fits: (unit: number) => boolean): number | null =>
    offeredUnits(demand.edition).find((unit) => connectionsFit(demand, unit) && fits(unit)) ?? null;
  return {
    unit: smallest((unit) => withinHeadroom(demand, unit)),
    unit_listed: smallest((unit) => listed.includes(unit) && withinHeadroom(demand, unit)),
    unit_strict: smallest((unit) => withinHeadroom(demand, unit, 'strict')),
    unit_guide_sum: smallest((unit) => fitsGuideSum(demand, unit)),
    unit_within_rounding: smallest((unit) => withinHeadroom(demand, unit, 'guide', roundingSlack)),
  };
}

export const fitsUnit = (demand: Demand, unit: number): boolean =>
  connectionsFit(demand, unit) && withinHeadroom(demand, unit);

export const connectionsFit = ({ edition, connections }: Demand, unit: number): boolean =>
  connections <= connectionLimit(edition, unit);

function withinHeadroom(demand: Demand, unit: number, reading?: Reading, slack = 1): boolean {
  const most = demand.headroom * slack * (1 + tolerance);
  return trafficUtilisation(demand, unit, reading && { reading }) <= most;
}

/** The guides' own method: bandwidths added up; blind to routing cost. */
function fitsGuideSum({ edition, loads, headroom }: Demand, unit: number): boolean {
  const top = guides[edition.product].ceilings;
  const allowed = headroom * baseMessageBytes * (1 + tolerance);
  const inbound = loads.reduce((sum, load) => sum + load.inBandwidth, 0);
  const outbound = loads.reduce((sum, load) => sum + load.outBandwidth, 0);
  return (
    inbound <= allowed * limitAt(edition, top.in, 'in', unit) &&
    outbound <= allowed * limitAt(edition, top.out, 'out', unit)
  );
}

/** Sizes that every table of these loads lists. */
export function listedByAll({ edition, loads }: Traffic): number[] {
  const tables = new Set(
    loads.flatMap((load) => constraintsOf(load, 'strict').map(({ table }) => table)),
  );
  const lists = [...tables].map((table) => tableOf(edition, table).units ?? edition.listedUnits);
  const [first = edition.listedUnits, ...others] = lists;
  return first.filter((unit) => others.every((units) => units.includes(unit)));
}

interface Constraint {
  readonly direction: Direction;
  readonly measure: 'bandwidth' | 'messages';
  readonly table: TableName;
}

/** At one size, in messages per second of 2,048 bytes. */
export interface ConstraintUse extends Constraint {
  readonly name: string;
  readonly countedBytes: number;
  readonly load: number;
  readonly limit: number;
  readonly utilisation: number;
}

/** `guide` lets small messages be faster than any table shows; `strict` does not. */
type Reading = 'guide' | 'strict';

function usesOf(edition: PublishedEdition, load: ServiceLoad, unit: number): ConstraintUse[] {
  return constraintsOf(load, 'guide').map((constraint) => {
    const { table, direction, measure } = constraint;
    const limit = limitAt(edition, table, direction, unit);
    const amount = amountOf(load, constraint);
    return {
      ...constraint,
      name: `${load.kind}.${direction}_${measure}`,
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

/** Sum over use cases of the largest load / limit; above 1 the size is too small. */
export function trafficUtilisation(
  { edition, loads }: Traffic,
  unit: number,
  only: { readonly reading?: Reading; readonly direction?: Direction } = {},
): number {
  const { reading = 'guide', direction } = only;
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

const limitOf =
  (measure: Constraint['measure']) =>
  (direction: Direction, table: TableName): Constraint => ({ direction, measure, table });
const [bandwidth, messages] = [limitOf('bandwidth'), limitOf('messages')];
const both = (...of: [Direction, TableName]): Constraint[] => [bandwidth(...of), messages(...of)];

interface TableConstraints {
  readonly always: readonly Constraint[];
  readonly strict: readonly Constraint[];
}

const paidPerMessage = (table: TableName): TableConstraints => ({
  always: [...both('in', table), ...both('out', table)],
  strict: [],
});

// The inbound rows of broadcast, big group and REST broadcast are no limits; the ceiling of another
// row is used (docs/capacity.md, I-09).
const ofBandwidth = (inbound: TableName, outbound: TableName): TableConstraints => ({
  always: [bandwidth('in', inbound), bandwidth('out', outbound)],
  strict: [messages('in', inbound), messages('out', outbound)],
});
const paidPerSending = (inbound: TableName, outbound: TableName): TableConstraints => ({
  always: [...both('in', inbound), bandwidth('out', outbound)],
  strict: [messages('out', outbound)],
});

const byTable: Readonly<Record<TableName, TableConstraints>> = {
  echo: ofBandwidth('echo', 'echo'),
  broadcast: ofBandwidth('echo', 'broadcast'),
  rest_broadcast: paidPerSending('rest_send_to_user', 'rest_broadcast'),
  big_group: paidPerSending('small_group', 'big_group'),
  small_group: paidPerMessage('small_group'),
  send_to_connection: paidPerMessage('send_to_connection'),
  rest_send_to_user: paidPerMessage('rest_send_to_user'),
  upstream_echo: paidPerMessage('upstream_echo'),
};

/** No table has REST to groups: the group's table and the request rate of REST to users. */
const restRequests = both('in', 'rest_send_to_user');

export function constraintsOf(
  { kind, table }: Pick<ServiceLoad, 'kind' | 'table'>,
  reading: Reading,
): readonly Constraint[] {
  const { always, strict } = byTable[table];
  const rest = kind === 'rest_send_to_group' ? restRequests : [];
  return [...always, ...rest, ...(reading === 'strict' ? strict : [])];
}

export interface Utilisation {
  readonly traffic: number;
  readonly connections: number;
  readonly uses: readonly ConstraintUse[];
  readonly limiting: readonly string[];
}

export function utilisationAt(demand: Demand, unit: number): Utilisation {
  const { edition, loads } = demand;
  const traffic = trafficUtilisation(demand, unit);
  const connections = demand.connections / connectionLimit(edition, unit);
  const uses = loads.flatMap((load) => usesOf(edition, load, unit));
  const limiting = new Set<string>();
  if (connections >= traffic * (1 - tolerance)) limiting.add('connections');
  if (traffic >= connections * (1 - tolerance)) {
    const peak = Math.max(...uses.map(({ utilisation }) => utilisation));
    for (const { name, utilisation } of uses)
      if (utilisation > 0 && utilisation >= peak * (1 - tolerance)) limiting.add(name);
  }
  return { traffic, connections, uses, limiting: [...limiting] };
}

/** Connections come first on a tie, then outbound. */
export function bindingLimit(demand: Demand, fill: Utilisation, unit: number): Estimate['binding'] {
  const { edition } = demand;
  const name =
    ['connections', '.out_bandwidth', '.out_messages']
      .flatMap((end) => fill.limiting.find((candidate) => candidate.endsWith(end)) ?? [])
      .at(0) ?? fill.limiting[0]!;
  if (name === 'connections') {
    const limit = formatFigure(connectionLimit(edition, unit));
    return {
      name,
      utilisation: rounded(fill.connections),
      text: `connections ${formatFigure(demand.connections)} of ${limit} (${formatUtilisation(fill.connections)}, ${edition.label})`,
      source: connectionSource(edition),
    };
  }
  const use = peakUse(fill.uses.filter((candidate) => candidate.name === name));
  const together =
    demand.loads.length > 1 ? `; all use cases together ${formatUtilisation(fill.traffic)}` : '';
  return {
    name,
    utilisation: rounded(use.utilisation),
    text: `${useWords(demand, use)}${together}`,
    source: sourceOf(edition, use.table, use.direction),
  };
}

export const peakUse = (uses: readonly ConstraintUse[]): ConstraintUse =>
  uses.reduce((peak, use) => (use.utilisation > peak.utilisation ? use : peak));

const isInMessages = ({ measure, countedBytes }: ConstraintUse): boolean =>
  measure === 'messages' || countedBytes === baseMessageBytes;

export const formatLimit = (use: ConstraintUse, limit: number): string =>
  isInMessages(use) ? `${formatFigure(limit)} msg/s` : formatBandwidth(limit * baseMessageBytes);

function useWords({ edition }: Demand, use: ConstraintUse): string {
  const amounts = isInMessages(use)
    ? `${formatFigure(use.load)} of ${formatFigure(use.limit)} msg/s`
    : bandwidthOf(use.load * baseMessageBytes, use.limit * baseMessageBytes);
  const place = `${formatUtilisation(use.utilisation)}, ${tableNames[use.table]}, ${edition.label}`;
  return `${directionNames[use.direction]} ${amounts} (${place})`;
}

function bandwidthOf(load: number, limit: number): string {
  const { divisor, name } = bandwidthScale(limit);
  const shown =
    bandwidthScale(load).name === name ? formatFigure(load / divisor) : formatBandwidth(load);
  return `${shown} of ${formatBandwidth(limit)}`;
}

export function neighbourSizes(demand: Demand, unit: number, recommended: boolean): NeighbourUse[] {
  const listed = listedByAll(demand);
  const below = listed.filter((candidate) => candidate < unit).at(-1);
  const above = listed.find((candidate) => candidate > unit);
  return [below, unit, above]
    .filter((candidate) => candidate !== undefined)
    .map((candidate) => ({
      unit: candidate,
      recommended: recommended && candidate === unit,
      connections: rounded(demand.connections / connectionLimit(demand.edition, candidate)),
      inbound: rounded(trafficUtilisation(demand, candidate, { direction: 'in' })),
      outbound: rounded(trafficUtilisation(demand, candidate, { direction: 'out' })),
    }));
}

/** Web apps for ASP.NET; null where nothing is published. */
export interface AppServers {
  readonly count: number | null;
  readonly serverConnections: number | null;
}

export const noAppServers: AppServers = { count: null, serverConnections: null };

/** ASP.NET has no web-app row for these: rows that they share elsewhere. */
const webAppRow: Readonly<Partial<Record<TableName, TableName>>> = {
  big_group: 'broadcast',
  send_to_connection: 'echo',
};

export const servedLoads = ({ edition, loads }: Demand): readonly ServiceLoad[] =>
  services[edition.product].appServers === 'none' ? [] : loads.filter(({ kind }) => !isRest(kind));

export function hasAppServerCounts({ edition, stack }: Demand): boolean {
  const row: keyof PublishedTable = stack === 'aspnet' ? 'webApps' : 'appServers';
  return Object.values(edition.tables).some((table) => table[row] !== undefined);
}

/**
 * Enough for a mix: each count is for full load of one use case, and shares add up to at most 1.
 */
export function appServersAt(demand: Demand, unit: number): AppServers {
  const { edition, stack } = demand;
  const served = servedLoads(demand);
  const position = edition.listedUnits.findIndex((listed) => listed >= unit);
  if (served.length === 0 || position < 0 || !hasAppServerCounts(demand)) return noAppServers;
  const counts = served.map(({ table }) => {
    const row =
      stack === 'aspnet'
        ? tableOf(edition, webAppRow[table] ?? table).webApps
        : tableOf(edition, table).appServers;
    return row?.values[position] ?? 0;
  });
  const connections = served.map(({ table }) => tableOf(edition, table).serverConnections ?? 0);
  return { count: Math.max(...counts), serverConnections: Math.max(...connections) };
}
