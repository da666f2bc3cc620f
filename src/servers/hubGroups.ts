/** What can be in groups. */
export interface GroupMember {
  /** Names of the groups it is in; undefined until it joins its first. */
  groups: Set<string> | undefined;
}

/** Members by group name. A group exists as long as it has members. */
export class HubGroups<Member extends GroupMember> {
  private readonly members = new Map<string, Set<Member>>();

  get count(): number {
    return this.members.size;
  }

  membersOf(group: string): Iterable<Member> {
    return this.members.get(group) ?? [];
  }

  join(connection: Member, group: string): void {
    const members = this.members.get(group);
    if (members === undefined) this.members.set(group, new Set([connection]));
    else members.add(connection);
    (connection.groups ??= new Set()).add(group);
  }

  leave(connection: Member, group: string): void {
    if (connection.groups?.delete(group) !== true) return;
    const members = this.members.get(group);
    members?.delete(connection);
    if (members?.size === 0) this.members.delete(group);
  }

  leaveAll(connection: Member): void {
    for (const group of connection.groups ?? []) this.leave(connection, group);
  }
}
