import type { Endpoint } from '../../base/endpoint';

const header = 'X-SignalR-Bench-Probe';

/** The endpoint for connections that only ask: test hubs keep the faults they were asked for until the load. */
export const asProbe = (endpoint: Endpoint): Endpoint => ({
  ...endpoint,
  headers: { ...endpoint.headers, [header]: '1' },
});

/** @param headers of a request, as Node gives them, in lower case */
export const isProbe = (headers: Readonly<Record<string, unknown>>): boolean =>
  headers[header.toLowerCase()] !== undefined;
