import { performance } from 'node:perf_hooks';
import { HubClients, SetsByKey, type HubMember } from '../hub/hubGroups';
import type { FrameSource } from '../hubProtocol/protocols';
import type { ServerConnection } from './appServerConnection';
import type { ClientIdentity } from './clientIdentity';

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
