import { addCount, getOrCreate } from '../../base/collect';
import type { Trace, TracedCall, TracedCallback, TracedClient } from './trace';
import { matchKeysOf, longestWholeText, type MatchKey } from './values';

/**
 * Which call made the server send a callback is in no message. A text or number that both have says it, where it is
 * rare; else that the callback keeps coming soon after calls of one method.
 */
const windowUs = 10_000_000;
const soonUs = 1_000_000;
const busyUs = 5_000_000;
/** A text that so many calls have, or so large a part of them, names something: a room, a user. */
const rareCalls = 3;
const rareShare = 0.02;
/** A callback is looked for behind the latest calls of so many methods. */
const mostMethods = 16;

/**
 * Finds the causes of callbacks, and writes them into these.
 * @param greetings callbacks that are taken for no consequence, unless they have a text of a call, see {@link findGreetings}
 */
export function findCauses(trace: Trace, greetings: ReadonlySet<string>): void {
  byMarks(trace);
  byTime(trace, greetings);
}

/**
 * Callbacks that came to each client once, soon after it connected. A hub says such a thing by itself, and a client that
 * calls at once hears it behind its first call: a session that waited for it would wait in vain the second time. It comes
 * before the answer to that call, which a busy machine may hear late.
 */
export function findGreetings({ clients, callbacks }: Trace): ReadonlySet<string> {
  const heard = new Map<string, Set<TracedClient>>();
  const others = new Set<string>();
  for (const { target, client, atUs } of callbacks) {
    const by = getOrCreate(heard, target, () => new Set());
    const afterUs = atUs - client.open.t;
    const answeredUs = client.calls[0]?.endUs ?? Infinity;
    const isSoon = afterUs <= soonUs || (afterUs <= busyUs && atUs <= answeredUs);
    if (by.has(client) || !isSoon) others.add(target);
    by.add(client);
  }
  const callers = clients.filter(({ calls }) => calls.length > 0);
  return new Set(
    [...heard]
      .filter(([target, by]) => !others.has(target) && callers.every((client) => by.has(client)))
      .map(([target]) => target),
  );
}

/** Calls and callbacks in the order of their times. */
function* inOrder({ calls, callbacks }: Trace): Generator<TracedCall | TracedCallback> {
  let next = 0;
  for (const callback of callbacks) {
    while (next < calls.length && calls[next]!.atUs <= callback.atUs) yield calls[next++]!;
    yield callback;
  }
}

const isCall = (one: TracedCall | TracedCallback): one is TracedCall => 'method' in one;

const isSame = (marks: readonly MatchKey[], others: readonly MatchKey[]): boolean =>
  marks.length === others.length && marks.every((mark, at) => mark === others[at]);

function byMarks(trace: Trace): void {
  const uses = new Map<MatchKey, number>();
  for (const call of trace.calls)
    for (const mark of new Set(matchKeysOf(call.arguments))) addCount(uses, mark);
  const rare = Math.max(rareCalls, trace.calls.length * rareShare);
  const latest = new Map<MatchKey, TracedCall>();
  let before:
    | { marks: readonly MatchKey[]; callback: TracedCallback; clients: Set<TracedClient> }
    | undefined;
  for (const one of inOrder(trace)) {
    const marks = matchKeysOf(one.arguments);
    const isNext = !isCall(one) && before?.clients.has(one.client) === false;
    if (isNext && isSame(marks, before!.marks)) {
      // The same goes to one client after the other.
      before!.clients.add(one.client);
      one.cause = before!.callback.cause;
      continue;
    }
    before = isCall(one) ? undefined : { marks, callback: one, clients: new Set([one.client]) };
    if (isCall(one)) {
      for (const mark of marks) if (uses.get(mark)! <= rare) latest.set(mark, one);
      continue;
    }
    let rarest = Infinity;
    for (const mark of marks) {
      const call = latest.get(mark);
      if (call === undefined || one.atUs - call.atUs > windowUs) continue;
      // Of two that are as rare the longer text says more.
      const length = typeof mark === 'string' ? Math.min(mark.length, longestWholeText) : 0;
      const weight = uses.get(mark)! - length / (longestWholeText + 1);
      if (weight >= rarest) continue;
      rarest = weight;
      one.cause = call;
    }
  }
}

/** What by its texts and numbers has no cause: the method whose calls it follows soonest, if it does so nearly always. */
function byTime(trace: Trace, greetings: ReadonlySet<string>): void {
  const found = new Map<string, { all: number; linked: number }>();
  for (const { target, cause } of trace.callbacks) {
    const seen = getOrCreate(found, target, () => ({ all: 0, linked: 0 }));
    seen.all += 1;
    if (cause !== undefined) seen.linked += 1;
  }
  const open = new Set(
    [...found].filter(([, { all, linked }]) => linked < all / 2).map(([target]) => target),
  );
  if (open.size === 0) return;
  const lags = lagsOf(trace, open);
  const methodOf = new Map<string, string>();
  for (const target of open) {
    if (greetings.has(target)) continue;
    const method = methodBefore(lags.get(target), found.get(target)!.all);
    if (method !== undefined) methodOf.set(target, method);
  }
  const latest = new Map<string, TracedCall>();
  for (const one of inOrder(trace)) {
    if (isCall(one)) {
      latest.set(one.method, one);
    } else if (open.has(one.target)) {
      const method = methodOf.get(one.target);
      const call = method === undefined ? undefined : latest.get(method);
      const isSoon = call !== undefined && one.atUs - call.atUs <= soonUs;
      one.cause = isSoon ? call : undefined;
    }
  }
}

interface Lag {
  /** Callbacks that came soon after a call of the method, the first to each client, and the sum of the times between. */
  callbacks: number;
  sumUs: number;
  /** Calls that one followed, with the latest of them, of all. */
  followed: number;
  latest?: TracedCall;
  readonly calls: number;
  /** After which call each client heard it last. */
  readonly heardBy: Map<TracedClient, TracedCall>;
}

function lagsOf(trace: Trace, targets: ReadonlySet<string>): Map<string, Map<string, Lag>> {
  const counts = new Map<string, number>();
  for (const { method } of trace.calls) addCount(counts, method);
  const lags = new Map<string, Map<string, Lag>>();
  // The latest call of each method, the newest first.
  let latest: TracedCall[] = [];
  for (const one of inOrder(trace)) {
    if (isCall(one)) {
      latest = [one, ...latest.filter(({ method }) => method !== one.method)];
      latest.length = Math.min(latest.length, mostMethods);
      continue;
    }
    if (!targets.has(one.target)) continue;
    const ofTarget = getOrCreate(lags, one.target, () => new Map<string, Lag>());
    for (const call of latest) {
      const { method } = call;
      const lagUs = one.atUs - call.atUs;
      if (lagUs > soonUs) continue;
      const lag = getOrCreate(ofTarget, method, () => {
        const calls = counts.get(method)!;
        return { callbacks: 0, sumUs: 0, followed: 0, calls, heardBy: new Map() };
      });
      // One call reaches each client once: what comes to it again is caused by something else.
      if (lag.heardBy.get(one.client) === call) continue;
      lag.heardBy.set(one.client, call);
      lag.callbacks += 1;
      lag.sumUs += lagUs;
      if (lag.latest !== call) lag.followed += 1;
      lag.latest = call;
    }
  }
  return lags;
}

/** Nearly all callbacks come after it, and nearly all of its calls are followed by one. */
function methodBefore(
  lags: ReadonlyMap<string, Lag> | undefined,
  callbacks: number,
): string | undefined {
  let best: string | undefined;
  let bestUs = Infinity;
  for (const [method, lag] of lags ?? []) {
    if (lag.callbacks < callbacks * 0.8 || lag.followed < lag.calls * 0.8) continue;
    const meanUs = lag.sumUs / lag.callbacks;
    if (meanUs >= bestUs) continue;
    bestUs = meanUs;
    best = method;
  }
  return best;
}
