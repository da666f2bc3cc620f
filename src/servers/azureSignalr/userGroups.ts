/** Memberships in all hubs of an emulator; more are refused. */
const mostMemberships = 1_000_000;

/** How many memberships there are in all hubs of an emulator. */
export interface MembershipCount {
  used: number;
}

/** Groups that users are in, whatever connections they have: until a time, or until they are taken out. */
export class UserGroups {
  private readonly groupsOf = new Map<string, Map<string, number>>();
  private readonly usersOf = new Map<string, Set<string>>();

  constructor(private readonly memberships: MembershipCount) {}

  get isEmpty(): boolean {
    return this.groupsOf.size === 0;
  }

  /**
   * @param untilMs Infinity for no end
   * @returns false when there is no room for one more membership
   */
  add(userId: string, group: string, untilMs: number): boolean {
    const groups = this.groupsOf.get(userId);
    if (groups?.has(group) !== true) {
      if (this.memberships.used >= mostMemberships) return false;
      this.memberships.used++;
    }
    if (groups === undefined) this.groupsOf.set(userId, new Map([[group, untilMs]]));
    else groups.set(group, untilMs);
    const users = this.usersOf.get(group);
    if (users === undefined) this.usersOf.set(group, new Set([userId]));
    else users.add(userId);
    return true;
  }

  remove(userId: string, group: string): void {
    const groups = this.groupsOf.get(userId);
    if (groups?.delete(group) !== true) return;
    this.memberships.used--;
    if (groups.size === 0) this.groupsOf.delete(userId);
    const users = this.usersOf.get(group);
    users?.delete(userId);
    if (users?.size === 0) this.usersOf.delete(group);
  }

  removeAll(userId: string): void {
    for (const group of [...(this.groupsOf.get(userId)?.keys() ?? [])]) this.remove(userId, group);
  }

  has(userId: string, group: string, nowMs: number): boolean {
    return (this.groupsOf.get(userId)?.get(group) ?? -Infinity) > nowMs;
  }

  /** Users in the group, those whose time is over since the last {@link sweep} included. */
  users(group: string): ReadonlySet<string> | undefined {
    return this.usersOf.get(group);
  }

  /** Takes out everyone whose time is over. */
  sweep(nowMs: number): void {
    for (const [userId, groups] of this.groupsOf) {
      for (const [group, untilMs] of groups) if (untilMs <= nowMs) this.remove(userId, group);
    }
  }
}
