interface GroupMember {
  groups: Set<string> | undefined;
}

export const maxGroupsPerConnection = 10_000;

export const tooManyGroupsText = 'A connection may be in at most 10,000 groups of this server.';

export const canJoin = ({ groups }: GroupMember, group: string): boolean =>
  groups === undefined || groups.size < maxGroupsPerConnection || groups.has(group);

export class SetsByKey<Member> {
  private readonly sets = new Map<string, Set<Member>>();

  get(key: string): ReadonlySet<Member> | undefined {
    return this.sets.get(key);
  }

  add(key: string, member: Member): void {
    const set = this.sets.get(key);
    if (set === undefined) this.sets.set(key, new Set([member]));
    else set.add(member);
  }

  delete(key: string, member: Member): void {
    const set = this.sets.get(key);
    set?.delete(member);
    if (set?.size === 0) this.sets.delete(key);
  }
}

export class HubGroups<Member extends GroupMember> {
  private readonly members = new SetsByKey<Member>();

  membersOf(group: string): Iterable<Member> {
    return this.members.get(group) ?? [];
  }

  /** @returns false when the connection is in too many groups */
  join(connection: Member, group: string): boolean {
    if (!canJoin(connection, group)) return false;
    this.members.add(group, connection);
    (connection.groups ??= new Set()).add(group);
    return true;
  }

  leave(connection: Member, group: string): void {
    if (connection.groups?.delete(group) === true) this.members.delete(group, connection);
  }

  leaveAll(connection: Member): void {
    for (const group of connection.groups ?? []) this.leave(connection, group);
  }
}

export interface HubMember extends GroupMember {
  readonly id: string;
  readonly userId: string | undefined;
}

export class HubClients<Client extends HubMember> {
  readonly clients = new Map<string, Client>();
  readonly groups = new HubGroups<Client>();
  private readonly users = new SetsByKey<Client>();

  constructor(readonly name: string) {}

  add(client: Client): void {
    this.clients.set(client.id, client);
    if (client.userId !== undefined) this.users.add(client.userId, client);
  }

  remove(client: Client): boolean {
    if (!this.clients.delete(client.id)) return false;
    this.groups.leaveAll(client);
    if (client.userId !== undefined) this.users.delete(client.userId, client);
    return true;
  }

  withUserId(userId: string): ReadonlySet<Client> {
    return this.users.get(userId) ?? new Set();
  }

  inGroup(group: string): Iterable<Client> {
    return this.groups.membersOf(group);
  }

  withConnectionIds(ids: readonly string[]): Client[] {
    return ids.flatMap((id) => this.clients.get(id) ?? []);
  }
}
