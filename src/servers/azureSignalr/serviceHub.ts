import { performance } from 'node:perf_hooks';
import { HubClients, SetsByKey, type HubMember, tooManyGroupsText } from '../hub/hubGroups';
import { type FrameSource, encodeOncePerProtocol } from '../hubProtocol/protocols';
import { type AppServerConnection, RoutedClient } from './appServerConnection';
import type { ClientIdentity } from './clientIdentity';
import {
  ackStatus,
  serviceType,
  type ServiceMessage,
  type Payloads,
  type ServiceMessageOf,
  type ServiceTypeNumber,
} from '../../wire/service/serviceMessage';
import { opcode } from '../../wire/socket/frame';
import { serverFrame } from '../hubProtocol/serverProtocol';
import { isGroupName, isUserId } from '../service/emulator';

export interface ServiceClient extends HubMember {
  readonly identity: ClientIdentity;
  readonly protocolName: string;
  write(frame: Buffer): void;
  close(error?: string, allowReconnect?: boolean): void;
}

export class ServiceHub extends HubClients<ServiceClient> {
  readonly userGroups: UserGroups;
  readonly servers = new Set<AppServerConnection>();
  private turn = 0;

  constructor(name: string, memberships: UserGroupCount) {
    super(name);
    this.userGroups = new UserGroups(memberships);
  }

  get isEmpty(): boolean {
    return this.clients.size === 0 && this.servers.size === 0 && this.userGroups.isEmpty;
  }

  get hasAppServer(): boolean {
    for (const { takesClients } of this.servers) if (takesClients) return true;
    return false;
  }

  /** The connection with the fewest clients; undefined when none can take the client. */
  chooseServer(wanted?: {
    readonly serverId: string;
    readonly isRequired: boolean;
  }): AppServerConnection | undefined {
    const ready = [...this.servers].filter(({ takesClients }) => takesClients);
    const own = ready.filter(({ serverId }) => serverId === wanted?.serverId);
    const candidates = own.length > 0 || wanted?.isRequired === true ? own : ready;
    const start = candidates.length === 0 ? 0 : this.turn++ % candidates.length;
    let best: AppServerConnection | undefined;
    for (let index = 0; index < candidates.length; index++) {
      const next = candidates[(start + index) % candidates.length]!;
      if (best === undefined || next.clients.size < best.clients.size) best = next;
    }
    return best;
  }

  /** Connections in the group, and connections of users in the group. */
  override inGroup(group: string): Iterable<ServiceClient> {
    const users = this.userGroups.users(group);
    if (users === undefined) return this.groups.membersOf(group);
    const members = new Set(this.groups.membersOf(group));
    for (const userId of users) {
      if (!this.userGroups.has(userId, group)) continue;
      for (const client of this.withUserId(userId)) members.add(client);
    }
    return members;
  }

  hasGroup(group: string): boolean {
    for (const _member of this.inGroup(group)) return true;
    return false;
  }

  send(receivers: Iterable<ServiceClient>, frames: FrameSource, isExcluded = isOneOf()): void {
    for (const client of receivers) {
      if (isExcluded(client)) continue;
      const frame = frames.forProtocol(client.protocolName);
      if (frame !== undefined) client.write(frame);
    }
  }
}

export function isOneOf(ids: readonly string[] = []): (client: ServiceClient) => boolean {
  if (ids.length === 0) return () => false;
  const set = new Set(ids);
  return ({ id }) => set.has(id);
}

const mostMemberships = 1_000_000;

interface UserGroupCount {
  used: number;
}

/** Group memberships of users, with an optional expiry. */
export class UserGroups {
  private readonly groupsOf = new Map<string, Map<string, number>>();
  private readonly usersOf = new SetsByKey<string>();

  constructor(private readonly memberships: UserGroupCount) {}

  get isEmpty(): boolean {
    return this.groupsOf.size === 0;
  }

  /** @param forS Infinity for no expiry. @returns false above the limit of memberships */
  add(userId: string, group: string, forS: number): boolean {
    const groups = this.groupsOf.get(userId) ?? new Map<string, number>();
    if (!groups.has(group)) {
      if (this.memberships.used >= mostMemberships) return false;
      this.memberships.used++;
    }
    this.groupsOf.set(userId, groups.set(group, performance.now() + forS * 1000));
    this.usersOf.add(group, userId);
    return true;
  }

  remove(userId: string, group: string): void {
    const groups = this.groupsOf.get(userId);
    if (groups?.delete(group) !== true) return;
    this.memberships.used--;
    if (groups.size === 0) this.groupsOf.delete(userId);
    this.usersOf.delete(group, userId);
  }

  removeAll(userId: string): void {
    for (const group of [...(this.groupsOf.get(userId)?.keys() ?? [])]) this.remove(userId, group);
  }

  has(userId: string, group: string): boolean {
    return (this.groupsOf.get(userId)?.get(group) ?? -Infinity) > performance.now();
  }

  /** Includes memberships that expired since the last {@link sweep}. */
  users(group: string): ReadonlySet<string> | undefined {
    return this.usersOf.get(group);
  }

  sweep(): void {
    const nowMs = performance.now();
    for (const [userId, groups] of this.groupsOf) {
      for (const [group, untilMs] of groups) if (untilMs <= nowMs) this.remove(userId, group);
    }
  }
}

type Ack = readonly [status: number, message: string];
const ok: Ack = [ackStatus.ok, ''];
const noConnection: Ack = [ackStatus.notFound, 'Connection does not exist'];
const noUser: Ack = [ackStatus.notFound, 'User does not exist'];
const fullGroups: Ack = [ackStatus.notFound, 'The emulator remembers no more users in groups'];
const tooManyGroups: Ack = [ackStatus.internalServerError, tooManyGroupsText];
const noUserId: Ack = [ackStatus.notFound, 'A user id has 1 to 1,024 characters'];
const noGroup: Ack = [ackStatus.notFound, 'Group does not exist'];
const notServed: Ack = [ackStatus.internalServerError, 'This emulator does not serve it.'];

interface RequestContext {
  readonly hub: ServiceHub;
  readonly from: AppServerConnection;
  readonly clientResults: ClientResults;
}

/** Ignores messages that only the service sends. */
export function serveRequest(message: ServiceMessage, asked: RequestContext): void {
  const serve = requestHandlers[message.type] as
    | RequestHandler<ServiceMessage, Ack | undefined>
    | undefined;
  const ack = serve?.(message, asked);
  if (ack === undefined || !('ackId' in message)) return;
  const [status, text] = ack;
  asked.from.send({ type: serviceType.ack, ackId: message.ackId, status, message: text });
}

type RequestHandler<Message, Answer = Ack> = (message: Message, asked: RequestContext) => Answer;

const relay = (
  { payloads }: Pick<ServiceMessageOf<10>, 'payloads'>,
  { hub }: RequestContext,
  receivers: Iterable<ServiceClient>,
  isExcluded?: (client: ServiceClient) => boolean,
): void => hub.send(receivers, payloadFrames(payloads), isExcluded);

const changing =
  (change: 'join' | 'leave'): RequestHandler<ServiceMessageOf<11 | 12 | 18 | 19>> =>
  ({ connectionId, groupName }, { hub }) => {
    const client = hub.clients.get(connectionId);
    if (client === undefined) return noConnection;
    if (!isGroupName(groupName)) return noGroup;
    return hub.groups[change](client, groupName) === false ? tooManyGroups : ok;
  };

const joinByUser: RequestHandler<ServiceMessageOf<16 | 26>> = (message, { hub }) => {
  const { userId, groupName, ttl = Infinity } = message;
  if (!isGroupName(groupName)) return noGroup;
  if (!isUserId(userId)) return noUserId;
  return hub.userGroups.add(userId, groupName, ttl) ? ok : fullGroups;
};
const leaveByUser: RequestHandler<ServiceMessageOf<17 | 27>> = ({ userId, groupName }, { hub }) => {
  if (groupName === undefined) hub.userGroups.removeAll(userId);
  else hub.userGroups.remove(userId, groupName);
  return ok;
};

function closed(
  clients: Iterable<ServiceClient>,
  { reason, ...others }: { reason?: string; excludedConnectionIds?: readonly string[] },
): Ack {
  const stays = isOneOf(others.excludedConnectionIds);
  // A copy, because closing removes clients from the collection.
  for (const client of [...clients]) if (!stays(client)) client.close(reason);
  return ok;
}

const requestHandlers: {
  readonly [Type in ServiceTypeNumber]?:
    | RequestHandler<ServiceMessageOf<Type>>
    | RequestHandler<ServiceMessageOf<Type>, void>;
} = {
  [serviceType.broadcastData]: (message, asked) =>
    relay(message, asked, asked.hub.clients.values(), isOneOf(message.excludedConnectionIds)),
  [serviceType.multiConnectionData]: (message, asked) =>
    relay(message, asked, asked.hub.withConnectionIds(message.connectionIds)),
  [serviceType.userData]: (message, asked) =>
    relay(message, asked, asked.hub.withUserId(message.userId)),
  [serviceType.multiUserData]: (message, asked) =>
    relay(message, asked, new Set(message.userIds.flatMap((id) => [...asked.hub.withUserId(id)]))),
  [serviceType.groupBroadcastData]: (message, asked) => {
    const isExcluded = isOneOf(message.excludedConnectionIds);
    const users = new Set(message.excludedUserIds);
    const stays = (client: ServiceClient) => isExcluded(client) || users.has(client.userId ?? '');
    relay(message, asked, asked.hub.inGroup(message.groupName), stays);
  },
  [serviceType.multiGroupBroadcastData]: (message, asked) => {
    for (const group of message.groupNames) relay(message, asked, asked.hub.inGroup(group));
  },
  [serviceType.ping]: answerPing,
  [serviceType.closeConnection]: ({ connectionId, errorMessage }, { hub }) =>
    hub.clients.get(connectionId)?.close(errorMessage || undefined),
  [serviceType.clientInvocation]: (message, { clientResults, hub, from }) =>
    clientResults.ask(hub, from, message),
  [serviceType.clientCompletion]: (message, { clientResults, from }) =>
    clientResults.answer(from, message),
  [serviceType.errorCompletion]: (message, { clientResults, from }) =>
    clientResults.answer(from, message),
  [serviceType.accessKeyRequest]: (_message, { from }) => {
    const errorType = 'NotSupported';
    const errorMessage = 'There is no Microsoft Entra ID in an emulator.';
    from.send({ type: serviceType.accessKeyResponse, errorType, errorMessage });
  },
  [serviceType.joinGroup]: changing('join'),
  [serviceType.joinGroupWithAck]: changing('join'),
  [serviceType.leaveGroup]: changing('leave'),
  [serviceType.leaveGroupWithAck]: changing('leave'),
  [serviceType.userJoinGroup]: joinByUser,
  [serviceType.userJoinGroupWithAck]: joinByUser,
  [serviceType.userLeaveGroup]: leaveByUser,
  [serviceType.userLeaveGroupWithAck]: leaveByUser,
  [serviceType.checkUserInGroupWithAck]: ({ userId, groupName }, { hub }) =>
    hub.userGroups.has(userId, groupName) ? ok : noUser,
  [serviceType.checkGroupExistenceWithAck]: ({ groupName }, { hub }) =>
    hub.hasGroup(groupName) ? ok : noGroup,
  [serviceType.checkConnectionExistenceWithAck]: ({ connectionId }, { hub }) =>
    hub.clients.has(connectionId) ? ok : noConnection,
  [serviceType.checkUserExistenceWithAck]: ({ userId }, { hub }) =>
    hub.withUserId(userId).size > 0 ? ok : noUser,
  [serviceType.closeConnectionWithAck]: (message, { hub }) =>
    closed(hub.withConnectionIds([message.connectionId]), message),
  [serviceType.closeConnectionsWithAck]: (message, { hub }) =>
    closed(hub.clients.values(), message),
  [serviceType.closeUserConnectionsWithAck]: (message, { hub }) =>
    closed(hub.withUserId(message.userId), message),
  [serviceType.closeGroupConnectionsWithAck]: (message, { hub }) =>
    closed(hub.inGroup(message.groupName), message),
  [serviceType.groupMemberQuery]: () => notServed,
  [serviceType.getConnectionClaims]: () => notServed,
};

/** .NET counts 100 ns from year 1; the SDK takes the newest list by it. */
const dotnetTicks = (): string => String(621_355_968_000_000_000n + BigInt(Date.now()) * 10_000n);

function answerPing({ messages }: ServiceMessageOf<3>, { hub, from }: RequestContext): void {
  const { clients, servers } = hub;
  const [key, value = ''] = messages;
  if (key === 'status') {
    const counts = ['clientcount', String(clients.size), 'servercount', String(servers.size)];
    from.ping('status', clients.size > 0 ? '1' : '0', ...counts);
  } else if (key === 'servers') {
    const ids = new Set([...servers].map(({ serverId }) => serverId));
    from.ping('servers', `${dotnetTicks()}:${[...ids].join(';')}`);
  } else if (key === 'shutdown' && value?.startsWith('fin:') === true) {
    from.leave();
    from.ping('shutdown', 'finack');
  }
}

/** The service forgets an unanswered invocation after this. */
const keptMs = 10 * 60_000;
const maxWaiting = 100_000;

/** Client results: invocations of clients by any app server. */
export class ClientResults {
  // Insertion order is the order of expiry.
  private readonly waiting = new Map<string, { asker: AppServerConnection; dueMs: number }>();

  constructor(private readonly instanceId: string) {}

  ask(hub: ServiceHub, asker: AppServerConnection, question: ServiceMessageOf<34>): void {
    const { invocationId, connectionId, callerServerId, payloads } = question;
    const client = hub.clients.get(connectionId);
    const frame = client && payloadFrames(payloads).forProtocol(client.protocolName);
    if (client === undefined || frame === undefined || this.waiting.size >= maxWaiting) {
      const error =
        client === undefined ? 'Connection does not exist' : 'The connection cannot be asked.';
      const type = serviceType.errorCompletion;
      asker.send({ type, invocationId, connectionId, callerServerId, error });
      return;
    }
    this.waiting.set(invocationId, { asker, dueMs: performance.now() + keptMs });
    const { instanceId } = this;
    asker.send({ type: serviceType.serviceMapping, invocationId, connectionId, instanceId });
    // The client's own app server must expect the completion.
    const line = client instanceof RoutedClient ? client.serverConnection : undefined;
    if (line !== undefined && line.serverId !== asker.serverId) line.send(question);
    client.write(frame);
  }

  answer(from: AppServerConnection, answer: ServiceMessageOf<35> | ServiceMessageOf<36>): void {
    const asker = this.waiting.get(answer.invocationId)?.asker;
    this.waiting.delete(answer.invocationId);
    // The asking app server has the completion already when the client is its own.
    if (asker === undefined || asker.serverId === from.serverId) return;
    asker.send({ ...answer, callerServerId: asker.serverId });
  }

  sweep(): void {
    const nowMs = performance.now();
    for (const [id, { asker, dueMs }] of this.waiting) {
      if (dueMs > nowMs && asker.isConnected) return;
      this.waiting.delete(id);
    }
  }
}

const payloadFrames = (payloads: Payloads = []): FrameSource =>
  encodeOncePerProtocol((protocolName) => {
    const payload = payloads.find(([name]) => name === protocolName)?.[1];
    if (payload === undefined || payload.length === 0) return undefined;
    return serverFrame(protocolName === 'json' ? opcode.text : opcode.binary, payload);
  });
