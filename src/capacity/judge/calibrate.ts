/** Sizes by what a search has measured, beside the published tables. */
import { formatCount } from '../../base/units';
import type { Estimate, EstimateLoad, Product } from '../model';
import { offeredUnits, connectionLimit, editionOf } from '../tables/publishedLimits';
import { formatFigure, tableNames, formatUnit } from '../capacityWords';

export interface Calibration {
  readonly at: string;
  readonly scenario: string;
  readonly result: string;
  readonly product: Product;
  readonly unit: number;
  readonly loads: readonly EstimateLoad[];
}

export interface CalibratedUnit {
  /** Smallest size on offer that is at least `exact`; null when none is. */
  readonly unit: number | null;
  readonly exact: number;
  readonly measuredUnit: number;
  readonly at: string;
  readonly ageDays: number;
  readonly scenario: string;
  readonly result: string;
  readonly sentence: string;
}

const dayMs = 86_400_000;

/** By the newest calibration of alike traffic. */
export function calibratedUnit(
  estimate: Pick<Estimate, 'product' | 'loads'> & { readonly connections: number },
  calibrations: readonly Calibration[],
  nowMs: number,
): CalibratedUnit | undefined {
  const known = calibrations
    .filter(({ product }) => product === estimate.product)
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .find(({ loads }) => pairAlikeLoads(loads, estimate.loads) !== undefined);
  if (known === undefined) return undefined;
  const pairs = pairAlikeLoads(known.loads, estimate.loads)!;
  const ratio = Math.max(...pairs.map(([load, carried]) => share(load, carried)));
  const exact = known.unit * ratio;
  if (!Number.isFinite(exact) || exact <= 0) return undefined;
  const edition = editionOf(estimate.product, undefined);
  const unit =
    offeredUnits(edition).find(
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
    .map(
      ({ table, out_messages_per_s: out }) => `${tableName(table)} ${formatFigure(out)} msg/s out`,
    )
    .join('; ');
  const age =
    ageDays === 0 ? 'today' : ageDays === 1 ? 'a day ago' : `${formatCount(ageDays)} days ago`;
  const by = needed === null ? 'no size that is offered' : formatUnit(needed);
  return `Measured, not published: ${formatUnit(unit)} held ${carried} (search of ${scenario}, ${age}). In proportion to that this load needs ${by}.`;
}

const tableName = (table: string): string =>
  (tableNames as Readonly<Record<string, string>>)[table] ?? table;

function share(load: EstimateLoad, carried: EstimateLoad): number {
  const of = (name: 'in_messages_per_s' | 'out_messages_per_s'): number =>
    load[name] === 0 ? 0 : load[name] / carried[name];
  return Math.max(of('in_messages_per_s'), of('out_messages_per_s'));
}

/** Beyond this ratio costs are not in proportion to sizes. */
const mostSizeRatio = 1.2;

function isAlike(known: EstimateLoad, load: EstimateLoad): boolean {
  if (known.kind !== load.kind || known.table !== load.table) return false;
  return (['in', 'out'] as const).every((way) => {
    const [one, other] = [known, load].map((each) => meanBytes(each, way));
    if (one === undefined || other === undefined) return one === other;
    return one <= other * mostSizeRatio && other <= one * mostSizeRatio;
  });
}

function meanBytes(load: EstimateLoad, way: 'in' | 'out'): number | undefined {
  const messages = load[`${way}_messages_per_s`];
  return messages === 0 ? undefined : load[`${way}_bytes_per_s`] / messages;
}

/** Pairs each load with one of `known`; undefined where one of either has no partner. */
export function pairAlikeLoads(
  known: readonly EstimateLoad[],
  loads: readonly EstimateLoad[],
): readonly (readonly [load: EstimateLoad, known: EstimateLoad])[] | undefined {
  if (known.length !== loads.length) return undefined;
  const [ours, theirs] = [byRate(loads), byRate(known)];
  const loadOf = new Map<number, EstimateLoad>();
  // A taken partner is free when its load can move to another.
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

const byRate = (loads: readonly EstimateLoad[]): EstimateLoad[] => {
  const rate = (load: EstimateLoad): number => load.in_messages_per_s + load.out_messages_per_s;
  return [...loads].sort((a, b) => rate(b) - rate(a));
};
