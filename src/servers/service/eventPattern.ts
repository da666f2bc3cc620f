/**
 * Whether a name fits a pattern of an upstream handler: `*` or nothing stands for all, else it is a comma
 * list of names. Sources: "Upstream endpoints", heading "Rule settings"; "Event handlers in Azure Web
 * PubSub service", heading "Upstream and URL templates".
 */
export function fitsPattern(pattern: string | undefined, name: string): boolean {
  if (pattern === undefined || pattern.trim() === '*') return true;
  const wanted = pattern.split(',').map((part) => part.trim().toLowerCase());
  return wanted.includes(name.toLowerCase());
}
