import { parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker } from '../protocol/worker';
import { machineClock, steeredClock } from './machineClock';
import { SharedMembers, type ThreadStart } from './prepare/sharedMembers';
import { SharedReach } from './prepare/sharedReach';
import type { SessionParts } from './send/entrySender';
import { WorkerRun, type WorkerSurroundings } from './workerRun';

// Entry of the worker bundle: a thread around a WorkerRun, nothing else.
const port = parentPort;
if (port === null) throw new Error('this script runs as a worker thread only');

type MembershipGiven = Parameters<WorkerSurroundings['membership']>;

const start = workerData as ThreadStart;
const napCell = new Int32Array(new SharedArrayBuffer(4));
const surroundings: WorkerSurroundings = {
  clock: start.clock === undefined ? machineClock() : steeredClock(machineClock(), start.clock),
  nap: (ms: number) => void Atomics.wait(napCell, 0, 0, ms),
  membership: (...given: MembershipGiven) => new SharedMembers(start.memory, ...given),
  reach: start.reach && new SharedReach(start.reach),
  rows: start.rows,
};

/** An uncaught error ends the thread, and the main side sees it with its stack. */
const failed = (error: unknown): void => {
  setImmediate(() => {
    throw error;
  });
};

function begin(sessions: SessionParts | undefined): void {
  const run = new WorkerRun(start, { ...surroundings, sessions }, (fact: FromWorker) => {
    port!.postMessage(fact);
    // Sockets that still shake hands must not keep the thread.
    if (fact.type === 'closed') setTimeout(() => process.exit(0), 200);
  });
  port!.on('message', (order: ToWorker) => void run.handle(order).catch(failed));
  port!.postMessage({ type: 'ready' } satisfies FromWorker);
}

// Only sessions need what is loaded for them.
if (start.plan.entries.some(({ run }) => run.session !== undefined))
  import(/* webpackChunkName: "sessions" */ './send/sessionSenders.js')
    .then((senders) => begin(senders))
    .catch(failed);
else begin(undefined);
