import type { Result } from '../../results/result';
import { metricsOf, numbersOfResult, type MetricPoint, type RunMetric } from './runMetrics';

/** Of what {@link openMetrics} writes. */
export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

export const openMetricsOf = (result: Result): string =>
  openMetrics(metricsOf(numbersOfResult(result)));

/** Source: OpenMetrics 1.0, "Text format"; sections "ABNF", "Escaping" and "Metric types". */
export function openMetrics(metrics: readonly RunMetric[]): string {
  return [...metrics.flatMap(familyLines), '# EOF', ''].join('\n');
}

/** In the words of the format. */
const types = {
  counter: 'counter',
  gauge: 'gauge',
  summary: 'summary',
  state: 'stateset',
  info: 'info',
} as const;

function familyLines({ name: dotted, kind, unit, help, points }: RunMetric): string[] {
  const family = ['signalr_bench', ...dotted.split('.'), ...(unit ? [unit] : [])].join('_');
  return [
    `# TYPE ${family} ${types[kind]}`,
    ...(unit ? [`# UNIT ${family} ${unit}`] : []),
    `# HELP ${family} ${escaped(help)}`,
    ...points.map((point) => sampleLine(family, kind, point)),
  ];
}

function sampleLine(family: string, kind: RunMetric['kind'], point: MetricPoint): string {
  const { labels, value, part } = point;
  const suffix = part ?? ({ counter: 'total', info: 'info' } as Record<string, string>)[kind];
  const named = Object.entries(labels).map(([label, text]) => {
    // The label of a set of states, in which they differ, has the name of its family.
    const own = kind === 'state' && family.endsWith(`_${label}`) ? family : label;
    return `${own}="${escaped(text)}"`;
  });
  const set = named.length === 0 ? '' : `{${named.join(',')}}`;
  return `${family}${suffix === undefined ? '' : `_${suffix}`}${set} ${numberText(value)}`;
}

const escaped = (text: string): string =>
  text.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`));

const numberText = (value: number): string => (value === Infinity ? '+Inf' : String(value));
