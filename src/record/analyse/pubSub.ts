import { formatCount, formatDurationMs } from '../../base/units';
import { stampBytes } from '../../base/message';
import { textBytes } from '../../usecases/ownArguments';
import { isHubMessage, type OpenEvent, type RecordedPubSub, type Recording } from '../recording';
import type { Found, FoundCall } from './found';
import { durationText, pauseWords } from './plannedSteps';
import { sizedText, sizeWords, spreadOf, weightedSizes } from './spread';
import { pubSubConfig, sharesOf } from '../clientsConfig';
import { crowdOf, mostAtOnce, presenceUs, type CrowdPart } from './crowd';
import { Keys, type WrittenKey } from '../writtenKeys';
import { urlWithoutKeys } from './values';
import { yamlText } from './yamlText';

/**
 * Clients of Azure Web PubSub have no calls that a session is made of. What they send to groups becomes the
 * use case `sendToGroup`, their events `echo`, with their sizes and rates; everything else is said.
 */
interface PubSubClient {
  readonly open: OpenEvent;
  closedUs?: number;
  readonly groups: Set<string>;
  readonly sent: Readonly<Record<SentType, { readonly atUs: number[]; readonly bytes: number[] }>>;
}

const useCases = { sendToGroup: 'sendToGroup', event: 'echo' } as const;
type SentType = keyof typeof useCases;
const sentTypes = Object.keys(useCases) as SentType[];
const isSent = (type: string): type is SentType => type in useCases;

/** Means that differ by less count as one. */
const alike = 0.05;

/** What is analysed at most. */
const mostMessages = 1_000_000;

interface PubSubTrace {
  readonly clients: readonly PubSubClient[];
  readonly groups: ReadonlySet<string>;
  /** What clients asked for, by type of message; `message` is what they heard. */
  readonly seen: ReadonlyMap<string, number>;
  /** Their names, with how many of each. */
  readonly events: ReadonlyMap<string, number>;
  readonly leftOut: ReadonlyMap<string, number>;
  readonly messages: number;
  readonly endUs: number;
}

export async function pubSubScenario(
  recording: Recording,
): Promise<{ readonly yaml?: string; readonly found: Found }> {
  const trace = await pubSubTrace(recording);
  const sending = sentTypes.flatMap((type): Sending[] => {
    const senders = trace.clients.filter(({ sent }) => sent[type].atUs.length > 0);
    return senders.length === 0 ? [] : [{ type, senders }];
  });
  const found = foundIn(recording, trace, sending);
  if (sending.length === 0) return { found };
  return { yaml: yamlText(head(found), fileOf(trace, sending)), found };
}

interface Sending {
  readonly type: SentType;
  readonly senders: readonly PubSubClient[];
}

async function pubSubTrace({ events }: Recording): Promise<PubSubTrace> {
  const clients = new Map<number, PubSubClient>();
  const leftOut = new Map<string, number>();
  const seen = new Map<string, number>();
  const named = new Map<string, number>();
  const count = (counts: Map<string, number>, what: string, times = 1): unknown =>
    counts.set(what, (counts.get(what) ?? 0) + times);
  const groups = new Set<string>();
  let [messages, endUs] = [0, 0];
  for await (const event of events) {
    endUs = Math.max(endUs, event.t);
    if (event.ev === 'open')
      clients.set(event.client, {
        ...{ open: event, groups: new Set() },
        sent: { sendToGroup: { atUs: [], bytes: [] }, event: { atUs: [], bytes: [] } },
      });
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
      const known = event.ev === 'out' ? knownTypes.has(type) : type === 'message';
      if (known) count(seen, type);
      else if (event.ev === 'out' && !quietTypes.has(type))
        count(leftOut, `message of type ${type.slice(0, 60)}`);
      if (event.ev === 'in' || !known) continue;
      if (type === 'event') count(named, String(event.m.event).slice(0, 60));
      else {
        groups.add(group ?? '');
        client.groups.add(group ?? '');
      }
      if (!isSent(type)) continue;
      client.sent[type].atUs.push(event.t);
      client.sent[type].bytes.push(sizeOf(event.m));
    }
  }
  return { clients: [...clients.values()], groups, seen, events: named, leftOut, messages, endUs };
}

function foundIn({ header }: Recording, trace: PubSubTrace, sending: readonly Sending[]): Found {
  const { clients, seen, events, leftOut, messages, endUs } = trace;
  const calls: FoundCall[] = [...knownTypes].flatMap(([method, as]) => {
    const count = seen.get(method);
    if (method === 'event')
      return [...events].map(([name, times]) => ({ method: `event ${name}`, count: times, as }));
    return count === undefined ? [] : [{ method, count, as }];
  });
  const heard = seen.get('message');
  return {
    ...{
      target: urlWithoutKeys(withoutQuery(header.target)),
      startedAt: header.startedAt,
      kind: header.kind,
    },
    transports: [...new Set(clients.map(({ open }) => open.transport))],
    protocols: [...new Set(clients.map(({ open }) => open.protocol))],
    ...{ clients: clients.length, clientsAtOnce: mostAtOnce(clients) },
    clientSeconds: presenceUs(clients, trace.endUs) / 1_000_000,
    ...{ seconds: endUs / 1_000_000, messages },
    kinds: sending.map(({ type, senders: { length } }) => ({
      ...{ clients: length, sessions: length, unfinished: 0, calls: [type] },
    })),
    calls,
    callbacks:
      heard === undefined
        ? []
        : [
            {
              ...{ target: 'message', count: heard, perSecond: heard / (Math.max(1, endUs) / 1e6) },
              ...{ recognised: sending.length > 0, as: 'to the group' },
            },
          ],
    notRecognised: [...leftOut].map(([what, count]) => ({ what, count })),
    secrets: sending.length === 0 ? [] : ['webpubsub'],
  };
}

const knownTypes: ReadonlyMap<string, string> = new Map([
  ['joinGroup', 'done before the load'],
  ['sendToGroup', 'the use case sendToGroup'],
  ['leaveGroup', 'done after the load'],
  ['event', 'the use case echo'],
]);
const quietTypes: ReadonlySet<string> = new Set(['sequenceAck', 'ping', 'pong']);

/** Of the data as the client gave it. */
function sizeOf({ data, dataType }: RecordedPubSub): number {
  if (typeof data !== 'string') return textBytes(data === undefined ? '' : JSON.stringify(data));
  return dataType === 'text' || dataType === 'json'
    ? textBytes(data)
    : Math.floor((data.length * 3) / 4);
}

/**
 * What the data of a message of a run has beside its payload, see `recordLatencyShape`: stamp, name of the group, time in milliseconds,
 * and their keys. Quotes of the payload are not counted: text has them too.
 */
const besideBytes = (type: SentType): number =>
  textBytes(
    JSON.stringify({
      'bench.Stamp': 'x'.repeat(stampBytes),
      ...(type === 'sendToGroup' && { 'information.GroupName': 'sendToGroup_01234567_0' }),
      'payload.Timestamp': 10 ** 12,
      'payload.MessageBlob': '',
    }),
  ) - '""'.length;

function fileOf(trace: PubSubTrace, sending: readonly Sending[]): Keys {
  const { clients: all } = trace;
  // Each connection sends one kind of message: where clients sent several, fewer of each do so more often.
  const { connections, words, parts } = crowdOf(
    trace,
    sending.map(({ senders }) => senders),
    false,
  );
  const shares = sharesOf(
    parts.map((part) => part.connections),
    connections,
  );
  const senders = new Set(sending.flatMap((each) => each.senders)).size;
  const entries = sending.map((each, at) => entryOf(trace, each, parts[at]!, shares[at]));
  const beside = [
    words,
    ...(senders < all.length ? [`${all.length - senders} only listened`] : []),
  ];
  const config: Record<string, WrittenKey> = {
    ...pubSubConfig(all.map(({ open }) => open)),
    connections: { value: connections, beside: `${beside.join(', ')}; raise it` },
    singleStepDuration: { value: '60s' },
  };
  return new Keys({
    config: { value: new Keys(config) },
    ...(sending.length === 1 && shares[0] === undefined
      ? { scenario: { value: entries[0] } }
      : { scenarios: { value: entries } }),
  });
}

function entryOf(
  { clients: all, groups: { size: groups }, endUs }: PubSubTrace,
  { type, senders }: Sending,
  { times }: CrowdPart,
  share: string | undefined,
): Keys {
  const recorded = senders.flatMap(({ sent }) => sent[type].bytes);
  const beside = besideBytes(type);
  const bytes = recorded.map((each) => Math.max(1, each - beside));
  const weighted = weightedSizes(bytes);
  const sizes = `data of ${sizeWords(spreadOf(recorded))}; in a run ${beside} B of it are stamp, ${type === 'sendToGroup' ? 'group ' : ''}and time`;
  const gaps = senders.flatMap(({ sent: { [type]: own } }) =>
    own.atUs.slice(1).map((atUs, index) => atUs - own.atUs[index]!),
  );
  const thereUs = senders.map(({ open, closedUs }) => (closedUs ?? endUs) - open.t);
  const pauses = spreadOf(gaps.length > 0 ? gaps : thereUs);
  // Who reads before and behind sends less often than the time between two messages says.
  const everyUs = Math.max(pauses.mean, presenceUs(senders, endUs) / recorded.length);
  const reading =
    everyUs > pauses.mean * (1 + alike) ? '; more with the time before and behind' : '';
  const perConnection = Math.max(1, Math.round(mean(all.map(({ groups: own }) => own.size))));
  const often = times < 1 ? '; the connections share it' : '';
  const parameters: Record<string, WrittenKey> = {
    ...(weighted === undefined
      ? { messageSize: { value: Math.round(mean(bytes)), beside: sizes } }
      : { messageSizes: { value: sizedText(weighted), beside: sizes } }),
    sendingInterval: {
      value: durationText(Math.max(1, (everyUs * times) / 1000)),
      beside: `${pauseWords(pauses)}${reading}${often}`,
    },
    ...(type === 'sendToGroup' && {
      groupCount: { value: Math.min(groups, all.length), beside: 'groups that were seen' },
      ...(perConnection > 1 && { groupsPerConnection: { value: perConnection } }),
    }),
  };
  return new Keys({
    name: {
      value: useCases[type],
      ...(type === 'event' && {
        above: [
          'Events: in a run a handler (config.upstream) sends each back, on the emulator by itself.',
        ],
      }),
    },
    ...(share !== undefined && { senders: { value: share, beside: 'of the connections' } }),
    parameters: { value: new Keys(parameters) },
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
