import { formatCount } from '../../base/units';
import type { OpenEvent } from '../recording';

/** Somebody who was there for a while. */
export interface ClientStay {
  readonly open: OpenEvent;
  /** Microseconds since the recording began; absent when it was there at the end. */
  readonly closedUs?: number;
}

/** The connections that stand for the clients of a recording, so that calls come as often as they did. */
export interface ConnectionPlan {
  readonly connections: number;
  /** All clients were there at the same time. */
  readonly isAll: boolean;
  /** For people: which clients these are. */
  readonly words: string;
  readonly parts: readonly ConnectionShare[];
}

export interface ConnectionShare {
  readonly connections: number;
  /** How many times as many they are as clients of the part were there, in the mean: each does so many times less often. */
  readonly times: number;
}

/**
 * Clients that come one after the other, such as a page that loads again, are as many connections as were there at the same
 * time: all of them together would do what they did several times as often.
 * @param parts clients that do the same; one may be of several
 * @param areBusy nobody can do more than a client did: a part has as many as were there in the mean, at least
 * @param visits parts of visitors beside the clients, with as many connections as were there in the mean
 */
export function planConnections(
  { clients, endUs }: { readonly clients: readonly ClientStay[]; readonly endUs: number },
  parts: readonly (readonly ClientStay[])[],
  areBusy: boolean,
  visits: readonly (readonly ClientStay[])[] = [],
): ConnectionPlan {
  const atOnce = peakClients(clients);
  const isAll = atOnce === clients.length;
  const beganUs = [clients, ...visits]
    .flat()
    .reduce((earliest, { open }) => Math.min(earliest, open.t), endUs);
  const spanUs = Math.max(1, endUs - beganUs);
  const inTheMean = (of: readonly ClientStay[]): number =>
    Math.max(totalStayUs(of, endUs), 1) / spanUs;
  const there = (of: readonly ClientStay[]): number => (isAll ? of.length : inTheMean(of));
  const least = Math.max(atOnce, parts.length);
  const each = parts.map(there);
  const scale = least / Math.max(there(clients), Number.MIN_VALUE);
  const own = allotted(
    each.map((count) => count * scale),
    least,
  ).map((count, at) => (areBusy ? Math.max(count, Math.ceil(each[at]! - nearly)) : count));
  const beside = visits.map(inTheMean);
  const besideOwn = beside.map((count) => Math.max(1, Math.ceil(count - nearly)));
  const connections = (areBusy ? Math.max(least, sumOf(own)) : least) + sumOf(besideOwn);
  const most = isAll
    ? 'the clients that were seen'
    : `so many of the ${formatCount(clients.length)} clients that were seen were there at a time`;
  return {
    ...{ connections, isAll },
    words: connections > atOnce ? `${most}, and some more so that each kind has its own` : most,
    parts: [...own, ...besideOwn].map((count, at) => {
      const times = count / [...each, ...beside][at]!;
      return { connections: count, times: Math.abs(times - 1) <= nearly ? 1 : times };
    }),
  };
}

/** A client that was there from the second to the last moment was there all the time. */
const nearly = 0.05;

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

/** How long all of them were there together. */
export const totalStayUs = (visitors: readonly ClientStay[], endUs: number): number =>
  visitors.reduce((sum, { open, closedUs = endUs }) => sum + closedUs - open.t, 0);

/** One at least for each, and the rest so that all have the same part of what they want. */
function allotted(wanted: readonly number[], connections: number): readonly number[] {
  const own = wanted.map(() => 1);
  const all = Math.round(sumOf(wanted));
  for (let given = own.length; given < Math.min(all, connections); given++) {
    const parts = own.map((count, at) => count / wanted[at]!);
    own[parts.indexOf(Math.min(...parts))]! += 1;
  }
  return own;
}

/** How many of these clients were there at the same time, at most. */
export const peakClients = (clients: readonly ClientStay[]): number =>
  peakDistinct(clients, (client) => client);

/** How many different ones of what clients are in were there at the same time, at most. */
export function peakDistinct<T extends ClientStay>(
  clients: readonly T[],
  of: (client: T) => unknown,
): number {
  const there = new Map<unknown, number>();
  let most = 0;
  const changes = clients
    .flatMap((client): [number, number, unknown][] => {
      const one = of(client);
      if (one === undefined) return [];
      return [
        [client.open.t, 1, one],
        // Who goes at the moment of coming was there for a moment.
        [Math.max(client.closedUs ?? Infinity, client.open.t + 1), -1, one],
      ];
    })
    .sort(([a, x], [b, y]) => (a === b ? x - y : a - b));
  for (const [, change, one] of changes) {
    const count = (there.get(one) ?? 0) + change;
    if (count > 0) there.set(one, count);
    else there.delete(one);
    most = Math.max(most, there.size);
  }
  return most;
}
