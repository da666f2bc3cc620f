import { maxGroupsPerConnection } from '../hub/hubGroups';

export const permissions = ['joinLeaveGroup', 'sendToGroup'] as const;

export type Permission = (typeof permissions)[number];

interface Grant {
  readonly everywhere: boolean;
  readonly groups: ReadonlySet<string>;
  readonly patterns: readonly GroupPattern[];
}

const nothing: Grant = { everywhere: false, groups: new Set(), patterns: [] };

/** Sets of roles that are kept, so that clients with the same roles share what they may. */
const maxRemembered = 100;
const remembered = new Map<string, Permissions>();

/** What one client may do. Never changes: granting and revoking make a new one. */
export class Permissions {
  private constructor(private readonly grants: Readonly<Record<Permission, Grant>>) {}

  /** Of roles such as `webpubsub.sendToGroup.chat`; roles of others grant nothing. */
  static fromRoles(roles: readonly string[]): Permissions {
    const key = JSON.stringify(roles);
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const made = new Permissions({
      joinLeaveGroup: grantOf('joinLeaveGroup', roles),
      sendToGroup: grantOf('sendToGroup', roles),
    });
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(key, made);
    return made;
  }

  allows(permission: Permission, group: string | undefined): boolean {
    const { everywhere, groups, patterns } = this.grants[permission];
    if (everywhere || group === undefined) return everywhere;
    return groups.has(group) || patterns.some((fits) => fits(group));
  }

  /** @param group undefined means every group. @returns undefined above the groups that anybody may be in */
  granting(permission: Permission, group: string | undefined): Permissions | undefined {
    const grant = this.grants[permission];
    if (
      group !== undefined &&
      grant.groups.size >= maxGroupsPerConnection &&
      !grant.groups.has(group)
    )
      return undefined;
    return this.with(permission, {
      ...grant,
      ...(group === undefined
        ? { everywhere: true }
        : { groups: new Set([...grant.groups, group]) }),
    });
  }

  /** @param group undefined takes only the permission for every group away */
  revoking(permission: Permission, group: string | undefined): Permissions {
    const grant = this.grants[permission];
    const groups = new Set(grant.groups);
    if (group !== undefined) groups.delete(group);
    const everywhere = group === undefined ? false : grant.everywhere;
    return this.with(permission, { ...grant, everywhere, groups });
  }

  private with(permission: Permission, grant: Grant): Permissions {
    return new Permissions({ ...this.grants, [permission]: grant });
  }
}

function grantOf(permission: Permission, roles: readonly string[]): Grant {
  const role = `webpubsub.${permission}`;
  const groups = new Set<string>();
  const patterns: GroupPattern[] = [];
  for (const text of roles) {
    if (text.startsWith(`${role}.`)) groups.add(text.slice(role.length + 1));
    if (text.startsWith(`${role}s.`)) {
      const pattern = parseGroupPattern(text.slice(role.length + 2));
      if (pattern !== undefined) patterns.push(pattern);
    }
  }
  const everywhere = roles.includes(role);
  return everywhere || groups.size > 0 || patterns.length > 0
    ? { everywhere, groups, patterns }
    : nothing;
}

/**
 * Patterns of group names in roles: `?` is one character and `*` any number of them within a segment, `**`
 * goes across segments, which `.` separates; `\` takes the meaning from the character behind it. Source:
 * Azure Web PubSub, "Wildcard group roles".
 */

const maxStars = 5;

type GroupPattern = (group: string) => boolean;

/** The meaning of a pattern, undefined when it has too many stars or ends in the middle of an escape. */
export function parseGroupPattern(pattern: string): GroupPattern | undefined {
  const pieces: readonly string[] = pattern.match(/\\[^]|\*\*?|[^]/gu) ?? [];
  const stars = pieces.filter(isStar).join('').length;
  if (stars > maxStars || pieces.at(-1) === '\\') return undefined;
  return (group) => matches(pieces, group);
}

const isStar = (piece: string | undefined): boolean => piece?.startsWith('*') === true;

/** Goes through the name once, with all places of the pattern it may have come to: never exponential. */
function matches(pieces: readonly string[], group: string): boolean {
  let places = reach(pieces, new Set([0]));
  for (const character of group) {
    const next = new Set<number>();
    for (const place of places)
      if (fits(pieces[place], character)) next.add(isStar(pieces[place]) ? place : place + 1);
    places = reach(pieces, next);
  }
  return places.has(pieces.length);
}

function fits(piece: string | undefined, character: string): boolean {
  if (piece === '*' || piece === '?') return character !== '.';
  return piece === '**' || piece?.replace('\\', '') === character;
}

/** Adds the places behind stars, which may stand for nothing. */
function reach(pieces: readonly string[], places: Set<number>): Set<number> {
  // A set that grows is gone through to its new end.
  for (const place of places) if (isStar(pieces[place])) places.add(place + 1);
  return places;
}
