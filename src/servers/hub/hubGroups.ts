/** What can be in groups. */
export interface GroupMember {
  /** Names of the groups it is in; undefined until it joins its first. */
  groups: Set<string> | undefined;
}

/** Groups of one member; more are refused. */
export const mostGroups = 10_000;

/** What somebody is told who is to be in more groups than are kept of anybody. */
export const noMoreGroups = 'A connection may be in at most 10,000 groups of this server.';

/** Whether it is in the group already, or may be in one more. */
export const mayJoin = ({ groups }: GroupMember, group: string): boolean =>
  groups === undefined || groups.size < mostGroups || groups.has(group);

/** Members by group name. A group exists as long as it has members. */
export class HubGroups<Member extends GroupMember> {
  private readonly members = new Map<string, Set<Member>>();

  get count(): number {
    return this.members.size;
  }

  membersOf(group: string): Iterable<Member> {
    return this.members.get(group) ?? [];
  }

  /** @returns false when it {@link mayJoin} no more */
  join(connection: Member, group: string): boolean {
    if (!mayJoin(connection, group)) return false;
    const members = this.members.get(group);
    if (members === undefined) this.members.set(group, new Set([connection]));
    else members.add(connection);
    (connection.groups ??= new Set()).add(group);
    return true;
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
