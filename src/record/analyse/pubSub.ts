import { formatCount, formatDurationMs } from '../../base/units';
import { textBytes } from '../../usecases/ownArguments';
import { isHubMessage, type OpenEvent, type RecordedPubSub, type Recording } from '../recording';
import type { Found, FoundCall } from './found';
import { durationText, pauseWords, sizeWords } from './plannedSteps';
import { sizedText, spreadOf, weightedSizes } from './spread';
import { pubSubConfig, sharesOf } from '../clientsConfig';
import { Keys, type WrittenKey } from '../writtenKeys';
import { urlWithoutKeys } from './values';
import { yamlText } from './yamlText';

/**
 * Clients of Azure Web PubSub have no calls that a session is made of. What they send to groups becomes the
 * use case `sendToGroup`, with its sizes and rates; everything else is said.
 */
interface PubSubClient {
  readonly open: OpenEvent;
  closedUs?: number;
  readonly groups: Set<string>;
  readonly sentAtUs: number[];
  readonly sizes: number[];
}

/** What is analysed at most. */
const mostMessages = 1_000_000;

interface PubSubTrace {
  readonly clients: readonly PubSubClient[];
  readonly groups: ReadonlySet<string>;
  /** What clients asked for, by type of message; `message` is what they heard. */
  readonly seen: ReadonlyMap<string, number>;
  readonly leftOut: ReadonlyMap<string, number>;
  readonly messages: number;
  readonly endUs: number;
}

export async function pubSubScenario(
  recording: Recording,
): Promise<{ readonly yaml?: string; readonly found: Found }> {
  const trace = await pubSubTrace(recording);
  const senders = trace.clients.filter(({ sentAtUs }) => sentAtUs.length > 0);
  const found = foundIn(recording, trace, senders.length);
  if (senders.length === 0) return { found };
  return { yaml: yamlText(head(found), fileOf(trace, senders)), found };
}

async function pubSubTrace({ events }: Recording): Promise<PubSubTrace> {
  const clients = new Map<number, PubSubClient>();
  const leftOut = new Map<string, number>();
  const seen = new Map<string, number>();
  const count = (counts: Map<string, number>, what: string, times = 1): unknown =>
    counts.set(what, (counts.get(what) ?? 0) + times);
  const groups = new Set<string>();
  let [messages, endUs] = [0, 0];
  for await (const event of events) {
    endUs = Math.max(endUs, event.t);
    if (event.ev === 'open')
      clients.set(event.client, { open: event, groups: new Set(), sentAtUs: [], sizes: [] });
    const client = clients.get(event.client);
    if (event.ev === 'gap') count(leftOut, 'event that was not recorded in time', event.events);
    else if (client === undefined || event.ev === 'open') continue;
    else if (event.ev === 'close') client.closedUs ??= event.t;
    else if ('raw' in event) count(leftOut, `message that was not understood: ${event.why}`);
    else if (messages >= mostMessages) {
      count(leftOut, 'everything behind the first part, which is analysed');
      break;
    } else if (!isHubMessage(event.m)) {
      messages += 1;
      const { type, group } = event.m;
      const known = event.ev === 'out' ? groupTypes.has(type) : type === 'message';
      if (known) count(seen, type);
      else if (event.ev === 'out' && !quietTypes.has(type)) count(leftOut, wordsOf(event.m));
      if (event.ev === 'in' || !known) continue;
      groups.add(group ?? '');
      client.groups.add(group ?? '');
      if (type !== 'sendToGroup') continue;
      client.sentAtUs.push(event.t);
      client.sizes.push(sizeOf(event.m));
    }
  }
  return { clients: [...clients.values()], groups, seen, leftOut, messages, endUs };
}

const wordsOf = ({ type, event }: RecordedPubSub): string =>
  type === 'event'
    ? `event "${String(event).slice(0, 60)}" to the application behind the service; what it answers is its own, see the use case echo`
    : `message of type ${type.slice(0, 60)}`;

function foundIn({ header }: Recording, trace: PubSubTrace, senders: number): Found {
  const { clients, seen, leftOut, messages, endUs } = trace;
  const calls: FoundCall[] = [...groupTypes].flatMap(([method, as]) => {
    const count = seen.get(method);
    return count === undefined ? [] : [{ method, count, as }];
  });
  const heard = seen.get('message');
  const kind = { clients: senders, sessions: senders, unfinished: 0, calls: ['sendToGroup'] };
  return {
    ...{
      target: urlWithoutKeys(withoutQuery(header.target)),
      startedAt: header.startedAt,
      kind: header.kind,
    },
    transports: [...new Set(clients.map(({ open }) => open.transport))],
    protocols: [...new Set(clients.map(({ open }) => open.protocol))],
    ...{ clients: clients.length, clientsAtOnce: mostAtOnce(clients) },
    ...{ seconds: endUs / 1_000_000, messages },
    kinds: senders === 0 ? [] : [kind],
    calls,
    callbacks:
      heard === undefined
        ? []
        : [
            {
              ...{ target: 'message', count: heard, perSecond: heard / (Math.max(1, endUs) / 1e6) },
              ...{ recognised: senders > 0, as: 'to the group' },
            },
          ],
    notRecognised: [...leftOut].map(([what, count]) => ({ what, count })),
    secrets: senders === 0 ? [] : ['webpubsub'],
  };
}

const groupTypes: ReadonlyMap<string, string> = new Map([
  ['joinGroup', 'done before the load'],
  ['sendToGroup', 'the use case sendToGroup'],
  ['leaveGroup', 'done after the load'],
]);
const quietTypes: ReadonlySet<string> = new Set(['sequenceAck', 'ping', 'pong']);

/** Of the data as the client gave it. */
function sizeOf({ data, dataType }: RecordedPubSub): number {
  if (typeof data !== 'string') return textBytes(data === undefined ? '' : JSON.stringify(data));
  return dataType === 'text' || dataType === 'json'
    ? textBytes(data)
    : Math.floor((data.length * 3) / 4);
}

function fileOf(
  { clients: all, groups: { size: groups }, endUs }: PubSubTrace,
  senders: readonly PubSubClient[],
): Keys {
  const { length: count } = all;
  const allSizes = senders.flatMap((client) => client.sizes);
  const sizes = spreadOf(allSizes);
  const weighted = weightedSizes(allSizes);
  const gaps = senders.flatMap(({ sentAtUs }) =>
    sentAtUs.slice(1).map((atUs, index) => atUs - sentAtUs[index]!),
  );
  // With one message each, the time that they were there.
  const intervals =
    gaps.length > 0 ? gaps : senders.map(({ open, closedUs }) => (closedUs ?? endUs) - open.t);
  const interval = spreadOf(intervals);
  const perConnection = Math.max(1, Math.round(mean(all.map(({ groups: own }) => own.size))));
  const parameters: Record<string, WrittenKey> = {
    ...(weighted === undefined
      ? { messageSize: { value: Math.max(1, Math.round(sizes.mean)), beside: sizeWords(sizes) } }
      : { messageSizes: { value: sizedText(weighted), beside: sizeWords(sizes) } }),
    sendingInterval: {
      value: durationText(Math.max(1, interval.mean / 1000)),
      beside: pauseWords(interval),
    },
    groupCount: { value: Math.min(groups, count), beside: 'groups that were seen' },
    ...(perConnection > 1 && { groupsPerConnection: { value: perConnection } }),
  };
  const config: Record<string, WrittenKey> = {
    ...pubSubConfig(all.map(({ open }) => open)),
    connections: {
      value: count,
      beside: `the clients that were seen${senders.length < count ? `, ${count - senders.length} only listened` : ''}; raise it`,
    },
    singleStepDuration: { value: '60s' },
  };
  const [share] = sharesOf([senders.length], count);
  const sending = new Keys({
    name: { value: 'sendToGroup' },
    ...(share !== undefined && { senders: { value: share, beside: 'of the connections' } }),
    parameters: { value: new Keys(parameters) },
  });
  return new Keys({
    config: { value: new Keys(config) },
    ...(share === undefined
      ? { scenario: { value: sending } }
      : { scenarios: { value: [sending] } }),
  });
}

function head({
  target,
  startedAt,
  clients,
  seconds,
  messages,
  protocols,
  notRecognised,
  calls,
}: Found): string[] {
  const lost = notRecognised.map(({ what, count }) => `${formatCount(count)} × ${what}`);
  return [
    `Recorded ${startedAt.slice(0, 10)} from ${target}: ${formatCount(clients)} ${clients === 1 ? 'client' : 'clients'}, ${formatDurationMs(seconds * 1000)}, ${formatCount(messages)} messages (${protocols.join(', ')}).`,
    `Recognised: ${calls.map(({ method, count }) => `${formatCount(count)} ${method}`).join(', ')}.`,
    ...(lost.length === 0 ? [] : [`Not recognised: ${lost.join('; ')}.`]),
  ];
}

const withoutQuery = (url: string): string => url.split(/[?#]/, 1)[0]!;

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, each) => sum + each, 0) / Math.max(1, numbers.length);

/** How many of these clients were there at the same time, at most. */
export function mostAtOnce(
  clients: readonly { readonly open: OpenEvent; readonly closedUs?: number }[],
): number {
  let [most, there] = [0, 0];
  const changes = clients
    .flatMap(({ open, closedUs = Infinity }): [number, number][] => [
      [open.t, 1],
      [closedUs, -1],
    ])
    .sort(([a, x], [b, y]) => (a === b ? x - y : a - b));
  for (const [, change] of changes) most = Math.max(most, (there += change));
  return most;
}
