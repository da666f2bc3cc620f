import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ExpectedError } from '../../base/expectedError';
import { openMetrics, openMetricsType } from './openMetrics';
import type { RunMetric } from './runMetrics';

export interface MetricsEndpoint {
  readonly url: string;
  readonly close: () => void;
}

const host = '127.0.0.1';
const answeredPath = '/metrics';
/** More readers than anybody has. */
const mostConnections = 32;
const mostRequestMs = 5000;

/**
 * Serves what is known of a run as OpenMetrics text on loopback, at `/metrics`. It does not keep the process alive.
 *
 * @param port 0 for any free one
 * @throws ExpectedError `metrics-port` where it cannot listen there
 */
export async function serveMetrics(
  port: number,
  metrics: () => readonly RunMetric[],
): Promise<MetricsEndpoint> {
  const server = createServer({ requestTimeout: mostRequestMs }, (request, response) => {
    const status = statusOf(request);
    response.writeHead(status, { 'Content-Type': status === 200 ? openMetricsType : 'text/plain' });
    response.end(status === 200 ? openMetrics(metrics()) : `See ${answeredPath}.\n`);
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

/** Pages of a browser reach loopback by names of their own: only names of this machine are answered, and its pages. */
const ownNames = /^(127\.0\.0\.1|localhost)(:\d+)?$/i;
const isOwnOrigin = (origin: string): boolean => ownNames.test(origin.replace(/^https?:\/\//i, ''));

function statusOf({ method, url = '', headers }: IncomingMessage): number {
  const { host: asked = '', origin } = headers;
  if (!ownNames.test(asked) || (origin !== undefined && !isOwnOrigin(origin))) return 403;
  if (url.split('?')[0] !== answeredPath) return 404;
  return method === 'GET' || method === 'HEAD' ? 200 : 405;
}
