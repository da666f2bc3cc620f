import { appServersAt, type AppServers, type Stack } from './appServers';
import {
  bindingOf,
  fillAt,
  neighboursOf,
  findSizes,
  type Demand,
  type ConstraintUse,
} from './search';
import {
  checkNumber,
  inputError,
  rounded,
  editionOf,
  longerEdition,
  sourceOf,
} from '../tables/tables';
import type {
  Estimate,
  EstimateLoad,
  EstimateOptions,
  LimitUse,
  OtherEdition,
  Product,
} from '../model';
import { adviceOf, notesOf, largestOf, warningsOf } from './notes';
import type { PublishedEdition } from '../tables/publishedEdition';
import type { ServiceLoad } from '../load/serviceLoad';

/** What estimate and recommendation are made for, checked and ready to compare with the tables. */
export interface Assignment {
  readonly edition: PublishedEdition;
  readonly connections: number;
  readonly headroom: number;
  readonly stack: Stack;
  /** Whether nothing goes through app servers. */
  readonly serverless: boolean;
  /** Those that the run opens; undefined where it opens none by itself. */
  readonly serverConnections: number | undefined;
}

/**
 * Checks everything but the use cases.
 * @throws ExpectedError `estimate-input`
 */
export function checkAssignment(
  input: {
    readonly product: Product;
    readonly connections: number;
    readonly useCases: readonly unknown[];
    readonly stack?: Stack;
    readonly serverless?: boolean;
    readonly serverConnections?: number;
  },
  options: EstimateOptions,
): Assignment {
  const edition = editionOf(input.product, options.edition);
  const connections = checkNumber(input.connections, 'connections', { whole: true });
  const headroom = checkNumber(options.headroom ?? 1, 'headroom');
  if (headroom > 1) throw inputError('headroom must not exceed 1');
  if (input.useCases.length === 0) throw inputError('use_cases must not be empty');
  const stack = input.stack ?? 'aspnetcore';
  // Input may come from untyped data, so the type alone is not believed.
  if (!['aspnetcore', 'aspnet'].includes(stack)) {
    throw inputError('stack must be aspnetcore or aspnet');
  }
  const serverConnections =
    input.serverConnections === undefined
      ? undefined
      : checkNumber(input.serverConnections, 'server_connections', {
          whole: true,
          zeroAllowed: true,
        });
  const serverless = input.serverless === true;
  return { edition, connections, headroom, stack, serverless, serverConnections };
}

/** Finds the size for the loads and explains it; `assumptions` end the notes. */
export function assess(
  assignment: Assignment,
  loads: readonly ServiceLoad[],
  assumptions: readonly string[],
): Estimate {
  const { edition, stack } = assignment;
  const demand: Demand = { ...assignment, loads };
  const sizes = findSizes(demand);
  const atUnit = sizes.unit ?? largestOf(demand);
  const fill = fillAt(demand, atUnit);
  const servers =
    sizes.unit === null || assignment.serverless
      ? { count: null, serverConnections: null }
      : appServersAt(edition, loads, stack, sizes.unit);
  const beside = serverConnectionsBeside(assignment, servers);
  const withServers = findSizes({
    ...demand,
    connections: demand.connections + (beside ?? 0),
  }).unit;
  const warnings = warningsOf(demand, sizes, atUnit, stack);
  const other = sizes.unit === null ? otherEdition(demand) : undefined;
  const notes = notesOf({
    ...{ demand, sizes, atUnit, fill, warnings, servers, stack, other },
    ...{ serverConnections: beside, withServers },
  });
  const advice = adviceOf(servers, stack);
  return {
    loads: loads.map(shownLoad),
    unit: sizes.unit,
    unit_listed: sizes.listed,
    unit_strict: sizes.strict,
    unit_guide_sum: sizes.guideSum,
    unit_within_rounding: sizes.withinRounding,
    at_unit: atUnit,
    traffic_utilisation: rounded(fill.traffic),
    connection_utilisation: rounded(fill.connections),
    limiting: fill.limiting,
    app_servers: servers.count,
    server_connections_per_app_server: servers.serverConnections,
    warnings,
    server_connections: beside,
    server_connections_by: assignment.serverConnections === undefined ? 'guide' : 'run',
    unit_with_server_connections: withServers,
    ...(other === undefined ? {} : { other_edition: other }),
    product: edition.product,
    edition: edition.name,
    headroom: assignment.headroom,
    limits: fill.uses.map((use) => shownLimit(edition, use)),
    binding: bindingOf(demand, fill, atUnit),
    neighbours: neighboursOf(demand, atUnit, sizes.unit !== null),
    formula: loads.map((load) => load.formula),
    notes: [...notes, ...assumptions],
    ...(advice === undefined ? {} : { advice }),
  };
}

/** Those of the run, else those that the guide advises at the size. */
function serverConnectionsBeside(
  { serverConnections }: Assignment,
  { count, serverConnections: each }: AppServers,
): number | null {
  if (serverConnections !== undefined) return serverConnections;
  return count === null || each === null ? null : count * each;
}

/** What the edition with larger sizes says. */
function otherEdition(demand: Demand): OtherEdition | undefined {
  const edition = longerEdition(demand.edition);
  if (edition === undefined) return undefined;
  return { edition: edition.name, unit: findSizes({ ...demand, edition }).unit };
}

function shownLoad(load: ServiceLoad): EstimateLoad {
  return {
    kind: load.kind,
    table: load.table,
    in_messages_per_s: rounded(load.inMessages),
    out_messages_per_s: rounded(load.outMessages),
    in_bytes_per_s: rounded(load.inBandwidth),
    out_bytes_per_s: rounded(load.outBandwidth),
  };
}

function shownLimit(edition: PublishedEdition, use: ConstraintUse): LimitUse {
  return {
    name: use.name,
    table: use.table,
    direction: use.direction,
    measure: use.measure,
    load: rounded(use.load),
    limit: rounded(use.limit),
    utilisation: rounded(use.utilisation),
    source: sourceOf(edition, use.table, use.direction),
  };
}
