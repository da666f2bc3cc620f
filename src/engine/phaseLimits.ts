import type { Plan } from '../plan/plan';
import { populationsOf } from '../plan/population';

export const preparedAtOnce = 100;
/** Timeout of a call during preparation. */
export const answerTimeoutMs = 10_000;

const mostOfOneWorker = (plan: Plan, connections: number): number =>
  Math.ceil(connections / plan.workers.length);

/** Longest time to open that many connections, milliseconds. */
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

/** Longest time to prepare that many connections, milliseconds. */
export function prepareLimitMs(plan: Plan, connections: number): number {
  const groups = populationsOf(plan).reduce((sum, each) => sum + each.groupsPerConnection, 0);
  // Two calls for the id.
  const callsEach = 2 + groups;
  const rounds = Math.ceil(mostOfOneWorker(plan, connections) / preparedAtOnce);
  return rounds * callsEach * answerTimeoutMs;
}
