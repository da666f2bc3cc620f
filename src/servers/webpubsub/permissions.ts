import { maxGroupsPerConnection } from '../hub/hubGroups';

export const permissionNames = ['joinLeaveGroup', 'sendToGroup'] as const;

export type Permission = (typeof permissionNames)[number];

interface Grant {
  readonly everywhere: boolean;
  readonly groups: ReadonlySet<string>;
  readonly patterns: readonly GroupPattern[];
}

const nothing: Grant = { everywhere: false, groups: new Set(), patterns: [] };

/** Cached by roles, so that clients share them. */
const maxRemembered = 100;
const remembered = new Map<string, Permissions>();

export class Permissions {
  private constructor(private readonly grants: Readonly<Record<Permission, Grant>>) {}

  /** Reads roles such as `webpubsub.sendToGroup.chat`; others grant nothing. */
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

  /** @param group undefined means every group. @returns undefined above the limit of groups */
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

  /** @param group undefined revokes only the permission for every group */
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
 * Patterns of group names: `?` is one character and `*` any number within a segment, `**` crosses segments, which
 * `.` separates; `\` escapes. Source: Azure Web PubSub, "Wildcard group roles".
 */

const maxStars = 5;

type GroupPattern = (group: string) => boolean;

/** Undefined for too many stars or an incomplete escape. */
export function parseGroupPattern(pattern: string): GroupPattern | undefined {
  const pieces: readonly string[] = pattern.match(/\\[^]|\*\*?|[^]/gu) ?? [];
  const stars = pieces.filter(isStar).join('').length;
  if (stars > maxStars || pieces.at(-1) === '\\') return undefined;
  return (group) => matches(pieces, group);
}

const isStar = (piece: string | undefined): boolean => piece?.startsWith('*') === true;

/** One pass over the name with all possible pattern positions: never exponential. */
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

function reach(pieces: readonly string[], places: Set<number>): Set<number> {
  // Iteration includes what is added.
  for (const place of places) if (isStar(pieces[place])) places.add(place + 1);
  return places;
}
