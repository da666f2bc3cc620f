/** One answer of an endpoint, within bounds of time and size. */
import http from 'node:http';
import https from 'node:https';

export interface EndpointTrust {
  /** PEM of an authority beyond those of the system. */
  readonly ca?: string;
  readonly insecureTls: boolean;
}

export interface Endpoint extends EndpointTrust {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** A server with thousands of series answers with less. */
export const mostBytes = 8 * 1024 * 1024;
export const mostMs = 3000;

/**
 * Redirects are not followed: a token would go to somebody else.
 * @throws Error with why there is no text, in words without the URL
 */
export function readEndpoint(
  { url, headers, ca, insecureTls }: Endpoint,
  signal: AbortSignal,
): Promise<string> {
  const { request } = url.protocol === 'https:' ? https : http;
  const tls = { ...(ca !== undefined && { ca }), rejectUnauthorized: !insecureTls };
  return new Promise((resolve, reject) => {
    const over = AbortSignal.any([signal, AbortSignal.timeout(mostMs)]);
    const asking = request(url, { headers, signal: over, ...tls }, (answer) => {
      const { statusCode = 0 } = answer;
      if (statusCode !== 200) {
        asking.destroy();
        reject(new Error(`it answers with status ${statusCode}`));
        return;
      }
      const parts: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes <= mostBytes) parts.push(part);
        else asking.destroy(new Error('its answer has more than 8 MB'));
      });
      answer.on('end', () => resolve(Buffer.concat(parts).toString('utf8')));
      answer.on('error', reject);
    });
    asking.on('error', (error) => reject(over.aborted && !signal.aborted ? late : error));
    asking.end();
  });
}

const late = new Error('no answer within 3 s');
