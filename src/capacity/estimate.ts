import { ExpectedError } from '../base/expectedError';
import type { Scenario } from '../scenario/scenario';
import { billingOf } from './judge/billing';
import { withUnitVerdict } from './judge/unitVerdict';
import { loadOf } from './load/loadOf';
import { trafficLoad, type ServiceLoad } from './load/serviceLoad';
import type {
  Estimate,
  EstimateInput,
  EstimateOptions,
  OrProblem,
  EstimateLoad,
  LimitUse,
  OtherEdition,
  PublishedEdition,
} from './model';
import { say } from '../base/sentence';
import {
  appServersAt,
  noAppServers,
  bindingLimit,
  utilisationAt,
  neighbourSizes,
  findSizes,
  type AppServers,
  type Demand,
  type ConstraintUse,
} from './judge/search';
import {
  checkNumber,
  inputError,
  rounded,
  editionOf,
  largerEdition,
  sourceOf,
} from './tables/publishedLimits';
import { adviceOf, notesOf, largestOf, warningsOf } from './judge/notes';

/** By the published tables, see docs/capacity.md. @throws ExpectedError `estimate-input` */
export function estimate(input: EstimateInput, options: EstimateOptions = {}): Estimate {
  const assignment = checkInput(input, options);
  const loads = input.useCases.map((traffic) =>
    trafficLoad(input.product, assignment.connections, traffic),
  );
  return {
    ...assessDemand({ ...assignment, loads }, input.assumptions ?? []),
    billing: billingOf(input.product, loads),
  };
}

export interface EstimateModel {
  readonly loadOf: typeof loadOf;
  readonly estimate: typeof estimate;
}

/** With the verdict on the size that the scenario names. */
export function scenarioEstimate(
  scenario: Scenario,
  options: EstimateOptions = {},
  model: EstimateModel = { loadOf, estimate },
): OrProblem<{ readonly estimate: Estimate }> {
  const load = model.loadOf(scenario);
  if ('problem' in load) return load;
  try {
    return { estimate: withUnitVerdict(model.estimate(load.input, options), scenario) };
  } catch (error) {
    if (error instanceof ExpectedError) return { problem: error.message };
    throw error;
  }
}

/** Checks all but the use cases. @throws ExpectedError `estimate-input` */
export function checkInput(
  input: Omit<EstimateInput, 'useCases' | 'assumptions'> & {
    readonly useCases: readonly unknown[];
  },
  options: EstimateOptions,
): Omit<Demand, 'loads'> {
  const edition = editionOf(input.product, options.edition);
  const connections = checkNumber(input.connections, 'connections', { whole: true });
  const headroom = checkNumber(options.headroom ?? 1, 'headroom');
  if (headroom > 1) throw inputError('headroom must not exceed 1');
  if (input.useCases.length === 0) throw inputError('use_cases must not be empty');
  const stack = input.stack ?? 'aspnetcore';
  if (!['aspnetcore', 'aspnet'].includes(stack))
    throw inputError('stack must be aspnetcore or aspnet');
  const { serverConnections, serverless = false, freeTier = false } = input;
  if (serverConnections !== undefined)
    checkNumber(serverConnections, 'server_connections', { whole: true, zeroAllowed: true });
  return { edition, connections, headroom, stack, serverless, freeTier, serverConnections };
}

/** The notes end with the assumptions. */
export function assessDemand(demand: Demand, assumptions: readonly string[]): Estimate {
  const { edition, loads } = demand;
  const sizes = findSizes(demand);
  const { unit } = sizes;
  const atUnit = unit ?? largestOf(demand);
  const fill = utilisationAt(demand, atUnit);
  const isAdvised = unit !== null && !demand.serverless && !demand.freeTier;
  const servers = isAdvised ? appServersAt(demand, unit) : noAppServers;
  const beside = serverConnectionsBeside(demand, servers);
  const connections = demand.connections + (beside ?? 0);
  const withServers = findSizes({ ...demand, connections }).unit;
  const found = {
    ...{ demand, sizes, atUnit, fill, servers, withServers },
    serverConnections: beside,
    other: unit === null ? otherEdition(demand) : undefined,
  };
  const advice = adviceOf(servers, demand.stack);
  return {
    loads: loads.map(shownLoad),
    ...sizes,
    at_unit: atUnit,
    traffic_utilisation: rounded(fill.traffic),
    connection_utilisation: rounded(fill.connections),
    limiting: fill.limiting,
    app_servers: servers.count,
    server_connections_per_app_server: servers.serverConnections,
    warnings: warningsOf(found),
    server_connections: beside,
    server_connections_by: demand.serverConnections === undefined ? 'guide' : 'run',
    unit_with_server_connections: withServers,
    ...(found.other !== undefined && { other_edition: found.other }),
    product: edition.product,
    edition: edition.name,
    headroom: demand.headroom,
    limits: fill.uses.map((use) => shownLimit(edition, use)),
    binding: bindingLimit(demand, fill, atUnit),
    neighbours: neighbourSizes(demand, atUnit, unit !== null),
    formula: loads.map(({ formula }) => formula),
    notes: [...notesOf(found), ...assumptions],
    ...(advice !== undefined && { advice: say(advice) }),
  };
}

function serverConnectionsBeside(
  { serverConnections }: Demand,
  { count, serverConnections: each }: AppServers,
): number | null {
  if (serverConnections !== undefined) return serverConnections;
  return count === null || each === null ? null : count * each;
}

function otherEdition(demand: Demand): OtherEdition | undefined {
  const edition = largerEdition(demand.edition);
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
  const { name, table, direction, measure, ...figures } = use;
  return {
    ...{ name, table, direction, measure },
    load: rounded(figures.load),
    limit: rounded(figures.limit),
    utilisation: rounded(figures.utilisation),
    source: sourceOf(edition, table, direction),
  };
}
