// Loaded before everything else by each process and thread of a soak, from a copy in a folder: memory that only waits to
// be collected is no growth. What lives after each collection goes to a file of that folder, a line of JSON each.
const { appendFile } = require('node:fs');
const path = require('node:path');
const { getHeapSpaceStatistics, setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');
const { threadId } = require('node:worker_threads');

const everyMs = 10_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** Bytes by space of the heap, and those of buffers and other things outside it. */
function living() {
  const bytes = { buffers: process.memoryUsage().external };
  for (const { space_name: name, space_used_size: used } of getHeapSpaceStatistics())
    bytes[name.replace(/_space$/, '')] = used;
  return bytes;
}

setInterval(() => {
  collect();
  const file = path.join(__dirname, `${process.pid}-${threadId}`);
  appendFile(file, `${JSON.stringify(living())}\n`, () => {});
}, everyMs).unref();
