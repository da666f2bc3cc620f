/** Metrics of a running run: an endpoint to read, and pushes to a collector. */
import { ExpectedError } from '../../base/expectedError';
import type { Snapshot } from '../../measure/snapshot';
import { foreignRequestRefusal } from '../../servers/http/ownRequests';
import { redactText } from '../../results/redact';
import { toolVersion, type Result } from '../../results/result';
import type { PreparedRun } from '../prepareRun';
import type { OtlpPush } from './otlpPush';
import {
  runInfoLabels,
  listAllMetrics,
  LiveNumbers,
  createRunMetrics,
  resultNumbers,
  formatOpenMetrics,
  openMetricsType,
  type RunMetric,
} from './runMetrics';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface LiveOutputOptions {
  readonly metricsPort?: number | undefined;
  readonly otlp?: string | undefined;
}

export type LiveOutputs = Awaited<ReturnType<typeof openLiveOutputs>>;

/** @throws ExpectedError `metrics-port` where the port is taken, `otlp-url` */
export async function openLiveOutputs(
  { metricsPort, otlp }: LiveOutputOptions,
  warn: (text: string) => void,
) {
  const live = new LiveNumbers();
  let ended: Result | undefined;
  let push: OtlpPush | undefined;
  const metrics = () => createRunMetrics(ended ? resultNumbers(ended) : live.numbers);
  const url = otlp === undefined ? undefined : metricsUrl(otlp);
  const endpoint = metricsPort === undefined ? undefined : await serveMetrics(metricsPort, metrics);
  const pushing = url === undefined ? undefined : await import('./otlpPush.js');
  const refused = (reason: string): void =>
    warn(redactText(`${otlp} does not take metrics (${reason}). The run goes on without.`));
  return {
    url: endpoint?.url,
    begin({ folder, scenario, target }: Pick<PreparedRun, 'folder' | 'scenario' | 'target'>): void {
      live.info = runInfoLabels({
        id: folder.id,
        tool: { version: toolVersion },
        scenario,
        target,
      });
      push = pushing?.startOtlpPush({ url: url!, known: listAllMetrics(), metrics, refused });
    },
    update: (snapshot: Snapshot): void => live.update(snapshot),
    finish(result: Result): void {
      ended = result;
    },
    /** Pushes the last numbers. Never rejects. */
    async close(): Promise<void> {
      await push?.close();
      endpoint?.close();
    },
  };
}

/**
 * A bare origin gets the default path: OpenTelemetry, "OTLP exporter configuration" > "Endpoint URLs for OTLP/HTTP".
 * @throws ExpectedError `otlp-url` without the URL, which may hold a key
 */
export function metricsUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new ExpectedError('otlp-url', '--otlp wants a URL, such as http://localhost:4318.');
  if (url.username !== '' || url.password !== '')
    throw new ExpectedError(
      'otlp-url',
      'Keys of a collector belong in OTEL_EXPORTER_OTLP_HEADERS, not in its URL.',
    );
  if (url.pathname === '/') url.pathname = '/v1/metrics';
  return url.href;
}

interface MetricsEndpoint {
  readonly url: string;
  readonly close: () => void;
}

const host = '127.0.0.1';
const answeredPath = '/metrics';
const mostConnections = 32;
const mostRequestMs = 5000;

/**
 * Serves OpenMetrics on loopback at `/metrics` without keeping the process alive; port 0: any free one.
 * @throws ExpectedError `metrics-port`
 */
export async function serveMetrics(
  port: number,
  metrics: () => readonly RunMetric[],
): Promise<MetricsEndpoint> {
  const server = createServer({ requestTimeout: mostRequestMs }, (request, response) => {
    const status = statusOf(request);
    response.writeHead(status, { 'Content-Type': status === 200 ? openMetricsType : 'text/plain' });
    response.end(status === 200 ? formatOpenMetrics(metrics()) : `See ${answeredPath}.\n`);
  });
  server.maxConnections = mostConnections;
  server.unref();
  await new Promise<void>((resolve, reject) => {
    const refused = ({ code = 'unknown' }: NodeJS.ErrnoException): void => {
      const message = `Metrics cannot be served on port ${port} of ${host} (${code}). Choose another --metrics-port, or 0 for any free one.`;
      reject(new ExpectedError('metrics-port', message));
    };
    server.once('error', refused);
    server.listen(port, host, () => {
      server.off('error', refused);
      server.on('error', () => undefined);
      resolve();
    });
  });
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${own}${answeredPath}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function statusOf({ method, url = '', headers }: IncomingMessage): number {
  if (foreignRequestRefusal({ headers }) !== undefined) return 403;
  if (url.split('?')[0] !== answeredPath) return 404;
  return method === 'GET' || method === 'HEAD' ? 200 : 405;
}
