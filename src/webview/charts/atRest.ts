import type { PanelStrings } from '../../protocol/panelStrings';
import { combined, type Columns } from './columns';
import type { Combine, TimeChartSpec } from './timeCharts';

/** What a legend tells while the pointer is at no place of the chart. */
export interface AtRest {
  /** What the values are. */
  readonly label: string;
  /** One per line; null where nothing was measured. */
  readonly values: readonly (number | null)[];
}

/** Of a run that goes on its latest values; of one that is over the worst latencies, mean rates and last states. */
export function atRest(
  { series }: TimeChartSpec,
  { lines }: Columns,
  over: boolean,
  strings: PanelStrings,
): AtRest {
  const { highestOfRun, meanOfRun, endOfRun, latest } = strings;
  const labels: Readonly<Record<Combine, string>> = {
    max: highestOfRun,
    mean: meanOfRun,
    last: endOfRun,
  };
  const combine = (over ? series[0]?.combine : undefined) ?? 'last';
  return {
    label: over ? labels[combine] : latest,
    values: lines.map((line) => combined(line, combine)),
  };
}
