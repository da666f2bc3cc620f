/** Size of a resource: a number of Units, or the free tier. */
export type ServiceSize = number | 'free';

const connectionsPerUnit = 1000;
const freeConnections = 20;

/**
 * How many connections a size has, all kinds of them together: in Azure SignalR Service those of app servers
 * count too. Source: "Messages and connections in Azure SignalR Service".
 */
export function connectionLimit(size: ServiceSize | undefined): number {
  if (size === undefined) return Infinity;
  return size === 'free' ? freeConnections : size * connectionsPerUnit;
}

/**
 * From this Unit on, so many new connections per second; Azure/azure-signalr#1282, a maintainer's comment.
 * For Web PubSub nothing is published; it is taken to be the same.
 */
const connectRates: readonly (readonly [unit: number, perSecond: number])[] = [
  [100, 8000],
  [50, 2000],
  [20, 600],
  [0, 400],
];
const freeConnectRate = 20;

/** New connections per second that a size takes. */
export function connectRateLimit(size: ServiceSize | undefined): number {
  if (size === undefined) return Infinity;
  if (size === 'free') return freeConnectRate;
  return connectRates.find(([unit]) => size >= unit)?.[1] ?? Infinity;
}

/**
 * Names of hubs in both services: letters, digits and a few signs, a letter first. Source: validators of
 * Microsoft's emulator, and the REST API specification of Web PubSub.
 */
export const isHubName = (name: string): boolean =>
  /^[A-Za-z][A-Za-z0-9_`,.[\]]{0,127}$/.test(name);
