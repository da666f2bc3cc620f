/**
 * An *agent* is one process that generates load with its own workers. Agent a of N with w workers each has the
 * workers a·w … a·w + w − 1; connection i belongs to worker i mod (N·w).
 */
import type { Plan } from './plan';

type Shared = Pick<Plan, 'agents' | 'workers'>;

export const agentsOf = ({ agents = 1 }: Pick<Plan, 'agents'>): number => agents;

/** Whether agents have different clocks. */
export const haveOwnClocks = (plan: Pick<Plan, 'agents' | 'oneClock'>): boolean =>
  agentsOf(plan) > 1 && plan.oneClock !== true;

const workersEach = (plan: Shared): number => plan.workers.length / agentsOf(plan);

export const agentOfWorker = (plan: Shared, worker: number): number =>
  Math.floor(worker / workersEach(plan));

export const agentOfConnection = (plan: Shared, connection: number): number =>
  agentOfWorker(plan, connection % plan.workers.length);

export function workersOfAgent(plan: Shared, agent: number): number[] {
  const each = workersEach(plan);
  return Array.from({ length: each }, (_, at) => agent * each + at);
}

export function connectionsOfAgent(
  plan: Shared & Pick<Plan, 'connections'>,
  agent: number,
): Uint32Array {
  const own: number[] = [];
  for (let index = 0; index < plan.connections; index++)
    if (agentOfConnection(plan, index) === agent) own.push(index);
  return Uint32Array.from(own);
}

/** Whole parts that differ by at most one. */
export function split(total: number, parts: number): number[] {
  return Array.from({ length: parts }, (_, part) => Math.floor((total + parts - 1 - part) / parts));
}
