import { BroadcastChannel } from 'node:worker_threads';

export type HowToDie = 'exit' | 'throw';

export const channelName = 'worker-dies';

/** Lets the worker of `loadDyingWorker` that is running in this process die. */
export function letWorkerDie(how: HowToDie): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(how);
  channel.close();
}
