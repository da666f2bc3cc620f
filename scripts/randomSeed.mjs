// Loaded by mocha before the tests (`require` in package.json): all random tests of a run draw from one seed,
// a new one each time. TEST_SEED repeats a run.
import { randomInt } from 'node:crypto';
import { createRequire } from 'node:module';

// In the environment, so that every process of the run has the same.
process.env.TEST_SEED ||= String(randomInt(2 ** 31));

const seed = Number(process.env.TEST_SEED);
if (!Number.isInteger(seed))
  throw new Error(`TEST_SEED is not a whole number: ${process.env.TEST_SEED}`);

// The compiled tests require it; what `import` loads is another copy, with settings of its own.
createRequire(import.meta.url)('fast-check').configureGlobal({ seed });
