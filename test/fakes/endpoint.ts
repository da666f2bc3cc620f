import type { Endpoint } from '../../src/base/endpoint';

/** An endpoint without anything special. */
export function endpointOf(url: string, changes: Partial<Endpoint> = {}): Endpoint {
  return {
    urls: [url],
    headers: {},
    query: {},
    insecureTls: false,
    skipNegotiation: false,
    ...changes,
  };
}
