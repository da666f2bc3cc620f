/** How long a phase of a run may take where every connection and every call takes as long as it may. */
import type { Plan } from '../plan/plan';
import { populationsOf } from '../plan/population';

/** Connections that a worker prepares at once. */
export const preparedAtOnce = 100;
/** Until a call of the preparation is given up. */
export const answerTimeoutMs = 10_000;

const mostOfOneWorker = (plan: Plan, connections: number): number =>
  Math.ceil(connections / plan.workers.length);

/** From the first connection due until every worker has opened its share of so many, or failed, milliseconds. */
export function connectLimitMs(plan: Plan, connections: number): number {
  const { arrivingRate, arrival, connectTimeoutMs, workers } = plan;
  const own = mostOfOneWorker(plan, connections);
  const atOnce = Math.min(...workers.map(({ connectInFlight }) => connectInFlight));
  const waitingMs = Math.ceil(own / Math.max(1, atOnce)) * connectTimeoutMs;
  const dueMs = (connections / arrivingRate) * 1000;
  if (arrival === undefined) return dueMs + waitingMs;
  // A batch waits for the one before.
  const batches = Math.ceil(own / Math.max(1, Math.floor(arrivingRate / workers.length)));
  return waitingMs + batches * (arrival.batchWaitMs + connectTimeoutMs);
}

/** From the order to prepare until every worker has prepared its connections, or given them up, milliseconds. */
export function prepareLimitMs(plan: Plan, connections: number): number {
  const groups = populationsOf(plan).reduce((sum, each) => sum + each.groupsPerConnection, 0);
  // Asked for its id, a hub answers, and sends it.
  const callsEach = 2 + groups;
  const rounds = Math.ceil(mostOfOneWorker(plan, connections) / preparedAtOnce);
  return rounds * callsEach * answerTimeoutMs;
}
