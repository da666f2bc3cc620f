import type { Endpoint } from '../../base/endpoint';

/** The endpoint as connection `index` asks for it: with its number in the headers and the query that have one. */
export function numberedEndpoint(endpoint: Endpoint, index: number): Endpoint {
  const { numbered, ...rest } = endpoint;
  if (numbered === undefined) return endpoint;
  const filled = (texts: Readonly<Record<string, readonly string[]>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(texts).map(([name, pieces]) => [name, pieces.join(String(index))]),
    );
  return {
    ...rest,
    headers: { ...endpoint.headers, ...filled(numbered.headers) },
    query: { ...endpoint.query, ...filled(numbered.query) },
  };
}
