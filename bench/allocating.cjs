// Loaded before everything else by each process and thread of a run: what it allocates between two moments of its life, garbage
// or not, goes into a file of its own in BENCH_ALLOCATIONS. Moments: BENCH_FROM_MS and BENCH_UNTIL_MS after the thread began.
const { Session } = require('node:inspector');
const { writeFileSync } = require('node:fs');
const path = require('node:path');
const { threadId } = require('node:worker_threads');

const { BENCH_ALLOCATIONS: folder, BENCH_FROM_MS: from, BENCH_UNTIL_MS: until } = process.env;
if (folder !== undefined) {
  const session = new Session();
  session.connect();
  const { start, stop } = sampling(session);
  setTimeout(start, Number(from)).unref();
  setTimeout(() => {
    const name = path.join(folder, `${process.pid}-${threadId}.json`);
    stop((profile) => writeFileSync(name, JSON.stringify(profile)));
  }, Number(until)).unref();
}

/** Samples one in so many bytes; what was collected meanwhile counts. */
function sampling(session, samplingInterval = 4096) {
  const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
  let startedMs = 0;
  return {
    start() {
      session.post('HeapProfiler.startSampling', { samplingInterval, ...all });
      startedMs = performance.now();
    },
    /** `then` is called at once with `{ ms, bytes: { [function]: bytes } }`. */
    stop(then) {
      const ms = performance.now() - startedMs;
      session.post('HeapProfiler.stopSampling', (error, { profile } = {}) => {
        if (error !== null) throw new Error(error.message);
        then({ ms, bytes: bytesByFunction(profile.head, {}) });
      });
    },
  };
}

function bytesByFunction({ callFrame, selfSize, children }, bytes) {
  if (selfSize > 0) {
    const { functionName, url, lineNumber } = callFrame;
    const file = url.startsWith('node:') ? url : url.split('/').pop();
    const name = `${functionName || '(no name)'} ${file}:${lineNumber + 1}`;
    bytes[name] = (bytes[name] ?? 0) + selfSize;
  }
  for (const child of children) bytesByFunction(child, bytes);
  return bytes;
}

module.exports = { sampling };
