import { listed } from '../../scenario/text/words';
import { serverConnectionsProblem } from '../../scenario/check/checkService';
import { floorBytes } from '../load/serviceLoad';
import type { OtherEdition } from '../model';
import { candidatesOf, connectionLimit, tableOf, limitAt } from '../tables/tables';
import {
  cautionFrom,
  counted,
  figure,
  shareWords,
  tableWords,
  unitWords,
  directionWords,
} from '../wording';
import {
  servedLoads,
  countsServers,
  fillAt,
  peakUse,
  connectionsFit,
  fitsUnit,
  listedByAll,
  tolerance,
  trafficUtilisation,
  constraintsOf,
  type AppServers,
  type Fill,
  type Demand,
  type Sizes,
} from './search';

export interface NoteContext {
  readonly demand: Demand;
  readonly sizes: Sizes;
  readonly atUnit: number;
  readonly fill: Fill;
  readonly warnings: readonly Warning[];
  readonly servers: AppServers;
  readonly serverConnections: number | null;
  readonly withServers: number | null;
  readonly other: OtherEdition | undefined;
}

/** Most app servers in any test of the guides (*Performance test environments*). */
const appServersTested = 20;

export function notesOf(context: NoteContext): string[] {
  const { demand, sizes, warnings } = context;
  return [
    ...(sizes.unit === null ? noFitNotes(context) : []),
    ...cautionNotes(context),
    ...fullNotes(context),
    ...noteOrder
      .filter((warning) => warnings.includes(warning))
      .map((warning) => warningNotes[warning](context)),
    ...erratumNotes(demand, sizesCompared(context)),
    ...serverNotes(context),
  ];
}

/** Warnings by importance; `more-units-do-not-help` is said by the reason why nothing fits. */
const noteOrder = [
  'rounding-edge',
  'faster-than-measured',
  'guide-sum-differs',
  'routing-cost-not-in-server-load',
  'premium-p2',
  'interpolated',
  'no-table',
  'senders-above-benchmark',
  'message-floor',
] as const satisfies readonly Warning[];

const warningNotes: Readonly<Record<(typeof noteOrder)[number], (context: NoteContext) => string>> =
  {
    'rounding-edge': ({ sizes }) =>
      `Within the 2.4 % that the guides leave open in the reading of KB and MB it would be ${sizeOrNone(sizes.withinRounding)}.`,
    'faster-than-measured': ({ sizes }) =>
      `Small messages: by bandwidth this is more messages per second than any table shows; by the measured message rates it takes ${sizeOrNone(sizes.strict)}.`,
    'guide-sum-differs': ({ sizes }) =>
      `The guide's own method, adding bandwidths, says ${sizeOrNone(sizes.guideSum)}; it leaves out the cost of routing and of requests.`,
    'routing-cost-not-in-server-load': () =>
      'From Unit 50 on the Server Load metric does not show the cost of routing to small groups and single connections: it will look better than it is.',
    'premium-p2': ({ atUnit }) => `${unitWords(atUnit)} exists in the Premium_P2 tier only.`,
    interpolated: interpolatedNote,
    'no-table': noTableNote,
    'senders-above-benchmark': sendersNote,
    'message-floor': () =>
      'A message below 1,024 bytes costs about as much as one of 1,024 bytes and is counted so.',
  };

function sizeOrNone(unit: number | null): string {
  return unit === null ? 'no size' : unitWords(unit);
}

function cautionNotes({ demand, sizes, fill }: NoteContext): string[] {
  const { unit } = sizes;
  const full = (['traffic', 'connections'] as const)
    .map((name) => [name, fill[name]] as const)
    .filter(([, share]) => share >= cautionFrom * (1 - tolerance));
  if (unit === null || full.length === 0) return [];
  const { edition, connections } = demand;
  const hasRoom = (share: number): boolean => share < cautionFrom * (1 - tolerance);
  const roomy = candidatesOf(edition).find(
    (candidate) =>
      candidate > unit &&
      hasRoom(trafficUtilisation(demand, candidate)) &&
      hasRoom(connections / connectionLimit(edition, candidate)),
  );
  const what = listed(full.map(([name, share]) => `${name} ${shareWords(share)}`));
  const hint =
    roomy === undefined ? 'no larger size leaves room' : `${unitWords(roomy)} leaves room`;
  const highest = Math.max(...full.map(([, share]) => share));
  const place = highest > cautionFrom * (1 + tolerance) ? 'Above' : 'At';
  return [`${place} the 70 % mark (${what}): ${hint}.`];
}

function interpolatedNote({ demand, sizes, atUnit }: NoteContext): string {
  const units = listedByAll(demand);
  const below = units.filter((unit) => unit < atUnit).at(-1) ?? atUnit;
  const above = units.find((unit) => unit > atUnit) ?? atUnit;
  const listedSize =
    sizes.listed === null ? '' : `; the smallest size they list is ${unitWords(sizes.listed)}`;
  return `${unitWords(atUnit)} is not in all tables: its limits are derived from ${unitWords(below)} and ${unitWords(above)}${listedSize}.`;
}

function noTableNote({ demand, servers }: NoteContext): string {
  const restGroup = demand.loads.some((load) => load.kind === 'rest_send_to_group');
  const sentences = restGroup
    ? [
        'The guide has no table for REST to groups: compared with the group table and with the request rate of REST to users.',
      ]
    : [];
  const noCounts = demand.stack === 'aspnet' && servers.count === null;
  if (noCounts && servedLoads(demand).length > 0) {
    sentences.push('This edition has no web-app counts for ASP.NET SignalR.');
  }
  return sentences.join(' ');
}

function sendersNote({ demand }: NoteContext): string {
  const beyond = demand.loads.flatMap(({ table, senders }) => {
    const most = tableOf(demand.edition, table).sendersAtMost ?? Infinity;
    return senders > most
      ? [
          `${counted(senders, 'sender')} where the ${tableWords[table]} table had at most ${figure(most)}`,
        ]
      : [];
  });
  return `${listed(beyond)}: the rate is compared, that many senders were not tested.`;
}

/** The listed sizes that the answer stands on: its own or its neighbours, and the one below that was too small. */
function sizesCompared({ demand, atUnit }: NoteContext): number[] {
  const units = listedByAll(demand);
  const below = units.filter((unit) => unit < atUnit).slice(-1);
  const isRefused = (unit: number): boolean =>
    connectionsFit(demand, unit) && !fitsUnit(demand, unit);
  if (units.includes(atUnit)) return [...below.filter(isRefused), atUnit];
  return [...below, ...units.filter((unit) => unit > atUnit).slice(0, 1)];
}

function erratumNotes(demand: Demand, units: readonly number[]): string[] {
  if (demand.loads.every((load) => load.inMessages === 0 && load.outMessages === 0)) return [];
  return units.flatMap((unit) => {
    const tables = new Set<string>(demand.loads.map((load) => load.table));
    const { uses } = fillAt(demand, unit);
    if (uses.length > 0) tables.add(peakUse(uses).table);
    return demand.edition.errata
      .filter((erratum) => tables.has(erratum.limit) && erratum.unit === String(unit))
      .map(
        ({ item, limit, printed, used }) =>
          `The guide prints ${printed} for ${unitWords(unit)}, ${tableWords[limit as keyof typeof tableWords]}; ${used} is used (misprint ${item}).`,
      );
  });
}

/** Clients that fit the size where the server connections beside them do not (docs/capacity.md, I-29). */
function fullNotes(context: NoteContext): string[] {
  const { demand, sizes, servers, serverConnections, withServers } = context;
  const { unit } = sizes;
  if (unit === null || serverConnections === null) return [];
  const words = unitWords(unit);
  const problem = serverConnectionsProblem(demand.connections, serverConnections, unit, words);
  if (problem === undefined) return [];
  const room = withServers === null ? 'no size' : unitWords(withServers);
  const advised = (servers.count ?? 0) * (servers.serverConnections ?? 0);
  // Two figures on one screen need a word on what each of them is.
  const opened = `A run opens ${counted(serverConnections, 'server connection')}; the guide advises ${figure(advised)} in all.`;
  const isSaid = advised === 0 || advised === serverConnections;
  return [`${problem} ${room} has room for both.`, ...(isSaid ? [] : [opened])];
}

function serverNotes({ demand, sizes, servers }: NoteContext): string[] {
  const { count } = servers;
  if (count === null || sizes.unit === null) return [];
  const notes: string[] = [];
  if (count === 1) notes.push('One app server carries the load but leaves no spare.');
  if (count > appServersTested && demand.stack === 'aspnetcore') {
    notes.push(`The guides' tests used at most ${appServersTested} app servers.`);
  }
  return notes;
}

/** `3 app servers with 15 server connections each`; undefined where there are none. */
export function adviceOf(
  { count, serverConnections }: AppServers,
  stack: Demand['stack'],
): string | undefined {
  if (count === null || serverConnections === null) return undefined;
  const servers = counted(count, stack === 'aspnet' ? 'web app' : 'app server');
  const each = count === 1 ? '' : ' each';
  return `${servers} with ${serverConnections} server connections${each}`;
}

function noFitNotes({ demand, fill, warnings, other }: NoteContext): string[] {
  const largest = largestOf(demand);
  const notes: string[] = [];
  if (!connectionsFit(demand, largest)) {
    const limit = connectionLimit(demand.edition, largest);
    notes.push(
      `${figure(demand.connections)} connections are more than the ${figure(limit)} of ${unitWords(largest)}, the largest size of this guide.`,
    );
  }
  if (warnings.includes('more-units-do-not-help')) {
    notes.push(ceilingNote(demand, fill, largest));
  } else if (fill.traffic > demand.headroom) {
    const planned = demand.headroom < 1 ? ` (planned for ${shareWords(demand.headroom)})` : '';
    notes.push(
      `Traffic would be ${shareWords(fill.traffic)} of ${unitWords(largest)}, the largest size of this guide${planned}.`,
    );
  }
  notes.push(splitNote(demand, fill));
  if (other !== undefined) {
    const size =
      other.unit === null
        ? 'but has none for this load either'
        : `and by it the load takes ${unitWords(other.unit)}`;
    notes.push(
      `This guide ends at ${unitWords(largest)}; the edition "${other.edition}" goes on, ${size}.`,
    );
  }
  return notes;
}

/** "More units do not help", with the flat part of the row that stops them. */
function ceilingNote(demand: Demand, fill: Fill, largest: number): string {
  const { edition } = demand;
  const { table, direction } = peakUse(fill.uses);
  const limit = limitAt(edition, table, direction, largest);
  const flatFrom =
    listedByAll(demand).find((unit) => limitAt(edition, table, direction, unit) === limit) ??
    largest;
  return (
    `More units do not help: ${tableWords[table]} ${directionWords[direction]} reaches its routing ` +
    `ceiling of ${figure(limit)} msg/s at ${unitWords(flatFrom)} and stays there up to ${unitWords(largest)}.`
  );
}

function splitNote({ headroom, loads }: Demand, fill: Fill): string {
  const instances = Math.ceil(Math.max(fill.traffic / headroom, fill.connections) - 1e-9);
  const routed = loads.some((load) =>
    constraintsOf(load, 'guide').some(
      ({ table }) => table === 'small_group' || table === 'send_to_connection',
    ),
  );
  const condition = routed
    ? ', provided that each group or conversation stays within one of them'
    : '';
  return `Split evenly it would take ${figure(instances)} instances of the largest size${condition}.`;
}

type Warning =
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
const premiumP2Above = 100;
/** From this size on the tables show the routing limit. */
const routingLimitFrom = 50;

/** The warnings that hold, in the order of {@link Warning}. */
export function warningsOf(demand: Demand, sizes: Sizes, atUnit: number): Warning[] {
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
      (servedLoads(demand).length > 0 && !countsServers(demand)),
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
function isFlat(demand: Demand, listed: readonly number[]): boolean {
  const high = listed.filter((unit) => unit >= routingLimitFrom);
  if (high.length < 2) return false;
  const last = trafficUtilisation(demand, high.at(-1)!);
  return last >= trafficUtilisation(demand, high[0]!) * (1 - tolerance);
}

export const largestOf = ({ edition }: Demand): number => candidatesOf(edition).at(-1)!;
