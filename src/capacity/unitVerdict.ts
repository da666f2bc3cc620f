import { serverConnectionsProblem } from '../scenario/serverConnections';
import type { Scenario } from '../scenario/scenario';
import type { Estimate } from './model';
import type { Offer } from './publishedEdition';
import { offers } from './resolved';
import { figure, listed, unitWords } from './wording';

/** Whether a scenario is too much for the size its user has or plans. */
export interface UnitVerdict {
  readonly exceeded: boolean;
  /** For people: what was compared, and the size it would take. */
  readonly sentence: string;
  /** The clients alone would fit; it is the run's server connections that do not. */
  readonly byServerConnections?: true;
}

/**
 * Compares the estimate with `unit` and `sku` of the scenario. Undefined when the scenario names no
 * size: neither a unit nor the Free tier, which is a size by itself.
 */
export function unitVerdict(
  estimate: Estimate,
  scenario: Pick<Scenario, 'unit' | 'sku' | 'connections'>,
): UnitVerdict | undefined {
  const offer = offers[estimate.product];
  if (scenario.sku === 'free')
    return fullVerdict(estimate, scenario) ?? freeVerdict(estimate, scenario.connections, offer);
  if (scenario.unit === undefined) return undefined;
  const { unit, sku } = scenario;
  const verdict = fullVerdict(estimate, scenario) ?? sizeVerdict(estimate, unit);
  const sentences = [verdict.sentence];
  // Premium has every size there is.
  const offered = offer.units[sku ?? 'premium'];
  if (!offered.includes(unit)) sentences.push(notOffered(unit, offered));
  const standardEnd = offer.units.standard.at(-1)!;
  if (sku === 'standard' && estimate.unit !== null && estimate.unit > standardEnd) {
    sentences.push(`Standard ends at ${unitWords(standardEnd)}; Premium goes on.`);
  }
  return { ...verdict, sentence: sentences.join(' ') };
}

/** Where the traffic fits and the clients do, but not with the server connections that the run opens. */
function fullVerdict(
  estimate: Estimate,
  { connections, unit, sku }: Pick<Scenario, 'unit' | 'sku' | 'connections'>,
): UnitVerdict | undefined {
  const size = sku === 'free' ? 'free' : unit;
  const { server_connections: servers, unit_with_server_connections: roomy } = estimate;
  if (estimate.server_connections_by !== 'run' || servers === null) return undefined;
  if (estimate.unit === null || estimate.unit > (unit ?? 1)) return undefined;
  const place = size === 'free' ? 'the Free tier' : unitWords(unit ?? 1);
  const problem = serverConnectionsProblem(connections, servers, size, place);
  if (problem === undefined) return undefined;
  const needed = roomy === null ? 'No size has' : `${unitWords(roomy)} has`;
  const paid = size === 'free' ? ' of a paid tier' : '';
  const sentence = `${problem} ${needed.replace(' has', `${paid} has`)} room for both.`;
  return { exceeded: true, byServerConnections: true, sentence };
}

/** Limits never fall with the size, so every size from the recommended one on carries the load. */
function sizeVerdict(estimate: Estimate, unit: number): UnitVerdict {
  const needed = estimate.unit;
  const binding = `${estimate.binding.text} at ${unitWords(estimate.at_unit)}`;
  if (needed === null) {
    return {
      exceeded: true,
      sentence: `Too much for ${unitWords(unit)} and for every size of this guide: ${binding}.`,
    };
  }
  if (needed > unit) {
    return {
      exceeded: true,
      sentence: `Too much for ${unitWords(unit)}: it takes ${unitWords(needed)}: ${binding}.`,
    };
  }
  const spare = needed < unit ? `; ${unitWords(needed)} would do` : '';
  return { exceeded: false, sentence: `${unitWords(unit)} is enough${spare}: ${binding}.` };
}

/** The Free tier has one unit with few connections; no throughput is published for it. */
function freeVerdict(estimate: Estimate, connections: number, offer: Offer): UnitVerdict {
  const most = offer.freeConnections;
  const needed = estimate.unit === null ? 'more than any one size' : unitWords(estimate.unit);
  if (connections > most) {
    return {
      exceeded: true,
      sentence: `The Free tier allows ${figure(most)} connections, the scenario opens ${figure(connections)}: it takes ${needed} of a paid tier.`,
    };
  }
  if (estimate.unit !== 1) {
    return {
      exceeded: true,
      sentence: `The Free tier has one unit, the traffic takes ${needed}: ${estimate.binding.text}.`,
    };
  }
  return {
    exceeded: false,
    sentence: `The ${figure(most)} connections of the Free tier are enough; it ends at ${figure(offer.freeMessagesPerDay)} messages a day and no throughput is published for it.`,
  };
}

function notOffered(unit: number, units: readonly number[]): string {
  const below = units.filter((candidate) => candidate < unit).at(-1);
  const above = units.find((candidate) => candidate > unit);
  const nearest = [below, above].filter((candidate) => candidate !== undefined).map(unitWords);
  return `${unitWords(unit)} cannot be bought in that tier; nearest: ${listed(nearest)}.`;
}
