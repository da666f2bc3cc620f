/** Sizes of groups in the guides: ten members, or ten groups; and a group for each connection. */
export const groupShapes = ['small', 'big', 'tiny'] as const;
export type GroupShape = (typeof groupShapes)[number];
