import type {
  ClientMessage,
  SendToGroup,
  WireId,
  Payload,
  MessageError,
} from '../../wire/webpubsub/pubSubMessage';
import { noMoreGroups } from '../hub/hubGroups';
import type { AnsweredUpstream, UpstreamAnswer } from '../service/upstreamCalls';
import { isGroupName } from '../service/emulator';
import { deliverTo, type Client, type PubSubHost, Delivery } from './client';
import { payloadOfBody, payloadProblem, userEvent, type EventSource } from './pubSubUpstream';

const errors = {
  forbidden: (what: string): MessageError => ({
    name: 'Forbidden',
    message: `The client does not have permission to ${what} this group.`,
  }),
  duplicate: { name: 'Duplicate', message: 'A request with this ackId was carried out already.' },
  noHandler: { name: 'NotFound', message: 'The hub has no event handler for this event.' },
  tooManyGroups: { name: 'BadRequest', message: noMoreGroups },
  noStreams: { name: 'BadRequest', message: 'This server has no streams.' },
};

export function carryOut(host: PubSubHost, client: Client, message: ClientMessage): void {
  switch (message.type) {
    case 'joinGroup':
    case 'leaveGroup': {
      if (!mayGoOn(client, 'joinLeaveGroup', message)) return;
      const isFull = message.type === 'joinGroup' && !client.hub.groups.join(client, message.group);
      if (message.type === 'leaveGroup') client.hub.groups.leave(client, message.group);
      acknowledge(client, message.ackId, isFull ? errors.tooManyGroups : undefined);
      break;
    }
    case 'sendToGroup':
      if (!mayGoOn(client, 'sendToGroup', message)) return;
      sendToGroup(host, client, message);
      acknowledge(client, message.ackId);
      break;
    case 'event': {
      const { event, ackId, payload } = message;
      if (ackId !== undefined && !client.isNewAck(ackId)) {
        acknowledge(client, ackId, errors.duplicate);
      } else if (!host.upstream.wants(client.hub.name, 'user', event)) {
        acknowledge(client, ackId, errors.noHandler);
      } else {
        raise(host, client, event, payload, ackId);
      }
      break;
    }
    case 'invoke':
      invoke(host, client, message);
      break;
    case 'sequenceAck':
      client.acknowledge(message.sequenceId);
      break;
    case 'ping':
      client.send({ type: 'pong' });
      break;
    case 'stream':
      client.send({ type: 'streamClosed', streamId: message.streamId, error: errors.noStreams });
      break;
    case 'cancelInvocation':
      // The handler has the event already; its answer is still reported.
      break;
  }
}

/** Whether a request about a group may be carried out; acknowledges it when not. */
function mayGoOn(
  client: Client,
  permission: 'joinLeaveGroup' | 'sendToGroup',
  { group, ackId }: { readonly group: string; readonly ackId: WireId | undefined },
): boolean {
  if (!isGroupName(group)) {
    client.end('The name of a group has 1 to 1,024 characters and is not blank.', 1007);
    return false;
  }
  if (!client.permissions.allows(permission, group)) {
    const what = permission === 'sendToGroup' ? 'send to' : 'join or leave';
    acknowledge(client, ackId, errors.forbidden(what));
    return false;
  }
  if (ackId !== undefined && !client.isNewAck(ackId)) {
    acknowledge(client, ackId, errors.duplicate);
    return false;
  }
  return true;
}

function acknowledge(client: Client, ackId: WireId | undefined, error?: MessageError): void {
  if (ackId === undefined) return;
  client.send({ type: 'ack', ackId, success: error === undefined, error });
}

function sendToGroup(
  host: PubSubHost,
  sender: Client,
  { group, noEcho, payload }: SendToGroup,
): void {
  const delivery = new Delivery({ from: 'group', group, fromUserId: sender.userId, payload });
  const isWanted = noEcho ? (client: Client) => client !== sender : undefined;
  host.delivered(deliverTo(sender.hub.groups.membersOf(group), delivery, isWanted));
}

function raise(
  host: PubSubHost,
  client: Client,
  event: string,
  payload: Payload,
  ackId?: WireId,
): void {
  ask(host, client, event, payload, (reply, error) => {
    acknowledge(client, ackId, error);
    if (error !== undefined) client.end(error.message);
    if (reply === undefined) return;
    client.deliver(new Delivery({ from: 'server', group: undefined, payload: reply }));
    host.delivered(1);
  });
}

/** A client without a subprotocol has said something: that is its event `message`. */
export function raiseMessage(host: PubSubHost, client: Client, payload: Payload): void {
  if (host.upstream.wants(client.hub.name, 'user', 'message'))
    raise(host, client, 'message', payload);
  else client.end('The hub has no event handler, and this client can only send events.');
}

function invoke(
  host: PubSubHost,
  client: Client,
  { invocationId, event, payload }: Extract<ClientMessage, { type: 'invoke' }>,
): void {
  const respond = (reply: Payload | undefined, error: MessageError | undefined): void =>
    client.send({
      type: 'invokeResponse',
      invocationId,
      success: error === undefined,
      payload: reply,
      error,
    });
  if (host.upstream.wants(client.hub.name, 'user', event))
    ask(host, client, event, payload, respond);
  else respond(undefined, errors.noHandler);
}

/** Asks the handler of the hub, once it has answered what the client has sent before. */
function ask(
  { upstream }: PubSubHost,
  client: Client,
  event: string,
  payload: Payload,
  answered: (reply: Payload | undefined, error: MessageError | undefined) => void,
): void {
  client.queueEvent(payload.bytes.length, async () => {
    const sent = await upstream.send(userEvent(event, payload), sourceOf(client));
    const answer = 'failure' in sent ? sent : goodAnswer(sent);
    if ('failure' in answer) {
      answered(undefined, { name: 'InternalServerError', message: answer.failure });
      return;
    }
    client.connectionState = stateIn(answer) ?? client.connectionState;
    answered(replyIn(answer), undefined);
  });
}

export const sourceOf = (client: Client): EventSource => ({
  hub: client.hub.name,
  connectionId: client.id,
  userId: client.userId,
  subprotocol: client.subprotocol?.name,
  connectionState: client.connectionState,
});

/** The answer, or why it is none to go on with. */
export function goodAnswer(answer: AnsweredUpstream): UpstreamAnswer {
  const { status } = answer;
  if (status < 200 || status > 299)
    return { failure: `The event handler answered with ${status}.` };
  const reply = replyIn(answer);
  const problem = reply && payloadProblem(reply);
  return problem === undefined
    ? answer
    : { failure: `The event handler answered with a body that is ${problem}.` };
}

export function stateIn({ headers }: AnsweredUpstream): string | undefined {
  const state = headers['ce-connectionstate'];
  return typeof state === 'string' ? state : undefined;
}

function replyIn({ status, headers, body }: AnsweredUpstream): Payload | undefined {
  if (status === 204 || body.length === 0) return undefined;
  return payloadOfBody(headers['content-type'], body);
}
