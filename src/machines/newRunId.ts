import { randomBytes } from 'node:crypto';

/** Short enough to be typed on other machines. */
export const newRunId = (): string => randomBytes(4).toString('hex');
