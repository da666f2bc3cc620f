// Loaded before everything else by each process and thread of a soak: memory that only waits to be collected is no growth.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

const everyMs = 10_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
setInterval(collect, everyMs).unref();
