import { HubGroups, type GroupMember } from '../hub/hubGroups';
import { AppServers } from './appServers';
import type { ClientIdentity } from './clientIdentity';
import { UserGroups, type MembershipCount } from './userGroups';

/** A client of the service, in either mode. */
export interface ServiceClient extends GroupMember {
  readonly id: string;
  readonly identity: ClientIdentity;
  /** Hub protocol it speaks. */
  readonly protocolName: string;
  /** Sends one encoded frame to a client past its handshake. */
  write(frame: Buffer): void;
  close(error?: string, allowReconnect?: boolean): void;
}

/** One message, as the frames that carry it in each hub protocol. */
export interface FrameSource {
  /** undefined when it cannot be said in that protocol. */
  in(protocolName: string): Buffer | undefined;
}

/** Who is on one hub: clients, users, groups, app servers. */
export class ServiceHub {
  readonly clients = new Map<string, ServiceClient>();
  readonly groups = new HubGroups<ServiceClient>();
  readonly userGroups: UserGroups;
  readonly servers = new AppServers();
  private readonly users = new Map<string, Set<ServiceClient>>();

  constructor(
    readonly name: string,
    memberships: MembershipCount,
  ) {
    this.userGroups = new UserGroups(memberships);
  }

  /** Whether nothing is lost when it is forgotten. */
  get isEmpty(): boolean {
    return (
      this.clients.size === 0 && this.servers.connections.size === 0 && this.userGroups.isEmpty
    );
  }

  add(client: ServiceClient): void {
    this.clients.set(client.id, client);
    const { userId } = client.identity;
    if (userId === undefined) return;
    const clients = this.users.get(userId);
    if (clients === undefined) this.users.set(userId, new Set([client]));
    else clients.add(client);
  }

  remove(client: ServiceClient): void {
    if (!this.clients.delete(client.id)) return;
    this.groups.leaveAll(client);
    const { userId = '' } = client.identity;
    const clients = this.users.get(userId);
    clients?.delete(client);
    if (clients?.size === 0) this.users.delete(userId);
  }

  ofUser(userId: string): Iterable<ServiceClient> {
    return this.users.get(userId) ?? [];
  }

  hasUser(userId: string): boolean {
    return this.users.has(userId);
  }

  /** The connections with these ids that are there. */
  ofIds(ids: readonly string[]): ServiceClient[] {
    return ids.flatMap((id) => this.clients.get(id) ?? []);
  }

  /** Members by themselves, and those whose user is in the group. */
  inGroup(group: string, nowMs: number): Iterable<ServiceClient> {
    const users = this.userGroups.users(group);
    if (users === undefined) return this.groups.membersOf(group);
    const members = new Set(this.groups.membersOf(group));
    for (const userId of users) {
      if (!this.userGroups.has(userId, group, nowMs)) continue;
      for (const client of this.ofUser(userId)) members.add(client);
    }
    return members;
  }

  hasGroup(group: string, nowMs: number): boolean {
    for (const _member of this.inGroup(group, nowMs)) return true;
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
}

/** Tells clients with these ids. */
export function idIn(ids: readonly string[] = []): (client: ServiceClient) => boolean {
  if (ids.length === 0) return () => false;
  const set = new Set(ids);
  return ({ id }) => set.has(id);
}
