import type { IncomingMessage } from 'node:http';
import { isHubName } from '../../base/serviceTraits';
import {
  findSubprotocol,
  type ClientMessage,
  type SendToGroup,
  type WireId,
  type Payload,
  type MessageError,
} from '../../wire/webpubsub/pubSubMessage';
import { bearerToken, pathAndQuery } from '../http/loopbackServer';
import type { Refusal } from '../http/ownRequests';
import { maxGroupsPerConnection, tooManyGroupsText } from '../hub/hubGroups';
import {
  isGroupName,
  parseJson,
  decodePath,
  claimToStrings,
  stringClaims,
  type TokenClaims,
} from '../service/emulator';
import { type Admission, type PubSubHost, deliverTo, type PubSubClient, Delivery } from './client';
import {
  createSystemEvent,
  type PubSubUpstream,
  readPayload,
  payloadProblem,
  createUserEvent,
  type EventSource,
} from './pubSubUpstream';
import type { UpstreamResponse, UpstreamAnswer } from '../service/upstreamCalls';

export interface ConnectRequest {
  readonly hub: string;
  readonly query: URLSearchParams;
  readonly offered: readonly string[];
}

const notFound: Refusal = { status: 404, text: 'There is no client endpoint at this path.' };

export function parseConnectRequest(request: IncomingMessage): ConnectRequest | Refusal {
  const { path, query } = pathAndQuery(request);
  const inPath = /^\/client\/hubs\/([^/]+)\/?$/.exec(path)?.[1];
  if (inPath === undefined && !/^\/client\/?$/.test(path)) return notFound;
  const hubs = inPath === undefined ? query.getAll('hub') : (decodePath(inPath) ?? []);
  const [hub = ''] = hubs;
  if (hubs.length !== 1 || !isHubName(hub)) {
    return { status: 400, text: 'The URL has to name one hub.' };
  }
  const offered = (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return { hub, query, offered };
}

export async function authorizeConnect(
  host: PubSubHost,
  request: IncomingMessage,
  connect: ConnectRequest,
  connectionId: string,
): Promise<Admission | Refusal> {
  const { hub, query, offered } = connect;
  const token = bearerToken(request, query);
  const isAnonymous = token === undefined && host.allowAnonymous;
  // Tokens name the path even when the connect has the hub in its query.
  const urls = [...host.urlsOf(`/client/hubs/${hub}`), ...host.urlsOf(`/client/?hub=${hub}`)];
  const checked = isAnonymous ? { claims: {} } : await host.accessTokens.check(token, urls);
  if ('status' in checked) return checked;
  const { claims } = checked;
  const own = admissionOf(claims, offered);
  if (host.upstream.wants(hub, 'sys', 'connect')) {
    return askHandler(host.upstream, request, { ...connect, connectionId }, claims, own);
  }
  if (offered.length > 1) {
    const text = 'Only an event handler can choose between several subprotocols; offer one.';
    return { status: 400, text };
  }
  return own;
}

function admissionOf(claims: TokenClaims, offered: readonly string[]): Admission {
  const [userId] = stringClaims(claims['sub']);
  const subprotocol = offered.length === 1 ? findSubprotocol(offered[0]!) : undefined;
  return {
    userId,
    roles: stringClaims(claims['role']),
    groups: stringClaims(claims['webpubsub.group']).filter(isGroupName),
    protocolName: subprotocol?.name,
    subprotocol,
    connectionState: undefined,
  };
}

async function askHandler(
  upstream: PubSubUpstream,
  { headers }: IncomingMessage,
  { hub, query, offered, connectionId }: ConnectRequest & { readonly connectionId: string },
  claims: TokenClaims,
  own: Admission,
): Promise<Admission | Refusal> {
  const event = createSystemEvent('connect', {
    claims: listsOf(Object.entries(claims).map(([name, value]) => [name, claimToStrings(value)])),
    query: listsOf([...new Set(query.keys())].map((name) => [name, query.getAll(name)])),
    headers: listsOf(Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat()])),
    subprotocols: offered,
    clientCertificates: [],
  });
  const answer = await upstream.send(event, {
    hub,
    connectionId,
    userId: own.userId,
    subprotocol: own.subprotocol?.name,
    connectionState: undefined,
  });
  if ('failure' in answer) return { status: 500, text: answer.failure };
  const good = checkAnswer(answer);
  // 1xx and 3xx are no statuses for a client.
  if ('failure' in good)
    return { status: answer.status >= 400 ? answer.status : 500, text: good.failure };
  const admission = { ...own, connectionState: readConnectionState(answer) };
  if (answer.status === 204 || answer.body.length === 0) return admission;
  const changed = changedBy(answer.body, admission, offered);
  return typeof changed === 'string'
    ? { status: 500, text: `The event handler ${changed}.` }
    : changed;
}

const secret = ['authorization', 'access_token', 'cookie'];

const listsOf = (entries: readonly (readonly [string, readonly string[]])[]): object =>
  Object.fromEntries(entries.filter(([name]) => !secret.includes(name.toLowerCase())));

function changedBy(body: Buffer, own: Admission, offered: readonly string[]): Admission | string {
  const parsed = parseJson(body);
  if (typeof parsed !== 'object' || parsed === null)
    return 'answered connect with something unreadable';
  const { userId, roles, groups, subprotocol } = parsed as Record<string, unknown>;
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? value : undefined;
  const chosen = text(subprotocol);
  if (chosen !== undefined && !offered.includes(chosen))
    return 'chose a subprotocol that was not offered';
  const wanted = Array.isArray(groups) ? stringClaims(groups) : own.groups;
  if (Array.isArray(groups) && wanted.length > maxGroupsPerConnection)
    return 'put the client into too many groups';
  return {
    ...own,
    userId: text(userId) ?? own.userId,
    roles: Array.isArray(roles) ? stringClaims(roles) : own.roles,
    groups: wanted.filter(isGroupName),
    protocolName: chosen ?? own.protocolName,
    subprotocol: chosen === undefined ? own.subprotocol : findSubprotocol(chosen),
  };
}

const errors = {
  forbidden: (what: string): MessageError => ({
    name: 'Forbidden',
    message: `The client does not have permission to ${what} this group.`,
  }),
  duplicate: { name: 'Duplicate', message: 'A request with this ackId was carried out already.' },
  noHandler: { name: 'NotFound', message: 'The hub has no event handler for this event.' },
  tooManyGroups: { name: 'BadRequest', message: tooManyGroupsText },
  noStreams: { name: 'BadRequest', message: 'This server has no streams.' },
};

export function handleClientMessage(
  host: PubSubHost,
  client: PubSubClient,
  message: ClientMessage,
): void {
  switch (message.type) {
    case 'joinGroup':
    case 'leaveGroup': {
      if (!isAllowed(client, 'joinLeaveGroup', message)) return;
      const isFull = message.type === 'joinGroup' && !client.hub.groups.join(client, message.group);
      if (message.type === 'leaveGroup') client.hub.groups.leave(client, message.group);
      acknowledge(client, message.ackId, isFull ? errors.tooManyGroups : undefined);
      break;
    }
    case 'sendToGroup':
      if (!isAllowed(client, 'sendToGroup', message)) return;
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
        sendEvent(host, client, event, payload, ackId);
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
      break;
  }
}

function isAllowed(
  client: PubSubClient,
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

function acknowledge(client: PubSubClient, ackId: WireId | undefined, error?: MessageError): void {
  if (ackId === undefined) return;
  client.send({ type: 'ack', ackId, success: error === undefined, error });
}

function sendToGroup(
  host: PubSubHost,
  sender: PubSubClient,
  { group, noEcho, payload }: SendToGroup,
): void {
  const delivery = new Delivery({ from: 'group', group, fromUserId: sender.userId, payload });
  const isWanted = noEcho ? (client: PubSubClient) => client !== sender : undefined;
  host.countDelivered(deliverTo(sender.hub.groups.membersOf(group), delivery, isWanted));
}

function sendEvent(
  host: PubSubHost,
  client: PubSubClient,
  event: string,
  payload: Payload,
  ackId?: WireId,
): void {
  askEventHandler(host, client, event, payload, (reply, error) => {
    acknowledge(client, ackId, error);
    if (error !== undefined) client.end(error.message);
    if (reply === undefined) return;
    client.deliver(new Delivery({ from: 'server', group: undefined, payload: reply }));
    host.countDelivered(1);
  });
}

/** A frame of a simple client is its event `message`. */
export function sendMessageEvent(host: PubSubHost, client: PubSubClient, payload: Payload): void {
  if (host.upstream.wants(client.hub.name, 'user', 'message'))
    sendEvent(host, client, 'message', payload);
  else client.end('The hub has no event handler, and this client can only send events.');
}

function invoke(
  host: PubSubHost,
  client: PubSubClient,
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
    askEventHandler(host, client, event, payload, respond);
  else respond(undefined, errors.noHandler);
}

/** Events of a client go to the handler one after the other. */
function askEventHandler(
  { upstream }: PubSubHost,
  client: PubSubClient,
  event: string,
  payload: Payload,
  answered: (reply: Payload | undefined, error: MessageError | undefined) => void,
): void {
  client.enqueueEvent(payload.bytes.length, async () => {
    const sent = await upstream.send(createUserEvent(event, payload), eventSource(client));
    const answer = 'failure' in sent ? sent : checkAnswer(sent);
    if ('failure' in answer) {
      answered(undefined, { name: 'InternalServerError', message: answer.failure });
      return;
    }
    client.connectionState = readConnectionState(answer) ?? client.connectionState;
    answered(replyIn(answer), undefined);
  });
}

export const eventSource = (client: PubSubClient): EventSource => ({
  hub: client.hub.name,
  connectionId: client.id,
  userId: client.userId,
  subprotocol: client.subprotocol?.name,
  connectionState: client.connectionState,
});

/** @returns the answer, or why it cannot be used */
export function checkAnswer(answer: UpstreamResponse): UpstreamAnswer {
  const { status } = answer;
  if (status < 200 || status > 299)
    return { failure: `The event handler answered with ${status}.` };
  const reply = replyIn(answer);
  const problem = reply && payloadProblem(reply);
  return problem === undefined
    ? answer
    : { failure: `The event handler answered with a body that is ${problem}.` };
}

export function readConnectionState({ headers }: UpstreamResponse): string | undefined {
  const state = headers['ce-connectionstate'];
  return typeof state === 'string' ? state : undefined;
}

function replyIn({ status, headers, body }: UpstreamResponse): Payload | undefined {
  if (status === 204 || body.length === 0) return undefined;
  return readPayload(headers['content-type'], body);
}
