/** Metrics by OTLP: a bundle of its own, the only one with OpenTelemetry. */
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import type { MetricPoint, RunMetric } from './runMetrics';

export interface OtlpPush {
  readonly close: () => Promise<void>;
}

export interface OtlpOptions {
  readonly url: string;
  readonly known: readonly RunMetric[];
  readonly metrics: () => readonly RunMetric[];
  readonly refused: (reason: string) => void;
  readonly everyMs?: number;
}

/** Collectors take points in such intervals by default: OpenTelemetry, "Metrics SDK" > "Periodic exporting". */
const usualEveryMs = 10_000;
const mostPushMs = 3000;
const mostSeries = 20_000;

/** Units in the words of UCUM, as OpenTelemetry wants them ("Semantic conventions" > "Instrument units"). */
const units = { seconds: 's', bytes: 'By', ratio: '1' } as const;

/**
 * Pushes metrics by OTLP over HTTP (protobuf) until closed; what the collector refuses is lost. The package reads headers, such as
 * keys, from `OTEL_EXPORTER_OTLP_HEADERS`.
 */
export function startOtlpPush(options: OtlpOptions): OtlpPush {
  const { url, known, metrics, refused, everyMs = usualEveryMs } = options;
  const exporter = new WatchedExporter(url, refused);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(everyMs, mostPushMs + 500),
    cardinalityLimits: { default: mostSeries },
  });
  const provider = new MeterProvider({
    resource: resourceFromAttributes({ 'service.name': 'signalr-bench' }),
    readers: [reader],
  });
  const meter = provider.getMeter('signalr-bench');
  const instruments = new Map(
    known.map(({ name, kind, unit, help }) => {
      const full = `signalr_bench.${name}`;
      const about = { description: help, ...(unit && { unit: units[unit] }) };
      const instrument =
        kind === 'counter'
          ? meter.createObservableCounter(full, about)
          : meter.createObservableGauge(full, about);
      return [name, instrument] as const;
    }),
  );
  meter.addBatchObservableCallback(
    (observed) => {
      for (const { name, points } of metrics()) {
        const instrument = instruments.get(name);
        if (instrument === undefined) continue;
        for (const point of points.filter(isPlain))
          observed.observe(instrument, point.value, point.labels);
      }
    },
    [...instruments.values()],
  );
  return {
    close: async () => {
      await provider.shutdown({ timeoutMillis: mostPushMs + 1000 }).catch(() => undefined);
    },
  };
}

/** Count and sum of a summary do not fit a gauge. */
const isPlain = ({ part }: MetricPoint): boolean => part === undefined;

/** Reports the first failure: the package only logs them. */
class WatchedExporter extends OTLPMetricExporter {
  private isSaid = false;

  constructor(
    url: string,
    private readonly refused: (reason: string) => void,
  ) {
    super({ url, timeoutMillis: mostPushMs });
  }

  override export(...[data, done]: Parameters<OTLPMetricExporter['export']>): void {
    super.export(data, (answer) => {
      if (answer.error !== undefined && !this.isSaid) {
        this.isSaid = true;
        this.refused(answer.error.message === '' ? 'no answer' : answer.error.message);
      }
      done(answer);
    });
  }
}
