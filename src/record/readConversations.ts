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

/** Somebody who speaks in a recording. Times are microseconds since it began. */
export interface RecordedConversation<Call = never> {
  readonly open: OpenEvent;
  /** Of the last event. */
  lastUs: number;
  /** Absent when it was there at the end. */
  closedUs?: number;
  /** Calls that may still be answered, by their ids. */
  readonly unanswered: Map<string, Call>;
}

/** Gets what clients and their hub say to each other, in its order. */
export interface RecordingListener<Client extends RecordedConversation<Call>, Call = never> {
  /** What is not read, and how often it was seen. */
  readonly leftOut: Map<string, number>;
  /** Nothing more is wanted. */
  readonly isFull?: boolean;
  /** Undefined for a client that is left out. */
  opened(open: OpenEvent): Client | undefined;
  /** Any message but those that keep a connection going. */
  counted?(bytes: number): void;
  /** Undefined for a call that is left out, its answer as well. */
  called?(client: Client, call: Invocation | StreamInvocation, atUs: number): Call | undefined;
  /** @param call undefined when it is over, or was left out */
  cancelled?(client: Client, call: Call | undefined, atUs: number): void;
  /** An item of a stream of the client, its end, or an answer to the hub. */
  wentUp?(client: Client, message: StreamItem | Completion, atUs: number): void;
  heard?(client: Client, callback: Invocation, atUs: number): void;
  itemCame?(client: Client, call: Call, item: StreamItem, atUs: number): void;
  answered?(client: Client, call: Call, answer: Completion, atUs: number): void;
  /** Of Azure Web PubSub. */
  message?(client: Client, direction: Direction, message: RecordedPubSub, atUs: number): void;
  notUnderstood?(client: Client, event: RawEvent): void;
}

export const newConversation = <Call = never>(open: OpenEvent): RecordedConversation<Call> => ({
  open,
  lastUs: open.t,
  unanswered: new Map(),
});

/** Reads a recording once. */
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
