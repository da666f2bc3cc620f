import { latencyMetrics, latencyShare, type LatencyMetric } from '../../base/objectives/latency';
import { sloOf, type Slo } from '../../base/slo';
import { formatShare } from '../../base/units';
import type { Reading } from '../text/scenarioReading';
import { optionalNumberIn, type Section } from './readSection';
import { placeOfValue } from './readValue';

/** Messages that take at least this long count against `latencyPercentage`; fixed in the Azure SignalR benchmark. */
const seedLimitUs = 1_000_000;

/**
 * The objectives: the defaults, changed one by one by what `slo` says. The Azure SignalR benchmark's two keys stand
 * for `slo.dropped` and for the limit of one percentile, which then replaces the default `p99`; `slo`
 * wins over them.
 */
export function readSlo(reading: Reading, slo: Section, config: Section): Slo {
  const seedMetric = readLatencyPercentage(reading, slo, config);
  const seedDropped = readFailPercentage(reading, slo, config);
  return sloOf((metric, { unit }) => {
    if (metric === seedMetric) return seedLimitUs;
    if (metric === 'p99' && seedMetric !== undefined) return undefined;
    if (metric === 'dropped' && seedDropped !== undefined) return seedDropped;
    const limit = optionalNumberIn(slo, metric);
    return limit === undefined || unit !== 'duration' ? limit : limit * 1000;
  });
}

function readFailPercentage(reading: Reading, slo: Section, config: Section): number | undefined {
  const written = config.written.get('connectionFailPercentage');
  if (written === undefined) return undefined;
  if (slo.written.has('dropped')) {
    const message = 'connectionFailPercentage is not used: slo.dropped wins. Remove one of them.';
    reading.report('warning', 'two-slos', written.key, message);
    return undefined;
  }
  return optionalNumberIn(config, 'connectionFailPercentage');
}

/** The percentile that must stay under 1 s; undefined when `slo` or the defaults decide. */
function readLatencyPercentage(
  reading: Reading,
  slo: Section,
  config: Section,
): LatencyMetric | undefined {
  const written = config.written.get('latencyPercentage');
  const share = optionalNumberIn(config, 'latencyPercentage');
  if (written === undefined) return undefined;
  const own = latencyMetrics.find((metric) => slo.written.has(metric));
  if (own !== undefined) {
    const message = `latencyPercentage is not used: slo.${own} wins. Remove one of them.`;
    reading.report('warning', 'two-slos', written.key, message);
    return undefined;
  }
  if (share === undefined) return undefined;
  const exact = latencyMetrics.find((metric) => Math.abs(1 - latencyShare[metric] - share) < 1e-9);
  if (exact !== undefined) return exact;
  const stricter = latencyMetrics.find((metric) => 1 - latencyShare[metric] < share)!;
  const asked = formatPercentile(1 - share);
  reading.report(
    'warning',
    'latency-percentage',
    placeOfValue(reading, written),
    `latencyPercentage ${share} asks for ${asked} of the messages under 1 s. ${asked} is no percentile we judge, so the next stricter one is used: slo.${stricter}: 1s. Write an objective into slo to choose another.`,
  );
  return stricter;
}

const formatPercentile = (share: number): string =>
  share > 0.9 ? `${Number((share * 100).toFixed(4))} %` : formatShare(share);
