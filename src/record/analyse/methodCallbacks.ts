import { addCount, getOrCreate } from '../../base/collect';
import {
  nearlyAll,
  upTo,
  type Trace,
  type TracedCall,
  type TracedCallback,
  type TracedClient,
} from './trace';
import {
  isIdOrTime,
  pathKey,
  valueAt,
  visitLeaves,
  type Path,
  textKey,
  matchKeysOf,
} from './values';

const mostExamples = 2000;

export interface MethodCallback {
  readonly method: string;
  readonly target: string;
  readonly followed: number;
  readonly calls: number;
  readonly audience: Audience;
  /** Path of the argument that comes back as a text and is no id. */
  readonly echoed?: Path;
  /** `repeated`: a client received it more than once for one call. */
  readonly count: number;
  readonly repeated: number;
}

/** `others`: all but the caller; `someOthers`: a part of them, such as a group. */
export type Audience = 'self' | 'client' | 'others' | 'someOthers' | 'everyone' | 'some';

export const excludesCaller = (heard: Audience): boolean =>
  heard === 'others' || heard === 'someOthers' || heard === 'client';

interface Heads {
  readonly method: string;
  readonly target: string;
  readonly heard: Map<TracedCall, Set<TracedClient>>;
  readonly echoes: Map<string, { readonly path: Path; times: number }>;
  callbacks: number;
  repeated: number;
}

/** Needs the causes of callbacks, see `findCauses`. */
export function findMethodCallbacks({
  clients,
  calls,
  callbacks,
}: Trace): readonly MethodCallback[] {
  const all = new Map<string, Map<string, Heads>>();
  for (const callback of callbacks) {
    const { cause, target, client } = callback;
    if (cause === undefined) continue;
    const { method } = cause;
    const targets = getOrCreate(all, method, () => new Map<string, Heads>());
    const heads = getOrCreate(targets, target, () => {
      return { method, target, callbacks: 0, repeated: 0, heard: new Map(), echoes: new Map() };
    });
    heads.callbacks += 1;
    const hearers = heads.heard.get(cause);
    if (hearers !== undefined) {
      if (hearers.has(client)) heads.repeated += 1;
      hearers.add(client);
      continue;
    }
    heads.heard.set(cause, new Set([client]));
    if (heads.heard.size <= mostExamples) countEchoes(heads, cause, callback);
  }
  const callsOf = new Map<string, number>();
  for (const { method } of calls) addCount(callsOf, method);
  const presentAt = presenceOf(clients);
  return [...all.values()]
    .flatMap((targets) => [...targets.values()])
    .map((heads) => ({
      method: heads.method,
      target: heads.target,
      followed: heads.heard.size,
      calls: callsOf.get(heads.method)!,
      audience: audienceOf(heads.heard, presentAt),
      count: heads.callbacks,
      repeated: heads.repeated,
      echoed: echoedIn(heads),
    }));
}

function countEchoes({ echoes }: Heads, call: TracedCall, callback: TracedCallback): void {
  const marks = new Set(matchKeysOf(callback.arguments));
  visitLeaves(call.arguments, (leaf, path) => {
    if (typeof leaf !== 'string' || !marks.has(textKey(leaf))) return;
    getOrCreate(echoes, pathKey(path), () => ({ path: [...path], times: 0 })).times += 1;
  });
}

/** The argument with most different texts is what people write: room names come back, too. */
function echoedIn({ echoes, heard }: Heads): Path | undefined {
  let best: Path | undefined;
  let most = 0;
  const calls = [...heard.keys()].slice(0, mostExamples);
  for (const { path, times } of echoes.values()) {
    if (times < calls.length * nearlyAll) continue;
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

function presenceOf(clients: readonly TracedClient[]): (us: number) => number {
  const sorted = (times: number[]): number[] => times.sort((a, b) => a - b);
  const opened = sorted(clients.map(({ open }) => open.t));
  const closed = sorted(clients.map(({ closedUs }) => closedUs ?? Infinity));
  return (us) => upTo(opened, us) - upTo(closed, us);
}

function audienceOf(
  heard: ReadonlyMap<TracedCall, ReadonlySet<TracedClient>>,
  presentAt: (us: number) => number,
): Audience {
  const seen = { self: 0, client: 0, others: 0, someOthers: 0, everyone: 0, some: 0 };
  for (const [call, clients] of heard) {
    const there = presentAt(call.atUs);
    const withCaller = clients.has(call.client);
    if (withCaller && clients.size === 1) seen.self += 1;
    else if (withCaller) seen[clients.size >= there ? 'everyone' : 'some'] += 1;
    else if (clients.size >= there - 1) seen.others += 1;
    else seen[clients.size === 1 ? 'client' : 'someOthers'] += 1;
  }
  const most = Object.entries(seen).sort(([, a], [, b]) => b - a)[0]!;
  const named = most[0] as Audience;
  // The caller may be alone now and then: calls with others present decide.
  if (named === 'self' && seen.everyone + seen.some > heard.size * 0.05)
    return seen.some > seen.everyone ? 'some' : 'everyone';
  if (named === 'everyone' && seen.some > heard.size * 0.05) return 'some';
  const notAll = seen.client + seen.someOthers > heard.size * 0.05;
  return named === 'others' && notAll ? 'someOthers' : named;
}
