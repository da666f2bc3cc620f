import type { Trace, TracedCall, TracedCallback, TracedClient } from './trace';
import { isIdOrTime, pathKey, valueAt, visitLeaves, visitValues, type Path } from './values';

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
/** So many calls of a method say which text comes back. */
const mostExamples = 2000;
/** Smaller whole numbers are the same by chance: those of rounds, rows, days. */
const tellingNumber = 10_000;
/** Longer texts count as equal by their length and their ends. */
const wholeText = 256;

/** What one method makes the server call, and on whom. */
export interface Consequence {
  readonly method: string;
  readonly target: string;
  /** Calls of the method that it followed, of {@link calls}. */
  readonly followed: number;
  readonly calls: number;
  readonly audience: Heard;
  /** Argument of the method whose text comes back in the callback, if there is one that may be another. */
  readonly echoed?: Path;
  /** Callbacks in all, and those that a client heard beyond its first of a call. */
  readonly count: number;
  readonly repeated: number;
}

/** `others`: all but the caller; `someOthers`: some of those, a group perhaps. */
export type Heard = 'self' | 'client' | 'others' | 'someOthers' | 'everyone' | 'some';

export const isToOthers = (heard: Heard): boolean =>
  heard === 'others' || heard === 'someOthers' || heard === 'client';

/**
 * Finds the cause of callbacks, writes it into them, and sums up by method and target.
 * @param greetings callbacks that are taken for no consequence, unless they have a text of a call, see {@link findGreetings}
 */
export function findCauses(trace: Trace, greetings: ReadonlySet<string>): readonly Consequence[] {
  byMarks(trace);
  byTime(trace, greetings);
  return consequencesOf(trace);
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
    const by = heard.get(target) ?? new Set();
    heard.set(target, by);
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

const keyOf = (text: string): string =>
  text.length <= wholeText
    ? text
    : `${text.length}:${text.slice(0, wholeText / 2)}${text.slice(-wholeText / 2)}`;

/** A text, or a number with a fraction or of many digits, such as a place on a map. */
type Mark = string | number;

function marksOf(values: readonly unknown[]): Mark[] {
  const marks: Mark[] = [];
  visitValues(values, (leaf) => {
    if (typeof leaf === 'string') {
      if (leaf !== '') marks.push(keyOf(leaf));
    } else if (!Number.isInteger(leaf) || Math.abs(leaf) > tellingNumber) marks.push(leaf);
  });
  return marks;
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

const isSame = (marks: readonly Mark[], others: readonly Mark[]): boolean =>
  marks.length === others.length && marks.every((mark, at) => mark === others[at]);

function byMarks(trace: Trace): void {
  const uses = new Map<Mark, number>();
  for (const call of trace.calls)
    for (const mark of new Set(marksOf(call.arguments))) uses.set(mark, (uses.get(mark) ?? 0) + 1);
  const rare = Math.max(rareCalls, trace.calls.length * rareShare);
  const latest = new Map<Mark, TracedCall>();
  let before:
    | { marks: readonly Mark[]; callback: TracedCallback; clients: Set<TracedClient> }
    | undefined;
  for (const one of inOrder(trace)) {
    const marks = marksOf(one.arguments);
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
      const length = typeof mark === 'string' ? Math.min(mark.length, wholeText) : 0;
      const weight = uses.get(mark)! - length / (wholeText + 1);
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
    const seen = found.get(target) ?? { all: 0, linked: 0 };
    seen.all += 1;
    if (cause !== undefined) seen.linked += 1;
    found.set(target, seen);
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
  for (const { method } of trace.calls) counts.set(method, (counts.get(method) ?? 0) + 1);
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
    const ofTarget = lags.get(one.target) ?? new Map<string, Lag>();
    lags.set(one.target, ofTarget);
    for (const call of latest) {
      const { method } = call;
      const lagUs = one.atUs - call.atUs;
      if (lagUs > soonUs) continue;
      const lag: Lag = ofTarget.get(method) ?? {
        ...{ callbacks: 0, sumUs: 0, followed: 0, calls: counts.get(method)!, heardBy: new Map() },
      };
      ofTarget.set(method, lag);
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

interface Heads {
  readonly method: string;
  readonly target: string;
  readonly heard: Map<TracedCall, Set<TracedClient>>;
  /** How often a text of an argument came back, by its path. */
  readonly echoes: Map<string, { readonly path: Path; times: number }>;
  callbacks: number;
  repeated: number;
}

function consequencesOf(trace: Trace): Consequence[] {
  const all = new Map<string, Map<string, Heads>>();
  for (const callback of trace.callbacks) {
    const { cause, target } = callback;
    if (cause === undefined) continue;
    const { method } = cause;
    let targets = all.get(method);
    if (targets === undefined) all.set(method, (targets = new Map<string, Heads>()));
    let heads = targets.get(target);
    if (heads === undefined) {
      heads = { method, target, callbacks: 0, repeated: 0, heard: new Map(), echoes: new Map() };
      targets.set(target, heads);
    }
    heads.callbacks += 1;
    const clients = heads.heard.get(cause);
    if (clients !== undefined) {
      if (clients.has(callback.client)) heads.repeated += 1;
      clients.add(callback.client);
      continue;
    }
    heads.heard.set(cause, new Set([callback.client]));
    if (heads.heard.size <= mostExamples) countEchoes(heads, cause, callback);
  }
  const calls = new Map<string, number>();
  for (const { method } of trace.calls) calls.set(method, (calls.get(method) ?? 0) + 1);
  const presence = new Presence(
    trace.clients.map(({ open, closedUs }) => ({ fromUs: open.t, untilUs: closedUs })),
  );
  const found = [...all.values()].flatMap((targets) => [...targets.values()]);
  return found.map((heads) => {
    const { method, target, heard, callbacks, repeated } = heads;
    const echoed = echoedIn(heads);
    return {
      ...{ method, target, followed: heard.size, calls: calls.get(method)! },
      ...{ audience: audienceOf(heard, presence), count: callbacks, repeated },
      ...(echoed !== undefined && { echoed }),
    };
  });
}

function countEchoes({ echoes }: Heads, call: TracedCall, callback: TracedCallback): void {
  const came = new Set(marksOf(callback.arguments));
  visitLeaves(call.arguments, (leaf, path) => {
    if (typeof leaf !== 'string' || !came.has(keyOf(leaf))) return;
    const key = pathKey(path);
    const seen = echoes.get(key) ?? { path: [...path], times: 0 };
    seen.times += 1;
    echoes.set(key, seen);
  });
}

/** The one with most different texts is what people write; the name of a room comes back as well. */
function echoedIn({ echoes, heard }: Heads): Path | undefined {
  let best: Path | undefined;
  let most = 0;
  const calls = [...heard.keys()].slice(0, mostExamples);
  for (const { path, times } of echoes.values()) {
    if (times < calls.length * 0.9) continue;
    const texts = new Set<string>();
    let length = 0;
    for (const call of calls) {
      const text = valueAt(call.arguments, path);
      if (typeof text !== 'string') continue;
      texts.add(text);
      length += text.length;
    }
    if ([...texts].every(isIdOrTime)) continue;
    const weight = texts.size + length / calls.length / 1_000_000;
    if (weight <= most) continue;
    most = weight;
    best = path;
  }
  return best;
}

export interface Stay {
  readonly fromUs: number;
  /** Absent when it was there at the end. */
  untilUs?: number | undefined;
}

/** How many clients were there at a time, or in a room. */
export class Presence {
  private readonly comings: readonly number[];
  private readonly goings: readonly number[];

  constructor(stays: readonly Stay[]) {
    const rising = (a: number, b: number): number => a - b;
    this.comings = stays.map(({ fromUs }) => fromUs).sort(rising);
    this.goings = stays.map(({ untilUs }) => untilUs ?? Infinity).sort(rising);
  }

  at(us: number): number {
    return upTo(this.comings, us) - upTo(this.goings, us);
  }
}

/** How many of rising numbers are not above `limit`. */
function upTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function audienceOf(
  heard: ReadonlyMap<TracedCall, ReadonlySet<TracedClient>>,
  presence: Presence,
): Heard {
  const seen = { self: 0, client: 0, others: 0, someOthers: 0, everyone: 0, some: 0 };
  for (const [call, clients] of heard) {
    const there = presence.at(call.atUs);
    const withCaller = clients.has(call.client);
    if (withCaller && clients.size === 1) seen.self += 1;
    else if (withCaller) seen[clients.size >= there ? 'everyone' : 'some'] += 1;
    else if (clients.size >= there - 1) seen.others += 1;
    else seen[clients.size === 1 ? 'client' : 'someOthers'] += 1;
  }
  const most = Object.entries(seen).sort(([, a], [, b]) => b - a)[0]!;
  const named = most[0] as Heard;
  // Alone in the room now and then: who heard it when others were there says whom it goes to.
  if (named === 'self' && seen.everyone + seen.some > heard.size * 0.05)
    return seen.some > seen.everyone ? 'some' : 'everyone';
  if (named === 'everyone' && seen.some > heard.size * 0.05) return 'some';
  const notAll = seen.client + seen.someOthers > heard.size * 0.05;
  return named === 'others' && notAll ? 'someOthers' : named;
}
