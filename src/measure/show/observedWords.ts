import { say, sentence, type Words } from '../../base/sentence';
import { formatBytes, formatCount, formatShare } from '../../base/units';
import {
  maximumSeries,
  parseSeriesName,
  type NamedSeries,
  type Observed,
  type ObservedFinding,
  type ObservedKind,
  type ObservedSeries,
  type ObservedUnit,
} from '../observed';
import type { Snapshot } from '../snapshot';
import type { PanelStrings } from './panelStrings';
import type { TextTable } from './panelTables';
import type { SeriesSpec, TimeChartSpec } from './timeSeries';

type KindText = `observed.${ObservedKind}`;

const kindText = (kind: ObservedKind): KindText => `observed.${kind}`;

function observedLabel(name: string, texts: PanelStrings): string {
  const { kind, place } = parseSeriesName(name);
  if (kind === undefined) return name;
  return place === undefined ? texts[kindText(kind)] : `${texts[kindText(kind)]} @ ${place}`;
}

function observedValue(unit: ObservedUnit, value: number): string {
  if (unit === 'share') return formatShare(value);
  if (unit === 'bytes') return formatBytes(value);
  const decimals = Math.abs(value) < 100 && !Number.isInteger(value) ? 1 : 0;
  return `${formatCount(value, decimals)}${unit === 'perSecond' ? ' /s' : ''}`;
}

const longestLabel = 120;

export function observedTable(
  series: readonly ObservedSeries[],
  texts: PanelStrings,
  most: number,
): TextTable {
  const rows = series.slice(0, maximumSeries).flatMap(({ name, unit, steps }) =>
    steps.map(({ index, mean, max, last }) => ({
      index,
      cells: [
        ...[formatCount(index), observedLabel(name, texts).slice(0, longestLabel)],
        ...[mean, max, last].map((value) => observedValue(unit, value)),
      ],
    })),
  );
  const sorted = [...rows].sort((a, b) => a.index - b.index).slice(-most);
  return {
    heads: [
      ...[texts.observedStep, texts.observedSeries],
      ...[texts.observedMean, texts.observedMax, texts.observedLast],
    ],
    rows: sorted.map(({ cells }) => cells),
    textColumns: [1],
  };
}

const findingTexts = {
  queueGrew: "the server's thread-pool queue grew from second {0} on",
  cpuFull: 'the server used {1} of its processors from second {0} on',
  gcHeavy: 'the server spent {1} of its time in garbage collection from second {0} on',
  loadFull: 'the load of the service was {1} from second {0} on',
} as const satisfies Readonly<Record<ObservedFinding['code'], string>>;

export function findingWords({ code, fromS, value, name }: ObservedFinding): Words {
  const words = sentence(
    findingTexts[code],
    formatCount(Math.max(0, Math.round(fromS))),
    formatShare(value),
  );
  const { place } = parseSeriesName(name);
  return place === undefined ? words : sentence('{0} ({1})', words, place);
}

export const findingSentence = (finding: ObservedFinding): string =>
  `Step ${formatCount(finding.step)}: ${say(findingWords(finding))}.`;

export function findingsOfStep(observed: Observed | undefined, step: number): ObservedFinding[] {
  return (observed?.findings ?? [])
    .filter((finding) => finding.step === step)
    .sort((a, b) => a.fromS - b.fromS)
    .slice(0, 3);
}

/** Lines differ by dash as well as by colour; ids are names of colours. */
const looks: readonly Pick<SeriesSpec, 'id' | 'dash' | 'widthPx'>[] = [
  { id: 'p50', dash: [], widthPx: 2 },
  { id: 'p99', dash: [6, 3], widthPx: 1.5 },
  { id: 'p90', dash: [8, 3, 2, 3], widthPx: 1.5 },
  { id: 'p999', dash: [1.5, 3], widthPx: 1.5 },
  { id: 'max', dash: [], widthPx: 1.5 },
  { id: 'connected', dash: [2, 2], widthPx: 2 },
  { id: 'received', dash: [10, 4], widthPx: 1.5 },
  { id: 'offered', dash: [], widthPx: 1.5 },
];

const bytesPerMegabyte = 1024 * 1024;

export function observedCharts(
  snapshots: readonly Pick<Snapshot, 'observed'>[],
  texts: PanelStrings,
): TimeChartSpec[] {
  const names = new Set<string>();
  for (const { observed = {} } of snapshots)
    for (const name of Object.keys(observed)) if (names.size < maximumSeries) names.add(name);
  const all = [...names].map(parseSeriesName);
  const parts = [
    ['observedShares', (unit: ObservedUnit) => unit === 'share', 100],
    ['observedCounts', (unit: ObservedUnit) => unit === 'count' || unit === 'perSecond', 1],
    ['observedBytes', (unit: ObservedUnit) => unit === 'bytes', 1 / bytesPerMegabyte],
  ] as const;
  return parts.flatMap(([id, isOf, factor]): TimeChartSpec[] => {
    const shown = all.filter(({ unit }) => isOf(unit)).slice(0, looks.length);
    if (shown.length === 0) return [];
    const series = shown.map((each, at) => lineOf(each, at, factor, texts));
    // Beside hundreds of connections a queue of ten is no line at all.
    const right = id === 'observedCounts' ? series.slice(1).map((line) => line.id) : [];
    return [{ id, title: `${id}Chart`, unit: 'count', right, series }];
  });
}

function lineOf(
  { name }: NamedSeries,
  at: number,
  factor: number,
  texts: PanelStrings,
): SeriesSpec {
  return {
    ...looks[at]!,
    label: observedLabel(name, texts),
    read: ({ observed }) => {
      const value = observed && Object.hasOwn(observed, name) ? observed[name]! : undefined;
      return value === undefined ? null : value * factor;
    },
  };
}
