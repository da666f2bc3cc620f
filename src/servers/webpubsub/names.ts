/** Names of groups: up to 1,024 characters that are not all blank. */
export const isGroupName = (name: string): boolean => name.length <= 1024 && name.trim() !== '';
