import type { HubConnection } from './hubConnection';

/** Members by group name. A group exists as long as it has members. */
export class HubGroups {
  private readonly members = new Map<string, Set<HubConnection>>();

  get count(): number {
    return this.members.size;
  }

  membersOf(group: string): Iterable<HubConnection> {
    return this.members.get(group) ?? [];
  }

  join(connection: HubConnection, group: string): void {
    const members = this.members.get(group);
    if (members === undefined) this.members.set(group, new Set([connection]));
    else members.add(connection);
    (connection.groups ??= new Set()).add(group);
  }

  leave(connection: HubConnection, group: string): void {
    if (connection.groups?.delete(group) !== true) return;
    const members = this.members.get(group);
    members?.delete(connection);
    if (members?.size === 0) this.members.delete(group);
  }

  leaveAll(connection: HubConnection): void {
    for (const group of connection.groups ?? []) this.leave(connection, group);
  }
}
