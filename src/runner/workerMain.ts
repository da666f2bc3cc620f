import { parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker } from '../protocol/worker';
import { machineClock, steeredClock } from './machineClock';
import { SharedMembers, type ThreadStart } from './prepare/sharedMembers';
import { SharedReach } from './prepare/sharedReach';
import { WorkerRun, type WorkerSurroundings } from './workerRun';

// Entry of the worker bundle: a thread around a WorkerRun, nothing else.
const port = parentPort;
if (port === null) throw new Error('this script runs as a worker thread only');

type MembershipGiven = Parameters<WorkerSurroundings['membership']>;

const start = workerData as ThreadStart;
const napCell = new Int32Array(new SharedArrayBuffer(4));
const surroundings = {
  clock: start.clock === undefined ? machineClock() : steeredClock(machineClock(), start.clock),
  nap: (ms: number) => void Atomics.wait(napCell, 0, 0, ms),
  membership: (...given: MembershipGiven) => new SharedMembers(start.memory, ...given),
  reach: start.reach && new SharedReach(start.reach),
};

const run = new WorkerRun(start, surroundings, (fact: FromWorker) => {
  port.postMessage(fact);
  // Sockets that still shake hands must not keep the thread.
  if (fact.type === 'closed') setTimeout(() => process.exit(0), 200);
});
port.on('message', (order: ToWorker) => {
  run.handle(order).catch((error: unknown) => {
    // An uncaught error ends the thread, and the main side sees it with its stack.
    setImmediate(() => {
      throw error;
    });
  });
});
port.postMessage({ type: 'ready' } satisfies FromWorker);
