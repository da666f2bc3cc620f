import { joinWords } from '../../scenario/text/words';
import { serverConnectionsProblem } from '../../scenario/check/checkService';
import type { ParsedScenario } from '../../scenario/parseScenario';
import type { Problem } from '../../scenario/problem';
import type { Scenario } from '../../scenario/scenario';
import type { Estimate, UnitVerdict, Offer } from '../model';
import { formatFigure, formatUnit } from '../capacityWords';
import { messageSizeProblems } from '../load/wireSizes';
import { offers } from '../tables/publishedLimits';

type Sized = Pick<Scenario, 'unit' | 'sku' | 'connections'>;

/** Undefined when the scenario names neither a unit nor the Free tier. */
export function unitVerdict(estimate: Estimate, scenario: Sized): UnitVerdict | undefined {
  const offer = offers[estimate.product];
  const { unit, sku } = scenario;
  if (unit === undefined && sku !== 'free') return undefined;
  const sold = offer.units[sku ?? 'premium'];
  const offered = unit === undefined || sold.includes(unit);
  const { sentences, ...compared } =
    fullVerdict(estimate, scenario) ??
    (sku === 'free'
      ? freeVerdict(estimate, scenario.connections, offer)
      : sizeVerdict(estimate, unit!));
  const unsold = offered ? [] : [notOffered(unit, sold, sku)];
  const needed = estimate.unit ?? estimate.other_edition?.unit ?? 0;
  const standardEnd = offer.units.standard.at(-1)!;
  const ends =
    sku === 'standard' && needed > standardEnd
      ? [`Standard ends at ${formatUnit(standardEnd)}; Premium goes on.`]
      : [];
  return { ...compared, offered, sentence: [...unsold, ...sentences, ...ends].join(' ') };
}

export function withUnitVerdict<T extends Estimate>(estimate: T, scenario: Sized): T {
  const planned = unitVerdict(estimate, scenario);
  return planned === undefined ? estimate : { ...estimate, planned };
}

interface Compared extends Omit<UnitVerdict, 'offered' | 'sentence'> {
  readonly sentences: readonly string[];
}

const tooMuch = (...sentences: readonly string[]): Compared => ({ exceeded: true, sentences });
const enough = (...sentences: readonly string[]): Compared => ({ exceeded: false, sentences });

function fullVerdict(estimate: Estimate, { connections, unit, sku }: Sized): Compared | undefined {
  const isFree = sku === 'free';
  const { server_connections: servers, unit_with_server_connections: roomy } = estimate;
  if (estimate.server_connections_by !== 'run' || servers === null) return undefined;
  if (estimate.unit === null || estimate.unit > (unit ?? 1)) return undefined;
  const place = isFree ? 'the Free tier' : formatUnit(unit ?? 1);
  const size = isFree ? 'free' : unit;
  const problem = serverConnectionsProblem(connections, servers, size, place);
  if (problem === undefined) return undefined;
  const needed = roomy === null ? 'No size' : formatUnit(roomy);
  const paid = isFree ? ' of a paid tier' : '';
  return {
    ...tooMuch(`${problem} ${needed}${paid} has room for both.`),
    byServerConnections: true,
  };
}

/** Limits never fall with the size. */
function sizeVerdict(estimate: Estimate, unit: number): Compared {
  const needed = estimate.unit;
  if (needed === null) return beyondVerdict(estimate, unit);
  const binding = `${estimate.binding.text} at ${formatUnit(estimate.at_unit)}`;
  return needed > unit
    ? tooMuch(`Too much for ${formatUnit(unit)}: it takes ${formatUnit(needed)}: ${binding}.`)
    : enough(`${enoughWords(unit, needed)}: ${binding}.`);
}

const enoughWords = (unit: number, needed: number): string =>
  `${formatUnit(unit)} is enough${needed < unit ? `; ${formatUnit(needed)} would do` : ''}`;

/** A size beyond the end of this edition is compared by the one that goes on. */
function beyondVerdict(estimate: Estimate, unit: number): Compared {
  const { at_unit: end, other_edition: other, binding } = estimate;
  if (other?.unit != null && unit > end) {
    const ends = `this guide ends at ${formatUnit(end)}.`;
    const by = `by the edition "${other.edition}"`;
    return other.unit > unit
      ? tooMuch(
          `Too much for ${formatUnit(unit)}: ${by} it takes ${formatUnit(other.unit)}; ${ends}`,
        )
      : enough(`${enoughWords(unit, other.unit)}, ${by}; ${ends}`);
  }
  const further =
    other === undefined
      ? []
      : other.unit === null
        ? [`The edition "${other.edition}" has none for it either.`]
        : [`By the edition "${other.edition}" it takes ${formatUnit(other.unit)}.`];
  const sentence = `Too much for ${formatUnit(unit)} and for every size of this guide: ${binding.text} at ${formatUnit(end)}.`;
  return tooMuch(sentence, ...further);
}

function freeVerdict(estimate: Estimate, connections: number, offer: Offer): Compared {
  const most = formatFigure(offer.freeConnections);
  const needed = estimate.unit === null ? 'more than any one size' : formatUnit(estimate.unit);
  if (connections > offer.freeConnections)
    return tooMuch(
      `The Free tier allows ${most} connections, the scenario opens ${formatFigure(connections)}: it takes ${needed} of a paid tier.`,
    );
  if (estimate.unit !== 1) {
    const { text } = estimate.binding;
    return tooMuch(`The Free tier has one unit, the traffic takes ${needed}: ${text}.`);
  }
  return enough(
    `The ${most} connections of the Free tier are enough; it ends at ${formatFigure(offer.freeMessagesPerDay)} messages a day and no throughput is published for it.`,
  );
}

function notOffered(unit: number, sold: readonly number[], sku: Scenario['sku']): string {
  const below = sold.filter((candidate) => candidate < unit).at(-1);
  const above = sold.find((candidate) => candidate > unit);
  const nearest = [below, above].filter((candidate) => candidate !== undefined).map(formatUnit);
  const tier = sku === undefined ? '' : ` in the tier ${sku}`;
  return `${formatUnit(unit)} cannot be bought${tier}; nearest: ${joinWords(nearest)}.`;
}

export const exceedsUnit = 'exceeds-unit';
export const unitNotOffered = 'unit-not-offered';

type Parsed = Pick<ParsedScenario, 'scenario' | 'sizePlaces'>;

export const sizeProblems = (parsed: Parsed, planned: UnitVerdict | undefined): Problem[] => [
  ...messageSizeProblems(parsed),
  ...[unitProblem(parsed, planned) ?? []].flat(),
];

function unitProblem(parsed: Parsed, planned: UnitVerdict | undefined): Problem | undefined {
  if (planned === undefined) return undefined;
  // The parser reports too many server connections.
  const exceeded = planned.exceeded && planned.byServerConnections !== true;
  if (planned.offered && !exceeded) return undefined;
  const { scenario, sizePlaces: { unit, sku } = {} } = parsed;
  const place = scenario?.sku === 'free' && planned.offered ? sku : (unit ?? sku);
  return {
    code: exceeded ? exceedsUnit : unitNotOffered,
    severity: 'warning',
    message: planned.sentence,
    offset: place?.offset ?? 0,
    length: place?.length ?? 0,
  };
}
