// A worker whose thread once does nothing for half a second, in the middle of a step of two seconds.
import '../../src/engine/workerMain';
import { parentPort } from 'node:worker_threads';
import type { ToWorker } from '../../src/messages/worker';

const sleepMs = 500;

parentPort?.on('message', (order: ToWorker) => {
  if (order.type !== 'step') return;
  setTimeout(() => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, sleepMs);
  }, 700);
});
