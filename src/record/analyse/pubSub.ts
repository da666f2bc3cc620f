import { addCount } from '../../base/collect';
import { plural, formatCount, formatDurationMs } from '../../base/units';
import { stampBytes } from '../../base/message';
import { textBytes } from '../../usecases/ownArguments';
import {
  newConversation,
  readConversations,
  type RecordingListener,
  type RecordedConversation,
} from '../readConversations';
import type { Direction, OpenEvent, RawEvent, RecordedPubSub, Recording } from '../recording';
import { commonFindings, type Findings, type FoundCall } from './findings';
import { durationText, pauseWords } from './writeSteps';
import { meanOf, weightedSizesText, sizeRangeWords, spreadOf, weightedSizes } from './spread';
import { pubSubConfig, connectionShares } from '../clientsConfig';
import { planConnections, totalStayUs, type ConnectionShare } from './connectionPlan';
import { CommentedMap, CommentedValue } from '../yamlText';
import { urlWithoutKeys } from './values';
import { yamlText } from '../yamlText';

/**
 * Clients of Azure Web PubSub have no sessions. What they send to groups becomes the use case `sendToGroup`, their events
 * `echo`.
 */
interface PubSubClient extends RecordedConversation {
  readonly groups: Set<string>;
  readonly sent: Readonly<Record<SentType, { readonly atUs: number[]; readonly bytes: number[] }>>;
}

const useCases = { sendToGroup: 'sendToGroup', event: 'echo' } as const;
type SentType = keyof typeof useCases;
const sentTypes = Object.keys(useCases) as SentType[];
const isSent = (type: string): type is SentType => type in useCases;

/** Means that differ by less count as equal. */
const alike = 0.05;

const mostMessages = 1_000_000;

type PubSubTrace = PubSubListener & {
  readonly clients: readonly PubSubClient[];
  readonly endUs: number;
};

export async function pubSubScenario(
  recording: Recording,
): Promise<{ readonly yaml?: string; readonly found: Findings }> {
  const listener = new PubSubListener();
  const trace = Object.assign(listener, await readConversations(recording, listener));
  const sending = sentTypes.flatMap((type): Sending[] => {
    const senders = trace.clients.filter(({ sent }) => sent[type].atUs.length > 0);
    return senders.length === 0 ? [] : [{ type, senders }];
  });
  const found = findingsOf(recording, trace, sending);
  if (sending.length === 0) return { found };
  return { yaml: yamlText(head(found), fileOf(trace, sending)), found };
}

interface Sending {
  readonly type: SentType;
  readonly senders: readonly PubSubClient[];
}

class PubSubListener implements RecordingListener<PubSubClient> {
  readonly groups = new Set<string>();
  readonly seen = new Map<string, number>();
  readonly events = new Map<string, number>();
  readonly leftOut = new Map<string, number>();
  messages = 0;

  get isFull(): boolean {
    return this.messages >= mostMessages;
  }

  opened(open: OpenEvent): PubSubClient {
    const sent = { sendToGroup: { atUs: [], bytes: [] }, event: { atUs: [], bytes: [] } };
    return { ...newConversation(open), groups: new Set(), sent };
  }

  message(client: PubSubClient, direction: Direction, message: RecordedPubSub, atUs: number): void {
    this.messages += 1;
    const { type, group = '', event } = message;
    if (direction === 'in') {
      if (type === 'message') addCount(this.seen, type);
      return;
    }
    if (!knownTypes.has(type)) {
      if (!quietTypes.has(type)) addCount(this.leftOut, `message of type ${type.slice(0, 60)}`);
      return;
    }
    addCount(this.seen, type);
    if (type === 'event') addCount(this.events, String(event).slice(0, 60));
    else for (const groups of [this.groups, client.groups]) groups.add(group);
    if (!isSent(type)) return;
    client.sent[type].atUs.push(atUs);
    client.sent[type].bytes.push(sizeOf(message));
  }

  notUnderstood(_client: PubSubClient, { why }: RawEvent): void {
    addCount(this.leftOut, `message that was not understood: ${why}`);
  }
}

function findingsOf(
  { header }: Recording,
  trace: PubSubTrace,
  sending: readonly Sending[],
): Findings {
  const { clients, seen, events, endUs } = trace;
  const calls: FoundCall[] = [...knownTypes].flatMap(([method, as]) => {
    const count = seen.get(method);
    if (method === 'event')
      return [...events].map(([name, times]) => ({ method: `event ${name}`, count: times, as }));
    return count === undefined ? [] : [{ method, count, as }];
  });
  const heard = seen.get('message');
  return {
    target: urlWithoutKeys(withoutQuery(header.target)),
    ...commonFindings(header, clients, trace),
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

function sizeOf({ data, dataType }: RecordedPubSub): number {
  if (typeof data !== 'string') return textBytes(data === undefined ? '' : JSON.stringify(data));
  return dataType === 'text' || dataType === 'json'
    ? textBytes(data)
    : Math.floor((data.length * 3) / 4);
}

/**
 * Bytes of a message beside its payload, see `recordLatencyShape`: stamp, group, time and their keys. The quotes of the
 * payload are not counted: text has them too.
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

function fileOf(trace: PubSubTrace, sending: readonly Sending[]): CommentedMap {
  const { clients: all } = trace;
  // A connection sends one kind of message: where clients sent several, fewer connections of each kind send more often.
  const { connections, words, parts } = planConnections(
    trace,
    sending.map(({ senders }) => senders),
    false,
  );
  const shares = connectionShares(
    parts.map((part) => part.connections),
    connections,
  );
  const senders = new Set(sending.flatMap((each) => each.senders)).size;
  const entries = sending.map((each, at) => keysOf(trace, each, parts[at]!, shares[at]));
  const beside = [
    words,
    ...(senders < all.length ? [`${all.length - senders} only listened`] : []),
  ];
  return new CommentedMap({
    config: new CommentedMap({
      ...pubSubConfig(all.map(({ open }) => open)),
      connections: new CommentedValue(connections, `${beside.join(', ')}; raise it`),
      singleStepDuration: '60s',
    }),
    ...(sending.length === 1 && shares[0] === undefined
      ? { scenario: entries[0] }
      : { scenarios: entries }),
  });
}

function keysOf(
  { clients: all, groups: { size: groups }, endUs }: PubSubTrace,
  { type, senders }: Sending,
  { times }: ConnectionShare,
  share: string | undefined,
): CommentedMap {
  const recorded = senders.flatMap(({ sent }) => sent[type].bytes);
  const beside = besideBytes(type);
  const bytes = recorded.map((each) => Math.max(1, each - beside));
  const weighted = weightedSizes(bytes);
  const sizes = `data of ${sizeRangeWords(spreadOf(recorded))}; in a run ${beside} B of it are stamp, ${type === 'sendToGroup' ? 'group ' : ''}and time`;
  const gaps = senders.flatMap(({ sent: { [type]: own } }) =>
    own.atUs.slice(1).map((atUs, index) => atUs - own.atUs[index]!),
  );
  const thereUs = senders.map(({ open, closedUs }) => (closedUs ?? endUs) - open.t);
  const pauses = spreadOf(gaps.length > 0 ? gaps : thereUs);
  // Clients that read before the first and after the last message send less often than the gaps say.
  const everyUs = Math.max(pauses.mean, totalStayUs(senders, endUs) / recorded.length);
  const reading =
    everyUs > pauses.mean * (1 + alike) ? '; more with the time before and behind' : '';
  const perConnection = Math.max(1, Math.round(meanOf(all.map(({ groups: own }) => own.size))));
  const often = times < 1 ? '; the connections share it' : '';
  const isToGroups = type === 'sendToGroup';
  const handlerWords =
    'Events: in a run a handler (config.upstream) sends each back, on the emulator by itself.';
  return new CommentedMap({
    name: isToGroups
      ? useCases[type]
      : new CommentedValue(useCases[type], undefined, [handlerWords]),
    senders: share && new CommentedValue(share, 'of the connections'),
    parameters: new CommentedMap({
      ...(weighted === undefined
        ? { messageSize: new CommentedValue(Math.round(meanOf(bytes)), sizes) }
        : { messageSizes: new CommentedValue(weightedSizesText(weighted), sizes) }),
      sendingInterval: new CommentedValue(
        durationText(Math.max(1, (everyUs * times) / 1000)),
        `${pauseWords(pauses)}${reading}${often}`,
      ),
      groupCount: isToGroups
        ? new CommentedValue(Math.min(groups, all.length), 'groups that were seen')
        : undefined,
      groupsPerConnection: isToGroups && perConnection > 1 ? perConnection : undefined,
    }),
  });
}

function head(found: Findings): string[] {
  const { target, startedAt, seconds, protocols, notRecognised, calls } = found;
  const lost = notRecognised.map(({ what, count: times }) => `${formatCount(times)} × ${what}`);
  const sent = calls.map(({ method, count: times }) => `${formatCount(times)} ${method}`);
  return [
    `Recorded ${startedAt.slice(0, 10)} from ${target}: ${plural(found.clients, 'client')}, ${formatDurationMs(seconds * 1000)}, ${plural(found.messages, 'message')} (${protocols.join(', ')}).`,
    `Recognised: ${sent.join(', ')}.`,
    ...(lost.length === 0 ? [] : [`Not recognised: ${lost.join('; ')}.`]),
  ];
}

const withoutQuery = (url: string): string => url.split(/[?#]/, 1)[0]!;
