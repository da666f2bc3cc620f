import { pause } from '../../engine/pause';
import type { Bus } from '../bus/bus';
import { joinSubject, readJoinQuestion } from '../messages';

/** An agent that has no run yet. */
export interface WaitingAgent {
  readonly host: string;
  readonly toolVersion: string;
  /** The one run that it waits for; absent: any. */
  readonly run?: string;
}

/** Each asks every two seconds at least where somebody listens. */
const askedWithinMs = 3000;
const mostAgents = 1000;

/** Agents that wait on a bus for a run, by the name of their machine. */
export async function waitingAgents(
  bus: Bus,
  withinMs: number = askedWithinMs,
): Promise<WaitingAgent[]> {
  const found = new Map<string, WaitingAgent>();
  const hear = (text: string, subject: string): void => {
    const question = readJoinQuestion(text);
    const { id, host, toolVersion = '' } = question ?? {};
    if (id === undefined || host === undefined || found.size >= mostAgents) return;
    const run = subject.slice(joinSubject.length + 1);
    found.set(id, { host, toolVersion, ...(run !== '' && { run }) });
  };
  const subscriptions = [joinSubject, `${joinSubject}.*`].map((subject) => bus.hear(subject, hear));
  await pause(withinMs);
  for (const subscription of subscriptions) subscription.dispose();
  return [...found.values()].sort((a, b) => a.host.localeCompare(b.host));
}
