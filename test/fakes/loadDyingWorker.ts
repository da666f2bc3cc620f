// A worker that dies in the middle of its work, as the environment says: `exit` or `throw`, and after how
// many milliseconds. Only worker 1 dies.
import { workerData } from 'node:worker_threads';
import '../../src/runner/workerMain';

const how = process.env['LOAD_WORKER_DIES'];
const afterMs = Number(process.env['LOAD_WORKER_DIES_MS']);

if ((workerData as { worker: number }).worker === 1) {
  setTimeout(() => {
    if (how === 'exit') process.exit(7);
    throw new Error('this worker dies on purpose');
  }, afterMs);
}
