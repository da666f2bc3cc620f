import { addCount, getOrCreate, groupBy } from '../../base/collect';
import type { Trace, TracedCall, TracedClient } from './trace';
import { longestWholeText, matchKeysOf, type MatchKey } from './values';

const longestDelayUs = 10_000_000;
const greetingUs = 1_000_000;
/** Before the answer to its first call, which a busy machine may hear late. */
const busyUs = 5_000_000;
/** A text in more calls, or in a larger share of them, names a room or a user. */
const rareCalls = 3;
const rareShare = 0.02;

/**
 * Sets the cause of callbacks. No message names it: it is the latest call with a rare text or number that the callback has
 * as well. Callbacks without one have no cause.
 */
export function findCauses({ calls, callbacks }: Trace): void {
  const uses = new Map<MatchKey, number>();
  for (const call of calls)
    for (const key of new Set(matchKeysOf(call.arguments))) addCount(uses, key);
  const rare = Math.max(rareCalls, calls.length * rareShare);
  const latest = new Map<MatchKey, TracedCall>();
  let next = 0;
  for (const callback of callbacks) {
    for (; next < calls.length && calls[next]!.atUs <= callback.atUs; next++)
      for (const key of matchKeysOf(calls[next]!.arguments))
        if (uses.get(key)! <= rare) latest.set(key, calls[next]!);
    let rarest = Infinity;
    for (const key of matchKeysOf(callback.arguments)) {
      const call = latest.get(key);
      if (call === undefined || callback.atUs - call.atUs > longestDelayUs) continue;
      // Of two equally rare keys the longer text says more.
      const length = typeof key === 'string' ? Math.min(key.length, longestWholeText) : 0;
      const rarity = uses.get(key)! - length / (longestWholeText + 1);
      if (rarity >= rarest) continue;
      rarest = rarity;
      callback.cause = call;
    }
  }
  for (const all of groupBy(callbacks, ({ target }) => target).values()) {
    const withCause = all.filter(({ cause }) => cause !== undefined);
    if (withCause.length < all.length / 2) for (const one of withCause) one.cause = undefined;
  }
}

/** Callbacks that came to each calling client once, soon after it connected: one for each connection, not for each session. */
export function findGreetings({ clients, callbacks }: Trace): ReadonlySet<string> {
  const hearers = new Map<string, Set<TracedClient>>();
  const others = new Set<string>();
  for (const { target, client, atUs } of callbacks) {
    const by = getOrCreate(hearers, target, () => new Set());
    const afterUs = atUs - client.open.t;
    const answeredUs = client.calls[0]?.endUs ?? Infinity;
    const isSoon = afterUs <= greetingUs || (afterUs <= busyUs && atUs <= answeredUs);
    if (by.has(client) || !isSoon) others.add(target);
    by.add(client);
  }
  const callers = clients.filter(({ calls }) => calls.length > 0);
  return new Set(
    [...hearers]
      .filter(([target, by]) => !others.has(target) && callers.every((client) => by.has(client)))
      .map(([target]) => target),
  );
}
