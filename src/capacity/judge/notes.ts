import { sentence, type Words } from '../../base/sentence';
import { joinWords } from '../../scenario/text/words';
import { serverConnectionsProblem } from '../../scenario/check/checkService';
import { floorBytes } from '../load/serviceLoad';
import type { OtherEdition, TableName } from '../model';
import { offeredUnits, connectionLimit, tableOf, limitAt } from '../tables/publishedLimits';
import {
  cautionFrom,
  formatCounted,
  formatFigure,
  formatUtilisation,
  tableNames,
  formatUnit,
  directionNames,
} from '../capacityWords';
import {
  servedLoads,
  hasAppServerCounts,
  utilisationAt,
  peakUse,
  connectionsFit,
  fitsUnit,
  formatLimit,
  listedByAll,
  tolerance,
  trafficUtilisation,
  constraintsOf,
  type AppServers,
  type Utilisation,
  type Demand,
  type Sizes,
} from './search';

interface Found {
  readonly demand: Demand;
  readonly sizes: Sizes;
  readonly atUnit: number;
  readonly fill: Utilisation;
  readonly servers: AppServers;
  readonly serverConnections: number | null;
  readonly withServers: number | null;
  readonly other: OtherEdition | undefined;
}

/** Most in any test of the guides (*Performance test environments*). */
const appServersTested = 20;

export function notesOf(found: Found): string[] {
  const { demand, sizes } = found;
  const ranked = warnings
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => a.rank - b.rank)
    .map(({ says }) => says(found));
  return [
    ...(sizes.unit === null ? noFitNotes(found) : []),
    ...cautionNotes(found),
    ...fullNotes(found),
    ...ranked.filter((note) => note !== false),
    ...erratumNotes(demand, sizesCompared(found)),
    ...serverNotes(found),
  ];
}

export const warningsOf = (found: Found): string[] =>
  warnings.filter(({ says }) => says(found) !== false).map(({ name }) => name);

interface Warning {
  readonly name: string;
  /** Order among the notes; 0: the note stands where no size fits. */
  readonly rank: number;
  readonly says: (found: Found) => string | false;
}

const premiumP2Above = 100;
/** From here on the tables show the routing limit. */
const routingLimitFrom = 50;

const isRouted = ({ table }: { readonly table: TableName }): boolean =>
  table === 'small_group' || table === 'send_to_connection';

const warnings: readonly Warning[] = [
  {
    ...{ name: 'message-floor', rank: 9 },
    says: ({ demand: { loads } }) =>
      loads.some((load) => load.sizes.some(({ bytes }) => bytes < floorBytes)) &&
      'A message below 1,024 bytes costs about as much as one of 1,024 bytes and is counted so.',
  },
  { name: 'senders-above-benchmark', rank: 8, says: sendersNote },
  { name: 'no-table', rank: 7, says: noTableNote },
  { name: 'interpolated', rank: 6, says: interpolatedNote },
  {
    ...{ name: 'premium-p2', rank: 5 },
    says: ({ sizes: { unit } }) =>
      unit !== null &&
      unit > premiumP2Above &&
      `${formatUnit(unit)} exists in the Premium_P2 tier only.`,
  },
  {
    ...{ name: 'routing-cost-not-in-server-load', rank: 4 },
    says: ({ demand, atUnit }) =>
      atUnit >= routingLimitFrom &&
      demand.loads.some(isRouted) &&
      'From Unit 50 on the Server Load metric does not show the cost of routing to small groups and single connections: it will look better than it is.',
  },
  { name: 'more-units-do-not-help', rank: 0, says: ceilingNote },
  {
    ...{ name: 'faster-than-measured', rank: 2 },
    says: ({ sizes: { unit, unit_strict: strict } }) =>
      strict !== unit &&
      `Small messages: by bandwidth this is more messages per second than any table shows; by the measured message rates it takes ${sizeOrNone(strict)}.`,
  },
  {
    ...{ name: 'rounding-edge', rank: 1 },
    says: ({ sizes: { unit, unit_within_rounding: withinRounding } }) =>
      withinRounding !== unit &&
      `Within the 2.4 % that the guides leave open in the reading of KB and MB it would be ${sizeOrNone(withinRounding)}.`,
  },
  {
    ...{ name: 'guide-sum-differs', rank: 3 },
    says: ({ sizes: { unit, unit_guide_sum: guideSum } }) =>
      guideSum !== unit &&
      `The guide's own method, adding bandwidths, says ${sizeOrNone(guideSum)}; it leaves out the cost of routing and of requests.`,
  },
];

const sizeOrNone = (unit: number | null): string => (unit === null ? 'no size' : formatUnit(unit));

function cautionNotes({ demand, sizes, fill }: Found): string[] {
  const { unit } = sizes;
  const full = (['traffic', 'connections'] as const)
    .map((name) => [name, fill[name]] as const)
    .filter(([, share]) => share >= cautionFrom * (1 - tolerance));
  if (unit === null || full.length === 0) return [];
  const { edition, connections } = demand;
  const hasRoom = (share: number): boolean => share < cautionFrom * (1 - tolerance);
  const roomy = offeredUnits(edition).find(
    (candidate) =>
      candidate > unit &&
      hasRoom(trafficUtilisation(demand, candidate)) &&
      hasRoom(connections / connectionLimit(edition, candidate)),
  );
  const what = joinWords(full.map(([name, share]) => `${name} ${formatUtilisation(share)}`));
  const hint =
    roomy === undefined ? 'no larger size leaves room' : `${formatUnit(roomy)} leaves room`;
  const highest = Math.max(...full.map(([, share]) => share));
  const place = highest > cautionFrom * (1 + tolerance) ? 'Above' : 'At';
  return [`${place} the 70 % mark (${what}): ${hint}.`];
}

function interpolatedNote({ demand, sizes, atUnit }: Found): string | false {
  const units = listedByAll(demand);
  if (sizes.unit === null || units.includes(sizes.unit)) return false;
  const below = units.filter((unit) => unit < atUnit).at(-1) ?? atUnit;
  const above = units.find((unit) => unit > atUnit) ?? atUnit;
  const listedSize =
    sizes.unit_listed === null
      ? ''
      : `; the smallest of their sizes that fits is ${formatUnit(sizes.unit_listed)}`;
  return `${formatUnit(atUnit)} is not in all tables: its limits are derived from ${formatUnit(below)} and ${formatUnit(above)}${listedSize}.`;
}

function noTableNote({ demand }: Found): string | false {
  const isRestToGroup = demand.loads.some(({ kind }) => kind === 'rest_send_to_group');
  const sentences = isRestToGroup
    ? [
        'The guide has no table for REST to groups: compared with the group table and with the request rate of REST to users.',
      ]
    : [];
  if (servedLoads(demand).length > 0 && !hasAppServerCounts(demand))
    sentences.push('This edition has no web-app counts for ASP.NET SignalR.');
  return sentences.length > 0 && sentences.join(' ');
}

function sendersNote({ demand: { edition, loads } }: Found): string | false {
  const beyond = loads.flatMap(({ table, senders }) => {
    const most = tableOf(edition, table).sendersAtMost ?? Infinity;
    const words = `where the ${tableNames[table]} table had at most ${formatFigure(most)}`;
    return senders > most ? [`${formatCounted(senders, 'sender')} ${words}`] : [];
  });
  return (
    beyond.length > 0 &&
    `${joinWords(beyond)}: the rate is compared; that many senders were not tested.`
  );
}

/** The listed sizes behind the answer, and the next smaller one if it was too small. */
function sizesCompared({ demand, atUnit }: Found): number[] {
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
    const tables = new Set(demand.loads.map((load) => load.table));
    const { uses } = utilisationAt(demand, unit);
    if (uses.length > 0) tables.add(peakUse(uses).table);
    return demand.edition.errata
      .filter((erratum) => tables.has(erratum.table) && erratum.unit === unit)
      .map(
        ({ item, table, printed, used }) =>
          `The guide prints ${printed} for ${formatUnit(unit)}, ${tableNames[table]}; ${used} is used (misprint ${item}).`,
      );
  });
}

/** Clients fit, but not with server connections (docs/capacity.md, I-29). */
function fullNotes(found: Found): string[] {
  const { demand, sizes, servers, serverConnections, withServers } = found;
  const { unit } = sizes;
  if (unit === null || serverConnections === null) return [];
  const words = formatUnit(unit);
  const problem = serverConnectionsProblem(demand.connections, serverConnections, unit, words);
  if (problem === undefined) return [];
  const room = withServers === null ? 'no size' : formatUnit(withServers);
  const advised = (servers.count ?? 0) * (servers.serverConnections ?? 0);
  const opened = `A run opens ${formatCounted(serverConnections, 'server connection')}; the guide advises ${formatFigure(advised)} in all.`;
  const isSaid = advised === 0 || advised === serverConnections;
  return [`${problem} ${room} has room for both.`, ...(isSaid ? [] : [opened])];
}

function serverNotes({ demand, sizes, servers }: Found): string[] {
  const { count } = servers;
  if (count === null || sizes.unit === null) return [];
  const notes: string[] = [];
  if (count === 1) notes.push('One app server carries the load but leaves no spare.');
  if (count > appServersTested && demand.stack === 'aspnetcore')
    notes.push(`The guides' tests used at most ${appServersTested} app servers.`);
  return notes;
}

const advices = {
  aspnet: [
    '{0} web app with {1} server connections',
    '{0} web apps with {1} server connections each',
  ],
  aspnetcore: [
    '{0} app server with {1} server connections',
    '{0} app servers with {1} server connections each',
  ],
} as const;

export function adviceOf(of: AppServers, stack: Demand['stack']): Words | undefined {
  const { count, serverConnections } = of;
  if (count === null || serverConnections === null) return undefined;
  const text = advices[stack === 'aspnet' ? stack : 'aspnetcore'][count === 1 ? 0 : 1];
  return sentence(text, formatFigure(count), String(serverConnections));
}

function noFitNotes(found: Found): string[] {
  const { demand, fill, other } = found;
  const largest = largestOf(demand);
  const notes: string[] = [];
  if (!connectionsFit(demand, largest)) {
    const limit = connectionLimit(demand.edition, largest);
    notes.push(
      `${formatFigure(demand.connections)} connections are more than the ${formatFigure(limit)} of ${formatUnit(largest)}, the largest size of this guide.`,
    );
  }
  const ceiling = ceilingNote(found);
  if (ceiling !== false) notes.push(ceiling);
  else if (fill.traffic > demand.headroom) {
    const planned =
      demand.headroom < 1 ? ` (planned for ${formatUtilisation(demand.headroom)})` : '';
    notes.push(
      `Traffic would be ${formatUtilisation(fill.traffic)} of ${formatUnit(largest)}, the largest size of this guide${planned}.`,
    );
  }
  notes.push(splitNote(demand, fill));
  if (other !== undefined) {
    const size =
      other.unit === null
        ? 'but has none for this load either'
        : `and by it the load takes ${formatUnit(other.unit)}`;
    notes.push(
      `This guide ends at ${formatUnit(largest)}; the edition "${other.edition}" goes on, ${size}.`,
    );
  }
  return notes;
}

function ceilingNote({ demand, sizes, fill }: Found): string | false {
  const largest = largestOf(demand);
  if (sizes.unit !== null || !connectionsFit(demand, largest) || !isFlat(demand)) return false;
  const { edition } = demand;
  // Outbound first on a tie, as in {@link bindingLimit}.
  const [into, out] = (['in', 'out'] as const).map((of) =>
    fill.uses.filter((use) => use.direction === of),
  );
  const peak = peakUse([...out!, ...into!]);
  const { table, direction } = peak;
  const limit = limitAt(edition, table, direction, largest);
  const flatFrom =
    listedByAll(demand).find((unit) => limitAt(edition, table, direction, unit) === limit) ??
    largest;
  return (
    `More units do not help: ${tableNames[table]} ${directionNames[direction]} reaches its ` +
    `ceiling of ${formatLimit(peak, limit)} at ${formatUnit(flatFrom)} and stays there up to ${formatUnit(largest)}.`
  );
}

function splitNote({ headroom, loads }: Demand, fill: Utilisation): string {
  const instances = Math.ceil(Math.max(fill.traffic / headroom, fill.connections) - 1e-9);
  const routed = loads.some((load) => constraintsOf(load, 'guide').some(isRouted));
  const condition = routed
    ? ', provided that each group or conversation stays within one of them'
    : '';
  return `Split evenly it would take ${formatFigure(instances)} instances of the largest size${condition}.`;
}

function isFlat(demand: Demand): boolean {
  const high = listedByAll(demand).filter((unit) => unit >= routingLimitFrom);
  if (high.length < 2) return false;
  const last = trafficUtilisation(demand, high.at(-1)!);
  return last >= trafficUtilisation(demand, high[0]!) * (1 - tolerance);
}

export const largestOf = ({ edition }: Demand): number => offeredUnits(edition).at(-1)!;
