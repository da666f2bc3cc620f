import { addCount } from '../base/collect';
import {
  hubMessageType,
  type Completion,
  type Invocation,
  type StreamInvocation,
  type StreamItem,
} from '../wire/message/hubMessage';
import {
  isHubMessage,
  type Direction,
  type MessageEvent,
  type OpenEvent,
  type RawEvent,
  type RecordedPubSub,
  type Recording,
} from './recording';

/** One client of a recording. Times are microseconds. */
export interface RecordedConversation<Call = never> {
  readonly open: OpenEvent;
  lastUs: number;
  closedUs?: number;
  readonly unanswered: Map<string, Call>;
}

export interface RecordingListener<Client extends RecordedConversation<Call>, Call = never> {
  /** What was not read, and how often. */
  readonly leftOut: Map<string, number>;
  readonly isFull?: boolean;
  opened(open: OpenEvent): Client | undefined;
  /** Any hub message but pings. */
  counted?(bytes: number): void;
  /** Undefined: the call and its answer are left out. */
  called?(client: Client, call: Invocation | StreamInvocation, atUs: number): Call | undefined;
  /** @param call undefined when it has ended, or was left out */
  cancelled?(client: Client, call: Call | undefined, atUs: number): void;
  /** An item or the end of a client's stream, or an answer to the hub. */
  wentUp?(client: Client, message: StreamItem | Completion, atUs: number): void;
  heard?(client: Client, callback: Invocation, atUs: number): void;
  itemCame?(client: Client, call: Call, item: StreamItem, atUs: number): void;
  answered?(client: Client, call: Call, answer: Completion, atUs: number): void;
  message?(client: Client, direction: Direction, message: RecordedPubSub, atUs: number): void;
  notUnderstood?(client: Client, event: RawEvent): void;
}

export const newConversation = <Call = never>(open: OpenEvent): RecordedConversation<Call> => ({
  open,
  lastUs: open.t,
  unanswered: new Map(),
});

export async function readConversations<Client extends RecordedConversation<Call>, Call = never>(
  { header, events }: Recording,
  listener: RecordingListener<Client, Call>,
): Promise<{ readonly clients: readonly Client[]; readonly endUs: number }> {
  const clients = new Map<number, Client>();
  let endUs = 0;
  for await (const event of events) {
    endUs = Math.max(endUs, event.t);
    if (event.ev === 'gap') {
      addCount(listener.leftOut, 'event that was not recorded in time', event.events);
      continue;
    }
    if (event.ev === 'open') {
      const opened = listener.opened(event);
      if (opened !== undefined) clients.set(event.client, opened);
      continue;
    }
    const client = clients.get(event.client);
    if (client === undefined) continue;
    client.lastUs = event.t;
    if (event.ev === 'close') {
      client.closedUs ??= event.t;
      client.unanswered.clear();
    } else if ('raw' in event) {
      listener.notUnderstood?.(client, event);
    } else if (listener.isFull === true) {
      addCount(listener.leftOut, 'everything behind the first part, which is analysed');
      break;
    } else if (isHubMessage(event.m) === (header.kind === 'webpubsub')) {
      addCount(listener.leftOut, 'message of another service');
    } else {
      passMessage(client, event, listener);
    }
  }
  return { clients: [...clients.values()], endUs };
}

function passMessage<Client extends RecordedConversation<Call>, Call>(
  client: Client,
  { ev, m, t, bytes }: MessageEvent,
  listener: RecordingListener<Client, Call>,
): void {
  const { invocation, streamInvocation, streamItem, completion, cancelInvocation } = hubMessageType;
  if (!isHubMessage(m)) {
    listener.message?.(client, ev, m, t);
    return;
  }
  const { unanswered } = client;
  if (m.type <= cancelInvocation) listener.counted?.(bytes);
  if (m.type === invocation || m.type === streamInvocation) {
    const called = ev === 'out' ? listener.called?.(client, m, t) : undefined;
    if (called !== undefined && m.invocationId !== undefined)
      unanswered.set(m.invocationId, called);
    if (ev === 'in' && m.type === invocation) listener.heard?.(client, m, t);
  } else if (m.type === streamItem || m.type === completion) {
    const call = unanswered.get(m.invocationId);
    if (ev === 'out') listener.wentUp?.(client, m, t);
    else if (call !== undefined && m.type === streamItem) listener.itemCame?.(client, call, m, t);
    else if (call !== undefined && m.type === completion) {
      unanswered.delete(m.invocationId);
      listener.answered?.(client, call, m, t);
    }
  } else if (m.type === cancelInvocation && ev === 'out')
    listener.cancelled?.(client, unanswered.get(m.invocationId), t);
}
