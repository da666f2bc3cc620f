import { isHubName } from '../../base/serviceLimits';

/** Longest names, as in the validators of Microsoft's emulator. */
const maxNameChars = 1024;

export function isGroupName(name: string): boolean {
  return name.length <= maxNameChars && name.trim() !== '';
}

/** Whether the groups of a user with this id are remembered. */
export const isUserId = (id: string): boolean => id.length <= maxNameChars && id !== '';

/** The hub of a request's query in lower case, or what is wrong with it. */
export function hubOfQuery(query: URLSearchParams): { readonly hub: string } | string {
  const [hub, ...more] = query.getAll('hub');
  if (hub === undefined) return 'The query parameter hub is missing.';
  if (more.length > 0) return 'There is more than one query parameter hub.';
  return isHubName(hub) ? { hub: hub.toLowerCase() } : 'This is no name of a hub.';
}
