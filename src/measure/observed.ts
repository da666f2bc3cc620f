import { groupBy } from '../base/collect';

export type ObservedUnit = 'share' | 'bytes' | 'count' | 'perSecond';

/** Series that are known by name; others are counts, or rates where their name ends in {@link rateMark}. */
const observedKinds = {
  /** Of all processors where their number is known. */
  cpu: 'share',
  /** Processors in use, where it is not known how many there are. */
  cpuCores: 'count',
  gcPause: 'share',
  gcCollections: 'perSecond',
  memory: 'bytes',
  heap: 'bytes',
  queue: 'count',
  threads: 'count',
  connections: 'count',
  serverLoad: 'share',
  trafficIn: 'bytes',
  trafficOut: 'bytes',
} as const satisfies Readonly<Record<string, ObservedUnit>>;

export type ObservedKind = keyof typeof observedKinds;

/** Behind the name of a counter that is shown by how much it rises in a second. */
export const rateMark = '/s';
const placeMark = ' @ ';

export type ObservedValues = Readonly<Record<string, number>>;

export const maximumSeries = 60;

const longestName = 120;

export const seriesName = (name: string, place?: string): string =>
  `${name}${place === undefined ? '' : placeMark + place}`.slice(0, longestName);

export interface NamedSeries {
  readonly name: string;
  readonly kind?: ObservedKind;
  readonly unit: ObservedUnit;
  readonly place?: string;
}

export function parseSeriesName(name: string): NamedSeries {
  const at = name.lastIndexOf(placeMark);
  const [bare, place] = at < 0 ? [name] : [name.slice(0, at), name.slice(at + placeMark.length)];
  const kind = isKind(bare) ? bare : undefined;
  const unit = kind ? observedKinds[kind] : bare.endsWith(rateMark) ? 'perSecond' : 'count';
  return { name, unit, ...(kind && { kind }), ...(place !== undefined && { place }) };
}

const isKind = (name: string): name is ObservedKind => Object.hasOwn(observedKinds, name);

export interface ObservedStep {
  readonly index: number;
  readonly mean: number;
  readonly max: number;
  readonly last: number;
}

export interface ObservedSeries {
  readonly name: string;
  readonly unit: ObservedUnit;
  /** Over the measured time of each step in which there were values. */
  readonly steps: readonly ObservedStep[];
  /** Seconds since the run began, and the value then; of a long run means of neighbours. */
  readonly points: readonly (readonly [atS: number, value: number])[];
  /** Each point is of so many seconds from then on; absent: of that moment, and samples have it. */
  readonly everyS?: number;
}

export interface ObservedFinding {
  readonly code: 'queueGrew' | 'cpuFull' | 'gcHeavy' | 'loadFull';
  readonly name: string;
  readonly step: number;
  /** Measured seconds of the step from which on it was so. */
  readonly fromS: number;
  /** Mean from then on, in the unit of the series. */
  readonly value: number;
}

export interface Observed {
  readonly series: readonly ObservedSeries[];
  readonly findings: readonly ObservedFinding[];
  /** Why an endpoint was not read, or not to the end; sentences. */
  readonly problems: readonly string[];
}

/** Means, maxima or sums of whole minutes that were not known before the run was over. */
export interface LateSeries {
  readonly name: string;
  readonly points: readonly (readonly [atMs: number, value: number])[];
}

const mostPoints = 600;

/** What is asked of a snapshot. */
interface Sampled {
  readonly atMs: number;
  readonly observed?: ObservedValues;
  readonly phase: string;
  readonly step?: { readonly index: number; readonly elapsedS: number };
}

export function summarizeObserved(
  snapshots: readonly Sampled[],
  problems: readonly string[] = [],
  late: readonly LateSeries[] = [],
  startedAtMs = 0,
): Observed | undefined {
  const byName = new Map<string, Sampled[]>();
  for (const snapshot of snapshots)
    for (const name of Object.keys(snapshot.observed ?? {})) {
      const seen = byName.get(name);
      if (seen) seen.push(snapshot);
      else if (byName.size < maximumSeries) byName.set(name, [snapshot]);
    }
  if (byName.size === 0 && late.length === 0 && problems.length === 0) return undefined;
  const seenAlong = [...byName].map(([name, seen]) => ({
    ...{ name, along: pointsOf(name, seen), during: duringSteps(name, stepsIn(seen)) },
  }));
  const ends = stepsIn(snapshots);
  const seenLate = late.map(({ name, points }) => {
    const along = points.map(([atMs, value]) => [(atMs - startedAtMs) / 1000, value] as const);
    return { name, along, during: wholeMinutes(along, ends), everyS: minuteS };
  });
  const all = [...seenAlong, ...seenLate].slice(0, maximumSeries);
  return {
    series: all.map(seriesOf),
    findings: all.flatMap(({ name, during }) => findingsOf(parseSeriesName(name), during)),
    problems,
  };
}

interface StepPoint {
  readonly atS: number;
  readonly value: number;
}

interface Seen {
  readonly name: string;
  readonly along: ObservedSeries['points'];
  readonly during: ReadonlyMap<number, readonly StepPoint[]>;
  readonly everyS?: number;
}

function seriesOf({ name, along, during, everyS }: Seen): ObservedSeries {
  const steps = [...during]
    .filter(([, points]) => points.length > 0)
    .map(([index, points]) => {
      const values = points.map(({ value }) => value);
      return {
        index,
        mean: rounded(meanOf(values)),
        max: values.reduce((most, each) => Math.max(most, each), -Infinity),
        last: values.at(-1)!,
      };
    });
  const { unit } = parseSeriesName(name);
  return { ...{ name, unit, steps, points: along }, ...(everyS !== undefined && { everyS }) };
}

function pointsOf(name: string, seen: readonly Sampled[]): ObservedSeries['points'] {
  const width = Math.ceil(seen.length / mostPoints);
  const starts = Array.from({ length: Math.ceil(seen.length / width) }, (_, at) => at * width);
  return starts.map((start) => {
    const some = seen.slice(start, start + width);
    const mean = meanOf(some.map(({ observed }) => observed?.[name] ?? 0));
    return [some[0]!.atMs / 1000, rounded(mean)] as const;
  });
}

const duringSteps = (
  name: string,
  steps: ReadonlyMap<number, readonly Sampled[]>,
): Map<number, StepPoint[]> =>
  new Map(
    [...steps].map(([index, during]) => [
      index,
      during.map(({ step, observed }) => ({
        ...{ atS: step?.elapsedS ?? 0, value: observed?.[name] ?? 0 },
      })),
    ]),
  );

const minuteS = 60;

/** Of each step the minutes that lie in its measured time as a whole: others are of something else as well. */
function wholeMinutes(
  points: ObservedSeries['points'],
  steps: ReadonlyMap<number, readonly Sampled[]>,
): Map<number, StepPoint[]> {
  return new Map(
    [...steps].map(([index, during]) => {
      const [first, last] = [during[0]!, during.at(-1)!];
      const fromS = first.atMs / 1000 - (first.step?.elapsedS ?? 0);
      const toS = last.atMs / 1000;
      const inside = points.filter(([atS]) => atS >= fromS && atS + minuteS <= toS);
      return [index, inside.map(([atS, value]) => ({ atS: atS - fromS, value }))];
    }),
  );
}

function stepsIn(seen: readonly Sampled[]): Map<number, Sampled[]> {
  const measured = seen.filter(
    ({ step, phase }) => phase === 'measuring' && step && step.elapsedS > 0,
  );
  return groupBy(measured, ({ step }) => step!.index);
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

const rounded = (value: number): number => Number(value.toPrecision(6));

/** A value from which on a series is at its bound, and for how long it has to be there to be said. */
const bounds: Readonly<Partial<Record<ObservedKind, [ObservedFinding['code'], number]>>> = {
  cpu: ['cpuFull', 0.9],
  gcPause: ['gcHeavy', 0.2],
  serverLoad: ['loadFull', 0.7],
};
/** A queue that grows: so many items at its end, and four times as many as in its first half. */
const leastQueue = 20;
const growth = 4;
const leastSeconds = 3;

/** Whether a series was at its bound at the end of a step, and since when: what comes and goes is no bound. */
function findingsOf(
  { name, kind }: NamedSeries,
  during: ReadonlyMap<number, readonly StepPoint[]>,
): ObservedFinding[] {
  if (kind === undefined) return [];
  return [...during].flatMap(([step, points]): ObservedFinding[] => {
    const bound = bounds[kind];
    const [code, limit] =
      kind === 'queue' ? (['queueGrew', queueLimit(points)] as const) : (bound ?? []);
    if (code === undefined || limit === undefined) return [];
    const before = points.map(({ value }) => value < limit).lastIndexOf(true);
    const since = points.slice(before + 1);
    const [first] = since;
    if (first === undefined || points.at(-1)!.atS - first.atS < leastSeconds) return [];
    const value = rounded(meanOf(since.map((point) => point.value)));
    return [{ code, name, step, fromS: first.atS, value }];
  });
}

/** Undefined where the queue did not grow: a queue that is long from the first second on only stays long. */
function queueLimit(points: readonly { readonly value: number }[]): number | undefined {
  const values = points.map(({ value }) => value);
  const half = Math.floor(values.length / 2);
  if (half < 1) return undefined;
  const [early, late] = [values.slice(0, half), values.slice(half)].map(meanOf) as [number, number];
  const last = values.at(-1)!;
  const first = values[0]!;
  const grew = late >= Math.max(leastQueue, 2 * early) && last >= growth * Math.max(1, first);
  return grew ? Math.max(leastQueue / 2, last / growth) : undefined;
}
