import { createHash } from 'node:crypto';
import type { Plan } from '../plan/plan';

/** Two agents with one hash send, count and expect the same. */
export const planHash = (plan: Plan): string =>
  createHash('sha256').update(JSON.stringify(plan)).digest('hex');

const dialects: readonly Plan['dialect'][] = ['auto', 'recordLatency', 'measure'];

/** As it stands in an order. */
export const dialectOf = (text: string): Plan['dialect'] =>
  dialects.find((each) => each === text) ?? 'auto';
