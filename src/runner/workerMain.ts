import { parentPort, workerData } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerStart } from '../protocol/worker';
import { machineClock } from './machineClock';
import { WorkerRun } from './workerRun';

// Entry of the worker bundle: a thread around a WorkerRun, nothing else.
const port = parentPort;
if (port === null) throw new Error('this script runs as a worker thread only');

const run = new WorkerRun(workerData as WorkerStart, machineClock(), (fact: FromWorker) => {
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
