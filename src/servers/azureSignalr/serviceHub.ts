/** One hub of the service: who is on it, and what app servers ask of it. */
import { performance } from 'node:perf_hooks';
import { HubClients, SetsByKey, type HubMember, noMoreGroups } from '../hub/hubGroups';
import { type FrameSource, encodedOnce } from '../hubProtocol/protocols';
import { type ServerConnection, RoutedClient } from './appServerConnection';
import type { ClientIdentity } from './clientIdentity';
import {
  ackStatus,
  serviceType,
  type ServiceMessage,
  type Payloads,
  type ServiceMessageOf,
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
  readonly servers = new Set<ServerConnection>();
  /** Where the search for the next connection begins, so that equals take turns. */
  private turn = 0;

  constructor(name: string, memberships: MembershipCount) {
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

  /** The connection with the fewest clients, of the wanted app server if there is one; undefined when none can take it. */
  chooseServer(wanted?: {
    readonly serverId: string;
    readonly isRequired: boolean;
  }): ServerConnection | undefined {
    const ready = [...this.servers].filter(({ takesClients }) => takesClients);
    const own = ready.filter(({ serverId }) => serverId === wanted?.serverId);
    const candidates = own.length > 0 || wanted?.isRequired === true ? own : ready;
    const start = candidates.length === 0 ? 0 : this.turn++ % candidates.length;
    let best: ServerConnection | undefined;
    for (let index = 0; index < candidates.length; index++) {
      const next = candidates[(start + index) % candidates.length]!;
      if (best === undefined || next.clients.size < best.clients.size) best = next;
    }
    return best;
  }

  /** Members by themselves, and those whose user is in the group. */
  override inGroup(group: string): Iterable<ServiceClient> {
    const users = this.userGroups.users(group);
    if (users === undefined) return this.groups.membersOf(group);
    const members = new Set(this.groups.membersOf(group));
    for (const userId of users) {
      if (!this.userGroups.has(userId, group)) continue;
      for (const client of this.ofUser(userId)) members.add(client);
    }
    return members;
  }

  hasGroup(group: string): boolean {
    for (const _member of this.inGroup(group)) return true;
    return false;
  }

  send(
    receivers: Iterable<ServiceClient>,
    frames: FrameSource,
    isExcluded: (client: ServiceClient) => boolean = () => false,
  ): void {
    for (const client of receivers) {
      if (isExcluded(client)) continue;
      const frame = frames.in(client.protocolName);
      if (frame !== undefined) client.write(frame);
    }
  }

  closeAll(
    clients: Iterable<ServiceClient>,
    reason?: string,
    excludedIds?: readonly string[],
  ): void {
    const stays = idIn(excludedIds);
    // Closing takes them out of what is gone through.
    for (const client of [...clients]) if (!stays(client)) client.close(reason);
  }
}

export function idIn(ids: readonly string[] = []): (client: ServiceClient) => boolean {
  if (ids.length === 0) return () => false;
  const set = new Set(ids);
  return ({ id }) => set.has(id);
}

const mostMemberships = 1_000_000;

interface MembershipCount {
  used: number;
}

/** Groups that users are in, whatever connections they have: until a time, or until they are taken out. */
export class UserGroups {
  private readonly groupsOf = new Map<string, Map<string, number>>();
  private readonly usersOf = new SetsByKey<string>();

  constructor(private readonly memberships: MembershipCount) {}

  get isEmpty(): boolean {
    return this.groupsOf.size === 0;
  }

  /** @param forS seconds, Infinity for no end. @returns false when there is no room for one more membership */
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

  /** Users in the group, those whose time is over since the last {@link sweep} included. */
  users(group: string): ReadonlySet<string> | undefined {
    return this.usersOf.of(group);
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
const tooManyGroups: Ack = [ackStatus.internalServerError, noMoreGroups];
const noUserId: Ack = [ackStatus.notFound, 'A user id has 1 to 1,024 characters'];
const noGroup: Ack = [ackStatus.notFound, 'Group does not exist'];
const notServed: Ack = [ackStatus.internalServerError, 'This emulator does not serve it.'];

/** Serves what an app server asks for; messages that only the service sends are ignored. */
export function serveRequest(
  clientResults: ClientResults,
  hub: ServiceHub,
  from: ServerConnection,
  message: ServiceMessage,
): void {
  if (sends(hub, message)) return;
  switch (message.type) {
    case serviceType.ping:
      answerPing(hub, from, message);
      break;
    case serviceType.closeConnection:
      // Whoever manages the hub may close any client; the app server of the client hears of it.
      hub.clients.get(message.connectionId)?.close(message.errorMessage || undefined);
      break;
    case serviceType.clientInvocation:
      clientResults.ask(hub, from, message);
      break;
    case serviceType.clientCompletion:
    case serviceType.errorCompletion:
      clientResults.answer(from, message);
      break;
    case serviceType.accessKeyRequest: {
      const errorType = 'NotSupported';
      const errorMessage = 'There is no Microsoft Entra ID in an emulator.';
      from.send({ type: serviceType.accessKeyResponse, errorType, errorMessage });
      break;
    }
    default: {
      const ack = membership(hub, message) ?? checks(hub, message);
      if (ack === undefined || !('ackId' in message)) return;
      const [status, text] = ack;
      from.send({ type: serviceType.ack, ackId: message.ackId, status, message: text });
    }
  }
}

function sends(hub: ServiceHub, message: ServiceMessage): boolean {
  const send = (
    receivers: Iterable<ServiceClient>,
    { payloads }: Pick<ServiceMessageOf<10>, 'payloads'>,
    isExcluded?: (client: ServiceClient) => boolean,
  ): void => hub.send(receivers, payloadFrames(payloads), isExcluded);
  switch (message.type) {
    case serviceType.broadcastData:
      send(hub.clients.values(), message, idIn(message.excludedConnectionIds));
      return true;
    case serviceType.multiConnectionData:
      send(hub.ofIds(message.connectionIds), message);
      return true;
    case serviceType.userData:
      send(hub.ofUser(message.userId), message);
      return true;
    case serviceType.multiUserData:
      send(new Set(message.userIds.flatMap((userId) => [...hub.ofUser(userId)])), message);
      return true;
    case serviceType.groupBroadcastData: {
      const isExcluded = idIn(message.excludedConnectionIds);
      const users = new Set(message.excludedUserIds);
      send(
        hub.inGroup(message.groupName),
        message,
        (client) => isExcluded(client) || users.has(client.userId ?? ''),
      );
      return true;
    }
    case serviceType.multiGroupBroadcastData:
      for (const group of message.groupNames) send(hub.inGroup(group), message);
      return true;
    default:
      return false;
  }
}

/** .NET counts 100 ns from year 1; the SDK takes the newest list by it. */
const dotnetTicks = (): string => String(621_355_968_000_000_000n + BigInt(Date.now()) * 10_000n);

function answerPing(
  { clients, servers }: ServiceHub,
  from: ServerConnection,
  { messages }: ServiceMessageOf<3>,
): void {
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

function membership(hub: ServiceHub, message: ServiceMessage): Ack | undefined {
  switch (message.type) {
    case serviceType.joinGroup:
    case serviceType.joinGroupWithAck:
    case serviceType.leaveGroup:
    case serviceType.leaveGroupWithAck: {
      const { type, connectionId, groupName } = message;
      const client = hub.clients.get(connectionId);
      if (client === undefined) return noConnection;
      if (!isGroupName(groupName)) return noGroup;
      if (type === serviceType.joinGroup || type === serviceType.joinGroupWithAck)
        return hub.groups.join(client, groupName) ? ok : tooManyGroups;
      hub.groups.leave(client, groupName);
      return ok;
    }
    case serviceType.userJoinGroup:
    case serviceType.userJoinGroupWithAck: {
      const { userId, groupName, ttl = Infinity } = message;
      if (!isGroupName(groupName)) return noGroup;
      if (!isUserId(userId)) return noUserId;
      return hub.userGroups.add(userId, groupName, ttl) ? ok : fullGroups;
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

function checks(hub: ServiceHub, message: ServiceMessage): Ack | undefined {
  switch (message.type) {
    case serviceType.checkUserInGroupWithAck:
      return hub.userGroups.has(message.userId, message.groupName) ? ok : noUser;
    case serviceType.checkGroupExistenceWithAck:
      return hub.hasGroup(message.groupName) ? ok : noGroup;
    case serviceType.checkConnectionExistenceWithAck:
      return hub.clients.has(message.connectionId) ? ok : noConnection;
    case serviceType.checkUserExistenceWithAck:
      return hub.ofUser(message.userId).size > 0 ? ok : noUser;
    case serviceType.closeConnectionWithAck:
      return closed(hub, hub.ofIds([message.connectionId]), message);
    case serviceType.closeConnectionsWithAck:
      return closed(hub, hub.clients.values(), message);
    case serviceType.closeUserConnectionsWithAck:
      return closed(hub, hub.ofUser(message.userId), message);
    case serviceType.closeGroupConnectionsWithAck:
      return closed(hub, hub.inGroup(message.groupName), message);
    case serviceType.groupMemberQuery:
    case serviceType.getConnectionClaims:
      return notServed;
    default:
      return undefined;
  }
}

function closed(
  hub: ServiceHub,
  clients: Iterable<ServiceClient>,
  message: { readonly reason?: string; readonly excludedConnectionIds?: readonly string[] },
): Ack {
  hub.closeAll(clients, message.reason, message.excludedConnectionIds);
  return ok;
}

/** The service forgets an unanswered question after this. */
const keptMs = 10 * 60_000;
const maxWaiting = 100_000;

/** Questions of app servers to clients, which may be on another app server. */
export class ClientResults {
  // Insertion order is the order of expiry.
  private readonly waiting = new Map<string, { asker: ServerConnection; dueMs: number }>();

  constructor(private readonly instanceId: string) {}

  ask(hub: ServiceHub, asker: ServerConnection, question: ServiceMessageOf<34>): void {
    const { invocationId, connectionId, callerServerId, payloads } = question;
    const client = hub.clients.get(connectionId);
    const frame = client && payloadFrames(payloads).in(client.protocolName);
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
    // The client's own app server has to know that an answer will come.
    const line = client instanceof RoutedClient ? client.line : undefined;
    if (line !== undefined && line.serverId !== asker.serverId) line.send(question);
    client.write(frame);
  }

  answer(from: ServerConnection, answer: ServiceMessageOf<35> | ServiceMessageOf<36>): void {
    const asker = this.waiting.get(answer.invocationId)?.asker;
    this.waiting.delete(answer.invocationId);
    // An app server that asked its own client has the answer already, and only says that it is there.
    if (asker === undefined || asker.serverId === from.serverId) return;
    asker.send({ ...answer, callerServerId: asker.serverId });
  }

  sweep(): void {
    const nowMs = performance.now();
    for (const [id, { asker, dueMs }] of this.waiting) {
      if (dueMs > nowMs && asker.isReady) return;
      this.waiting.delete(id);
    }
  }
}

/** What an app server sends to many clients: one whole hub frame for each hub protocol. */
const payloadFrames = (payloads: Payloads = []): FrameSource =>
  encodedOnce((protocolName) => {
    const payload = payloads.find(([name]) => name === protocolName)?.[1];
    if (payload === undefined || payload.length === 0) return undefined;
    return serverFrame(protocolName === 'json' ? opcode.text : opcode.binary, payload);
  });
