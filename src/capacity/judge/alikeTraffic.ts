import type { EstimateLoad } from '../model';

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
