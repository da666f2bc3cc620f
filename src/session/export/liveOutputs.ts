/** What watches a run from outside while it goes on: an endpoint to read, and a collector to push to. */
import { ExpectedError } from '../../base/expectedError';
import type { Snapshot } from '../../measure/snapshot';
import { redactText } from '../../results/redact';
import { toolVersion, type Result } from '../../results/result';
import type { PreparedRun } from '../prepareRun';
import { serveMetrics, type MetricsEndpoint } from './metricsEndpoint';
import type { OtlpPush } from './otlpPush';
import { infoOf, knownMetrics, LiveNumbers, metricsOf, numbersOfResult } from './runMetrics';

export interface LiveOutputOptions {
  /** Port of an endpoint on loopback; 0 for any free one. */
  readonly metricsPort?: number | undefined;
  /** Where OTLP metrics are pushed to. */
  readonly otlp?: string | undefined;
}

export class LiveOutputs {
  private readonly live = new LiveNumbers();
  private result: Result | undefined;
  private endpoint: MetricsEndpoint | undefined;
  private push: OtlpPush | undefined;
  private startPush: (() => OtlpPush) | undefined;

  /** Where metrics can be read; undefined where they are not served. */
  get url(): string | undefined {
    return this.endpoint?.url;
  }

  async open(
    { metricsPort, otlp }: LiveOutputOptions,
    warn: (text: string) => void,
  ): Promise<void> {
    const metrics = () => metricsOf(this.result ? numbersOfResult(this.result) : this.live.numbers);
    const url = otlp === undefined ? undefined : metricsUrl(otlp);
    if (metricsPort !== undefined) this.endpoint = await serveMetrics(metricsPort, metrics);
    if (url === undefined) return;
    const { startOtlpPush } = await import('./otlpPush.js');
    this.startPush = () =>
      startOtlpPush({
        ...{ url, known: knownMetrics(), metrics },
        refused: (reason) =>
          warn(redactText(`${otlp} does not take metrics (${reason}). The run goes on without.`)),
      });
  }

  begin({ folder, scenario, target }: Pick<PreparedRun, 'folder' | 'scenario' | 'target'>): void {
    const tool = { version: toolVersion };
    this.live.info = infoOf({ id: folder.id, tool, scenario, target });
    // A run that is refused before has nothing to push.
    this.push = this.startPush?.();
  }

  update(snapshot: Snapshot): void {
    this.live.update(snapshot);
  }

  /** From now on these are the numbers. */
  finish(result: Result): void {
    this.result = result;
  }

  /** Pushes the last numbers. Never rejects. */
  async close(): Promise<void> {
    await this.push?.close();
    this.endpoint?.close();
  }
}

/** @throws ExpectedError `metrics-port` where the port is taken, `otlp-url` */
export async function openLiveOutputs(
  options: LiveOutputOptions,
  warn: (text: string) => void,
): Promise<LiveOutputs> {
  const outputs = new LiveOutputs();
  await outputs.open(options, warn);
  return outputs;
}

/**
 * Without a path it is the base of a collector: OpenTelemetry, "OTLP exporter configuration" > "Endpoint URLs for OTLP/HTTP".
 *
 * @throws ExpectedError `otlp-url`, which never says what was given: it may hold a key
 */
export function metricsUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new ExpectedError('otlp-url', '--otlp wants a URL, such as http://localhost:4318.');
  if (url.username !== '' || url.password !== '')
    throw new ExpectedError(
      'otlp-url',
      'Keys of a collector belong into OTEL_EXPORTER_OTLP_HEADERS, not into its URL.',
    );
  if (url.pathname === '/') url.pathname = '/v1/metrics';
  return url.href;
}
