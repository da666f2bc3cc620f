// A worker that dies in the middle of its work when `letWorkerDie` says so. Only worker 1 dies.
import { BroadcastChannel, workerData } from 'node:worker_threads';
import '../../src/engine/workerMain';
import { channelName, type HowToDie } from './letWorkerDie';

if ((workerData as { worker: number }).worker === 1) {
  const channel = new BroadcastChannel(channelName);
  channel.unref();
  channel.onmessage = ({ data }: { data: HowToDie }) => {
    if (data === 'exit') process.exit(7);
    throw new Error('this worker dies on purpose');
  };
}
