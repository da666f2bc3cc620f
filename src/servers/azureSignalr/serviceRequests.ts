import {
  ackStatus,
  serviceType,
  type ServiceMessage,
  type ServiceMessageOf,
} from '../../wire/service/serviceMessage';
import { noMoreGroups } from '../hub/hubGroups';
import type { ClientResults } from './clientResults';
import { PayloadSource, idIn, type ServiceClient, type ServiceHub } from './serviceHub';
import type { ServerConnection } from './appServerConnection';
import { isGroupName, isUserId } from './serviceNames';

/** What requests of app servers are served from. */
export interface ServiceRequestContext {
  readonly clientResults: ClientResults;
  nowMs(): number;
}

type Ack = readonly [status: number, message: string];
const ok: Ack = [ackStatus.ok, ''];
const noConnection: Ack = [ackStatus.notFound, 'Connection does not exist'];
const noUser: Ack = [ackStatus.notFound, 'User does not exist'];
const fullGroups: Ack = [ackStatus.notFound, 'The emulator remembers no more users in groups'];
const tooManyGroups: Ack = [ackStatus.internalServerError, noMoreGroups];
const noUserId: Ack = [ackStatus.notFound, 'A user id has 1 to 1,024 characters'];
const noGroup: Ack = [ackStatus.notFound, 'Group does not exist'];
const notServed: Ack = [ackStatus.internalServerError, 'This emulator does not serve it.'];

/** Serves what an app server asks for; messages that only the service sends are ignored. */
export function serveRequest(
  context: ServiceRequestContext,
  from: ServerConnection,
  message: ServiceMessage,
): void {
  const nowMs = context.nowMs();
  if (sends(nowMs, from, message) || answersPings(from, message)) return;
  if (message.type === serviceType.clientInvocation) {
    context.clientResults.ask(from, message, nowMs);
  } else if (
    message.type === serviceType.clientCompletion ||
    message.type === serviceType.errorCompletion
  ) {
    context.clientResults.answer(from, message);
  } else if (message.type === serviceType.accessKeyRequest) {
    const errorType = 'NotSupported';
    const errorMessage = 'There is no Microsoft Entra ID in an emulator.';
    from.send({ type: serviceType.accessKeyResponse, errorType, errorMessage });
  } else {
    const ack = membership(nowMs, from.hub, message) ?? checks(nowMs, from.hub, message);
    if (ack === undefined || !('ackId' in message)) return;
    const [status, text] = ack;
    from.send({ type: serviceType.ack, ackId: message.ackId, status, message: text });
  }
}

/** Messages to clients; false for any other. */
function sends(nowMs: number, { hub }: ServerConnection, message: ServiceMessage): boolean {
  switch (message.type) {
    case serviceType.broadcastData:
      send(hub, hub.clients.values(), message, idIn(message.excludedConnectionIds));
      return true;
    case serviceType.multiConnectionData:
      send(hub, hub.ofIds(message.connectionIds), message);
      return true;
    case serviceType.userData:
      send(hub, hub.ofUser(message.userId), message);
      return true;
    case serviceType.multiUserData:
      send(
        hub,
        union(message.userIds, (userId) => hub.ofUser(userId)),
        message,
      );
      return true;
    case serviceType.groupBroadcastData: {
      const isExcluded = idIn(message.excludedConnectionIds);
      const users = new Set(message.excludedUserIds);
      send(
        hub,
        hub.inGroup(message.groupName, nowMs),
        message,
        (client) => isExcluded(client) || users.has(client.identity.userId ?? ''),
      );
      return true;
    }
    case serviceType.multiGroupBroadcastData:
      for (const group of message.groupNames) send(hub, hub.inGroup(group, nowMs), message);
      return true;
    default:
      return false;
  }
}

function send(
  hub: ServiceHub,
  receivers: Iterable<ServiceClient>,
  { payloads }: Pick<ServiceMessageOf<10>, 'payloads'>,
  isExcluded?: (client: ServiceClient) => boolean,
): void {
  hub.send(receivers, new PayloadSource(payloads), isExcluded);
}

function union<Key, Value>(keys: readonly Key[], of: (key: Key) => Iterable<Value>): Set<Value> {
  const all = new Set<Value>();
  for (const key of keys) for (const value of of(key)) all.add(value);
  return all;
}

/** .NET counts 100 ns from year 1; the SDK takes the newest list by it. */
function dotnetTicks(): string {
  return String(621_355_968_000_000_000n + BigInt(Date.now()) * 10_000n);
}

function answersPings(from: ServerConnection, message: ServiceMessage): boolean {
  if (message.type !== serviceType.ping) return false;
  const [key, value = ''] = message.messages;
  const { hub } = from;
  const connections = [...hub.servers.connections];
  if (key === 'status') {
    const clients = String(hub.clients.size);
    const counts = ['clientcount', clients, 'servercount', String(connections.length)];
    from.ping('status', hub.clients.size > 0 ? '1' : '0', ...counts);
  } else if (key === 'servers') {
    const ids = new Set(connections.map(({ serverId }) => serverId));
    from.ping('servers', `${dotnetTicks()}:${[...ids].join(';')}`);
  } else if (key === 'shutdown' && value?.startsWith('fin:') === true) {
    from.leave();
    from.ping('shutdown', 'finack');
  }
  return true;
}

/** Into groups, out of groups; undefined for any other message. */
function membership(nowMs: number, hub: ServiceHub, message: ServiceMessage): Ack | undefined {
  switch (message.type) {
    case serviceType.joinGroup:
    case serviceType.joinGroupWithAck:
    case serviceType.leaveGroup:
    case serviceType.leaveGroupWithAck: {
      const client = hub.clients.get(message.connectionId);
      if (client === undefined) return noConnection;
      const joins =
        message.type === serviceType.joinGroup || message.type === serviceType.joinGroupWithAck;
      if (!isGroupName(message.groupName)) return noGroup;
      if (joins) return hub.groups.join(client, message.groupName) ? ok : tooManyGroups;
      hub.groups.leave(client, message.groupName);
      return ok;
    }
    case serviceType.userJoinGroup:
    case serviceType.userJoinGroupWithAck: {
      const { userId, groupName, ttl } = message;
      if (!isGroupName(groupName)) return noGroup;
      if (!isUserId(userId)) return noUserId;
      const untilMs = ttl === undefined ? Infinity : nowMs + ttl * 1000;
      return hub.userGroups.add(userId, groupName, untilMs) ? ok : fullGroups;
    }
    case serviceType.userLeaveGroup:
    case serviceType.userLeaveGroupWithAck:
      if (message.groupName === undefined) hub.userGroups.removeAll(message.userId);
      else hub.userGroups.remove(message.userId, message.groupName);
      return ok;
    default:
      return undefined;
  }
}

/** Questions, and closing of clients by their names; undefined for any other message. */
function checks(nowMs: number, hub: ServiceHub, message: ServiceMessage): Ack | undefined {
  switch (message.type) {
    case serviceType.checkUserInGroupWithAck:
      return hub.userGroups.has(message.userId, message.groupName, nowMs) ? ok : noUser;
    case serviceType.checkGroupExistenceWithAck:
      return hub.hasGroup(message.groupName, nowMs) ? ok : noGroup;
    case serviceType.checkConnectionExistenceWithAck:
      return hub.clients.has(message.connectionId) ? ok : noConnection;
    case serviceType.checkUserExistenceWithAck:
      return hub.hasUser(message.userId) ? ok : noUser;
    case serviceType.closeConnectionWithAck:
      return closeAll(hub.ofIds([message.connectionId]), message);
    case serviceType.closeConnectionsWithAck:
      return closeAll(hub.clients.values(), message);
    case serviceType.closeUserConnectionsWithAck:
      return closeAll(hub.ofUser(message.userId), message);
    case serviceType.closeGroupConnectionsWithAck:
      return closeAll(hub.inGroup(message.groupName, nowMs), message);
    case serviceType.groupMemberQuery:
    case serviceType.getConnectionClaims:
      return notServed;
    default:
      return undefined;
  }
}

function closeAll(
  clients: Iterable<ServiceClient>,
  {
    reason,
    excludedConnectionIds,
  }: { readonly reason?: string; readonly excludedConnectionIds?: readonly string[] },
): Ack {
  const isExcluded = idIn(excludedConnectionIds);
  for (const client of [...clients]) if (!isExcluded(client)) client.close(reason);
  return ok;
}
