// What a recording holds of an owner's walk: how often each call and each callback was said, how large it was, and what of
// that differs from another recording.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

const bytesOf = (value) => Buffer.byteLength(JSON.stringify(value));

/** Of a hub the calls of both sides, of Web PubSub what goes to groups and comes from there. */
function argumentsIn(m) {
  if (m?.type === 1) return { name: m.target, values: m.arguments };
  const isPublished = m?.type === 'sendToGroup' || m?.type === 'message';
  return isPublished ? { name: m.type, values: [m.data] } : undefined;
}

/** All calls and callbacks of a recording, in order, and for how long each of its clients was there. */
export async function readTraffic(file) {
  const said = [];
  const thereUs = new Map();
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { t: atUs, client, ev, m } = JSON.parse(line);
    if (ev === 'open') thereUs.set(client, -atUs);
    if (ev === 'close') thereUs.set(client, thereUs.get(client) + atUs);
    const { name, values } = argumentsIn(m) ?? {};
    if (name === undefined) continue;
    const isCall = ev === 'out';
    const sizes = [bytesOf(values), ...values.map(bytesOf)];
    const what = isCall ? name : `callback ${name}`;
    said.push({ atUs, client, isCall, name, what, with: values[0], sizes });
  }
  const presentMinutes = [...thereUs.values()].reduce((sum, us) => sum + us, 0) / 60e6;
  return { said, thereUs, presentMinutes };
}

/**
 * Where in a session to begin to count, so that nobody is about to say it then or has just said it: by name, parts of a session, below
 * one n-th. A session that is a little longer or shorter must not take one over the edge.
 *
 * @param recorded clients with one session each
 * @param connections of a run, whose sessions begin evenly
 */
export function quietTimes({ said, thereUs }, connections) {
  const begunUs = new Map();
  const partsOf = new Map();
  for (const { atUs, client, isCall, what } of said) {
    if (isCall && !begunUs.has(client)) begunUs.set(client, atUs);
    const part = (atUs - begunUs.get(client)) / thereUs.get(client);
    if (part >= 0) partsOf.set(what, [...(partsOf.get(what) ?? []), part % (1 / connections)]);
  }
  return new Map([...partsOf].map(([what, parts]) => [what, middleOfGap(parts, 1 / connections)]));
}

/** Of the longest between two of these parts of a circle. */
function middleOfGap(parts, circle) {
  const sorted = parts.toSorted((a, b) => a - b);
  const gaps = sorted.map((from, at) => ({
    from,
    length: (sorted[at + 1] ?? sorted[0] + circle) - from,
  }));
  const { from, length } = gaps.reduce((a, b) => (b.length > a.length ? b : a));
  return (from + length / 2) % circle;
}

/** Callbacks that go to the others in a room when somebody comes or goes. */
const causeOf = { Joined: 'JoinRoom', Left: 'LeaveRoom' };

/** What the hubs of this product say to each client that connects. */
const greeting = 'OnConnected';

/** How many others were in the room at each call that lets somebody come or go. */
class Rooms {
  heard = new Map(Object.values(causeOf).map((cause) => [cause, 0]));
  #rooms = new Map();

  add({ client, isCall, name, with: room }, isIn) {
    if (!isCall || !this.heard.has(name)) return;
    const there = this.#rooms.get(room) ?? new Set();
    this.#rooms.set(room, there);
    there.delete(client);
    if (isIn) this.heard.set(name, this.heard.get(name) + there.size);
    if (name === causeOf.Joined) there.add(client);
  }
}

/**
 * How often and how large, by name: `sizes` are the mean bytes of all arguments, and of each. Most are counted by the minutes that
 * clients were there. What comes on coming and going, by how many others were there to hear it: a room that fills and empties has
 * fewer of them than one in which people come and go all the time. A greeting by clients: in a run each has one session after the
 * other.
 *
 * @param isCounted whether what has this name is counted at that time
 */
export function rowsOf(said, minutes, isCounted = () => true) {
  const rows = new Map();
  const rooms = new Rooms();
  const clients = new Set(said.map(({ client }) => client));
  for (const each of said) {
    const { atUs, isCall, name, what, sizes } = each;
    const isGreeting = name === greeting;
    const cause = isCall ? undefined : causeOf[name];
    const isIn = isCounted(cause ?? what, atUs);
    rooms.add(each, isIn);
    if (!isIn && !isGreeting) continue;
    const row = rows.get(what) ?? { isGreeting, cause, times: 0, sizes: sizes.map(() => 0) };
    rows.set(what, row);
    row.times += 1;
    for (const [at, bytes] of sizes.entries()) row.sizes[at] += bytes;
  }
  return new Map(
    [...rows].map(([what, { isGreeting, cause, times, sizes }]) => {
      const mean = sizes.map((bytes) => bytes / times);
      if (isGreeting)
        return [what, { per: 'each client', rate: times / clients.size, sizes: mean }];
      if (cause === undefined) return [what, { rate: times / minutes, sizes: mean }];
      const rate = times / rooms.heard.get(cause);
      return [what, { per: `each who is there at ${cause}`, rate, sizes: mean }];
    }),
  );
}

/**
 * What of the recording is otherwise in a run: of each call and callback the rate, and the size of all arguments and of each.
 *
 * @returns for each its name, whether `rate` or `size`, and which share more it is
 */
export function differences(recorded, found) {
  const all = [];
  for (const [name, { rate, sizes }] of recorded) {
    const again = found.get(name);
    all.push({ name, of: 'rate', share: (again?.rate ?? 0) / rate - 1 });
    for (const [at, bytes] of sizes.entries()) {
      const share = (again?.sizes[at] ?? 0) / bytes - 1;
      all.push({ name: at === 0 ? name : `${name}, argument ${at}`, of: 'size', share });
    }
  }
  for (const name of found.keys())
    if (!recorded.has(name)) all.push({ name, of: 'rate', share: Infinity });
  return all;
}

export const percent = (share) => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(1)} %`;
