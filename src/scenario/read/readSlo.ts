import { latencyMetrics, latencyShare, type LatencyMetric, type Slo } from '../../base/slo';
import { formatShare } from '../../base/units';
import type { Reading } from '../text/reading';
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
  const latencyUs: Partial<Record<LatencyMetric, number>> = {};
  for (const metric of latencyMetrics) {
    const limitMs = optionalNumberIn(slo, metric);
    if (limitMs !== undefined) latencyUs[metric] = limitMs * 1000;
  }
  const seedMetric = readLatencyPercentage(reading, slo, config);
  if (seedMetric !== undefined) {
    delete latencyUs.p99;
    latencyUs[seedMetric] = seedLimitUs;
  }
  const seedDropped = readFailPercentage(reading, slo, config);
  const dropped = seedDropped ?? optionalNumberIn(slo, 'dropped');
  const delivered = optionalNumberIn(slo, 'delivered');
  const duplicated = optionalNumberIn(slo, 'duplicated');
  return {
    latencyUs,
    ...(dropped === undefined ? {} : { dropped }),
    ...(delivered === undefined ? {} : { delivered }),
    ...(duplicated === undefined ? {} : { duplicated }),
  };
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
