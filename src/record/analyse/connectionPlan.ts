import { formatCount } from '../../base/units';
import type { OpenEvent } from '../recording';

export interface ClientStay {
  readonly open: OpenEvent;
  readonly closedUs?: number;
}

/** How many connections stand for the clients, so that calls come as often as recorded. */
export interface ConnectionPlan {
  readonly connections: number;
  readonly isAll: boolean;
  readonly words: string;
  readonly parts: readonly ConnectionShare[];
}

export interface ConnectionShare {
  readonly connections: number;
  /** Connections per client that was there on average: each calls so many times less often. */
  readonly times: number;
}

/**
 * Clients that come one after the other, such as a page that reloads, share as many connections as were there at the same
 * time: one connection for each would call several times as often.
 * @param parts clients that do the same; a client may be in several
 * @param areBusy no connection can do more than a client did, so that a part has at least its average
 * @param visits parts of their own beside the clients
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

const nearly = 0.05;

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

export const totalStayUs = (visitors: readonly ClientStay[], endUs: number): number =>
  visitors.reduce((sum, { open, closedUs = endUs }) => sum + closedUs - open.t, 0);

/** At least one for each, the rest in proportion. */
function allotted(wanted: readonly number[], connections: number): readonly number[] {
  const own = wanted.map(() => 1);
  const all = Math.round(sumOf(wanted));
  for (let given = own.length; given < Math.min(all, connections); given++) {
    const parts = own.map((count, at) => count / wanted[at]!);
    own[parts.indexOf(Math.min(...parts))]! += 1;
  }
  return own;
}

export const peakClients = (clients: readonly ClientStay[]): number =>
  peakDistinct(clients, (client) => client);

/** The largest number of different values of `of` among clients that were there at the same time. */
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
