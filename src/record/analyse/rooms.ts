import { excludesCaller, type MethodCallback } from './methodCallbacks';
import { getOrCreate } from '../../base/collect';
import { textBytes } from '../../usecases/ownArguments';
import { peakDistinct } from './connectionPlan';
import { spreadOf } from './spread';
import { type Trace, type TracedCall, type TracedClient } from './trace';
import { pathKey, valueAt, visitLeaves, visitTexts, type Path } from './values';

/**
 * Rooms are groups of a hub. Whoever receives a callback has sent a text before, which the causing call has as well: the text
 * is the room, the earlier method joins it.
 */
export interface Rooms {
  readonly names: ReadonlySet<string>;
  readonly atOnce: number;
  readonly joinMethods: ReadonlySet<string>;
  readonly leaveMethods: ReadonlySet<string>;
  readonly heard: ReadonlySet<MethodCallback>;
  /** Some client was in several, which a scenario cannot have. */
  readonly inSeveral: boolean;
}

/** So many calls of one method say enough. */
const mostCalls = 2000;
/** Of the calls that a room explains: a method that joins is a strong statement. */
const nearlyAllHear = 0.95;
const joins = /join|enter|subscribe|connect|open|watch|follow/i;
const leaves = /leave|exit|unsubscribe|disconnect|quit|close|unwatch|unfollow/i;

interface FirstUse {
  readonly method: string;
  readonly atUs: number;
}

export function findRooms(trace: Trace, consequences: readonly MethodCallback[]): Rooms {
  const uses = firstUses(trace);
  const names = new Set<string>();
  const joinMethods = new Set<string>();
  const toRooms = new Set<MethodCallback>();
  const hearers = hearersOf(trace, consequences);
  for (const consequence of consequences) {
    const heard = hearers.get(keyOf(consequence))!;
    const found = joinOf(heard, uses);
    if (found === undefined) continue;
    // A client alone receives everything itself: only the name of the method tells that it joins.
    const isToSelf = consequence.audience === 'self';
    if (isToSelf && !joins.test(found.joinMethod)) continue;
    joinMethods.add(found.joinMethod);
    if (!isToSelf || !isToCaller(trace, heard, found)) toRooms.add(consequence);
    for (const { arguments: values, method } of trace.calls)
      if (method === consequence.method) {
        const name = valueAt(values, found.path);
        if (typeof name === 'string') names.add(name);
      }
  }
  const usedBy = roomsOfClients(trace, names);
  const inSeveral = [...usedBy.values()].some((rooms) => rooms.size > 1);
  const leaveMethods = leavesIn(trace, names, joinMethods);
  const atOnce = peakDistinct(trace.clients, (client) => [...(usedBy.get(client) ?? [])][0]);
  return { names, atOnce, joinMethods, leaveMethods, heard: toRooms, inSeveral };
}

/** Others were in the room, and mostly received nothing. */
function isToCaller(trace: Trace, heard: Hearers, { path, joinMethod }: Join): boolean {
  const stays = staysIn(trace, joinMethod);
  let balance = 0;
  for (const [{ arguments: values, atUs }, clients] of heard) {
    const there = (stays.get(String(valueAt(values, path))) ?? []).filter(
      ({ fromUs, untilUs = Infinity }) => fromUs <= atUs && atUs < untilUs,
    );
    if (clients.length > 1) balance += 1;
    else if (there.length > 1) balance -= 1;
  }
  return balance < 0;
}

interface Stay {
  readonly fromUs: number;
  /** Absent where it goes on to the end. */
  untilUs?: number | undefined;
}

/** Stays in each room, from the answer of the join until the client leaves or closes. */
function staysIn({ calls }: Trace, joinMethod: string): ReadonlyMap<string, readonly Stay[]> {
  const stays = new Map<string, Stay[]>();
  const open = new Map<string, Map<TracedClient, Stay>>();
  for (const { client, method, arguments: values, atUs, endUs, error } of calls) {
    const isJoin = method === joinMethod;
    if (error !== undefined || (!isJoin && !leaves.test(method))) continue;
    visitTexts(values, (text) => {
      const there = getOrCreate(open, text, () => new Map<TracedClient, Stay>());
      const stay = there.get(client);
      if (isJoin && stay === undefined) {
        const begun: Stay = { fromUs: endUs ?? atUs, untilUs: client.closedUs };
        there.set(client, begun);
        getOrCreate(stays, text, () => []).push(begun);
      } else if (!isJoin && stay !== undefined) {
        stay.untilUs = atUs;
        there.delete(client);
      }
    });
  }
  return stays;
}

/** Sizes of the names that a run gives to groups, see `population.ts`. */
const ownNameBytes = { least: 18, most: 20 };

/** Empty where the sizes are similar. Calls with little else differ in size. */
export function roomNameSizeWords(names: ReadonlySet<string>): string {
  const { least, most } = spreadOf([...names].map(textBytes));
  if (least >= ownNameBytes.least - 1 && most <= ownNameBytes.most + 1) return '';
  const seen = least === most ? `${least} B` : `${least} to ${most} B`;
  return `; names of a run have ${ownNameBytes.least} to ${ownNameBytes.most} B, these had ${seen}`;
}

function roomsOfClients(
  { calls }: Trace,
  names: ReadonlySet<string>,
): ReadonlyMap<TracedClient, ReadonlySet<string>> {
  const rooms = new Map<TracedClient, Set<string>>();
  for (const { client, arguments: values } of calls)
    visitTexts(values, (text) => {
      if (names.has(text)) getOrCreate(rooms, client, () => new Set()).add(text);
    });
  return rooms;
}

function leavesIn(
  { calls }: Trace,
  names: ReadonlySet<string>,
  joinMethods: ReadonlySet<string>,
): Set<string> {
  const found = new Set<string>();
  for (const { method, arguments: values } of calls) {
    if (found.has(method) || joinMethods.has(method) || !leaves.test(method)) continue;
    visitTexts(values, (text) => {
      if (names.has(text)) found.add(method);
    });
  }
  return found;
}

type Uses = ReadonlyMap<TracedClient, ReadonlyMap<string, readonly FirstUse[]>>;

function firstUses({ calls }: Trace): Uses {
  const all = new Map<TracedClient, Map<string, FirstUse[]>>();
  for (const { client, method, arguments: values, atUs, error } of calls) {
    if (error !== undefined) continue;
    const ofClient = getOrCreate(all, client, () => new Map<string, FirstUse[]>());
    visitTexts(values, (text) => {
      if (text === '' || text.length > 256) return;
      const uses = getOrCreate(ofClient, text, () => []);
      if (uses.length < 16 && uses.every((use) => use.method !== method))
        uses.push({ method, atUs });
    });
  }
  return all;
}

type Hearers = ReadonlyMap<TracedCall, readonly TracedClient[]>;

const keyOf = ({ method, target }: Pick<MethodCallback, 'method' | 'target'>): string =>
  JSON.stringify([method, target]);

function hearersOf(
  { callbacks }: Trace,
  consequences: readonly MethodCallback[],
): ReadonlyMap<string, Hearers> {
  const all = new Map(
    consequences.map((each) => [
      keyOf(each),
      { toOthers: excludesCaller(each.audience), heard: new Map<TracedCall, TracedClient[]>() },
    ]),
  );
  for (const { cause, client, target } of callbacks) {
    const found = cause && all.get(keyOf({ method: cause.method, target }));
    if (found === undefined) continue;
    const { heard, toOthers } = found;
    const clients = heard.get(cause!);
    if (clients !== undefined) clients.push(client);
    // The caller is in the room. Without that it could be a message to one person by name.
    else if (heard.size < mostCalls)
      heard.set(cause!, toOthers ? [client, cause!.client] : [client]);
  }
  return new Map([...all].map(([key, { heard }]) => [key, heard]));
}

interface Join {
  readonly path: Path;
  readonly joinMethod: string;
}

function joinOf(heard: Hearers, uses: Uses): Join | undefined {
  const votes = new Map<
    string,
    { path: Path; joinMethod: string; calls: number; firstUs: number }
  >();
  for (const [call, clients] of heard) {
    visitLeaves(call.arguments, (leaf, path) => {
      if (typeof leaf !== 'string') return;
      for (const [joinMethod, firstUs] of joinedBy(leaf, clients, call, uses)) {
        const key = pathKey([...path, joinMethod]);
        getOrCreate(votes, key, () => ({
          path: [...path],
          joinMethod,
          calls: 0,
          firstUs,
        })).calls += 1;
      }
    });
  }
  const [best] = [...votes.values()]
    .filter(({ calls }) => calls >= heard.size * nearlyAllHear)
    .sort((a, b) => a.firstUs - b.firstUs);
  return best;
}

/** Other methods that all of these clients had called with the text before, and the first time. */
function joinedBy(
  text: string,
  clients: readonly TracedClient[],
  call: TracedCall,
  uses: Uses,
): [string, number][] {
  const [first, ...others] = clients;
  const of = (client: TracedClient): readonly FirstUse[] =>
    (uses.get(client)?.get(text) ?? []).filter(
      ({ method, atUs }) => method !== call.method && atUs <= call.atUs,
    );
  return of(first!)
    .filter(({ method }) =>
      others.every((client) => of(client).some((use) => use.method === method)),
    )
    .map(({ method, atUs }) => [method, atUs]);
}
