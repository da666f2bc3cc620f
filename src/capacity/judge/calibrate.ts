/** What a size was measured to carry, and which size a load needs by that, beside the published tables. */
import { formatCount } from '../../base/units';
import type { Estimate, EstimateLoad, Product } from '../model';
import { candidatesOf, connectionLimit, editionOf } from '../tables/publishedLimits';
import { figure, tableWords, unitWords } from '../capacityWords';

/** From a capacity search against a service of a known size. */
export interface Calibration {
  readonly at: string;
  readonly scenario: string;
  readonly result: string;
  readonly product: Product;
  readonly unit: number;
  /** The traffic of the highest value that held. */
  readonly loads: readonly EstimateLoad[];
}

export interface CalibratedUnit {
  /** Smallest size that is offered and at least `exact`; null when none is. */
  readonly unit: number | null;
  /** Units in proportion to the size that was measured. */
  readonly exact: number;
  readonly measuredUnit: number;
  readonly at: string;
  readonly ageDays: number;
  readonly scenario: string;
  readonly result: string;
  readonly sentence: string;
}

const dayMs = 86_400_000;

/** By the newest calibration of traffic with the same tables and messages of about the same size. */
export function calibratedUnit(
  estimate: Pick<Estimate, 'product' | 'loads'> & { readonly connections: number },
  calibrations: readonly Calibration[],
  nowMs: number,
): CalibratedUnit | undefined {
  const known = calibrations
    .filter(({ product }) => product === estimate.product)
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .find(({ loads }) => alikePairs(loads, estimate.loads) !== undefined);
  if (known === undefined) return undefined;
  const pairs = alikePairs(known.loads, estimate.loads)!;
  const ratio = Math.max(...pairs.map(([load, carried]) => share(load, carried)));
  const exact = known.unit * ratio;
  if (!Number.isFinite(exact) || exact <= 0) return undefined;
  const edition = editionOf(estimate.product, undefined);
  // A hair more than a size is that size. How many connections one takes is a rule, which nobody measures.
  const unit =
    candidatesOf(edition).find(
      (size) => size >= exact - 1e-6 && connectionLimit(edition, size) >= estimate.connections,
    ) ?? null;
  const ageDays = Math.max(0, Math.floor((nowMs - Date.parse(known.at)) / dayMs));
  const { at, scenario, result } = known;
  return {
    ...{ unit, exact, measuredUnit: known.unit, at, ageDays, scenario, result },
    sentence: sentenceOf(known, unit, ageDays),
  };
}

function sentenceOf(known: Calibration, needed: number | null, ageDays: number): string {
  const { scenario, unit, loads } = known;
  const carried = loads
    .map(({ table, out_messages_per_s: out }) => `${tableName(table)} ${figure(out)} msg/s out`)
    .join('; ');
  const age =
    ageDays === 0 ? 'today' : ageDays === 1 ? 'a day ago' : `${formatCount(ageDays)} days ago`;
  const by = needed === null ? 'no size that is offered' : unitWords(needed);
  return `Measured, not published: ${unitWords(unit)} held ${carried} (search of ${scenario}, ${age}). In proportion to that this load needs ${by}.`;
}

const tableName = (table: string): string =>
  (tableWords as Readonly<Record<string, string>>)[table] ?? table;

function share(load: EstimateLoad, carried: EstimateLoad): number {
  const of = (name: 'in_messages_per_s' | 'out_messages_per_s'): number =>
    load[name] === 0 ? 0 : load[name] / carried[name];
  return Math.max(of('in_messages_per_s'), of('out_messages_per_s'));
}

/** Messages whose sizes differ by more are another traffic: what they cost is not in proportion. */
const mostSizeRatio = 1.2;

/** In messages of about the same size on the same table, in and out apart: each way has limits of its own. */
function isAlike(known: EstimateLoad, load: EstimateLoad): boolean {
  if (known.kind !== load.kind || known.table !== load.table) return false;
  return (['in', 'out'] as const).every((way) => {
    const [one, other] = [known, load].map((each) => meanBytes(each, way));
    if (one === undefined || other === undefined) return one === other;
    return one <= other * mostSizeRatio && other <= one * mostSizeRatio;
  });
}

/** Undefined where nothing goes that way. */
function meanBytes(load: EstimateLoad, way: 'in' | 'out'): number | undefined {
  const messages = load[`${way}_messages_per_s`];
  return messages === 0 ? undefined : load[`${way}_bytes_per_s`] / messages;
}

/** Each load and the one of `known` that tells of it, one to one; undefined where one of either has none. */
export function alikePairs(
  known: readonly EstimateLoad[],
  loads: readonly EstimateLoad[],
): readonly (readonly [load: EstimateLoad, known: EstimateLoad])[] | undefined {
  if (known.length !== loads.length) return undefined;
  const [ours, theirs] = [byRate(loads), byRate(known)];
  const loadOf = new Map<number, EstimateLoad>();
  // Where all that would do are taken, one whose load finds another is free.
  const findPartner = (load: EstimateLoad, tried: Set<number>): boolean => {
    const alike = [...theirs.keys()].filter((at) => isAlike(theirs[at]!, load));
    const canMove = (at: number): boolean =>
      !tried.has(at) && findPartner(loadOf.get(at)!, tried.add(at));
    const free = alike.find((at) => !loadOf.has(at)) ?? alike.find(canMove);
    if (free !== undefined) loadOf.set(free, load);
    return free !== undefined;
  };
  if (!ours.every((load) => findPartner(load, new Set()))) return undefined;
  return [...loadOf].map(([at, load]) => [load, theirs[at]!]);
}

/** Of several that are alike, the large ones belong together. */
const byRate = (loads: readonly EstimateLoad[]): EstimateLoad[] => {
  const rate = (load: EstimateLoad): number => load.in_messages_per_s + load.out_messages_per_s;
  return [...loads].sort((a, b) => rate(b) - rate(a));
};
