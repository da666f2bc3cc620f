// `npm test`: set up, check types, build, check, all suites, one line of totals at the end.
// With names of suites only those run, after what they need.
import { packageProgram, runNode } from './nodeProgram.mjs';
import { runSuite, suites } from './suite.mjs';

const names = process.argv.slice(2);
const chosen = suites.filter(({ name }) => names.length === 0 || names.includes(name));
const unknown = names.filter((name) => !suites.some((suite) => suite.name === name));
const total = { passed: 0, failed: 0, skipped: 0 };

/** Runs one step before the suites; a failure counts like a failed test. */
async function step(title, args) {
  if ((await runNode(args)) === 0) return true;
  console.error(`Failed: ${title}.`);
  total.failed++;
  return false;
}

async function run() {
  if (!(await step('setup', ['scripts/setup.mjs']))) return;
  // Tests of code that does not compile or bundle would be tests of something older.
  if (!(await step('type check', [packageProgram('typescript', 'tsc'), '-b']))) return;
  const needsBundles = chosen.some(({ built }) => built);
  if (needsBundles && !(await step('build', ['scripts/build.mjs']))) return;
  if (names.length === 0) await step('check', ['scripts/check.mjs']);
  for (const suite of chosen) {
    const counts = await runSuite(suite);
    for (const key of Object.keys(total)) total[key] += counts[key];
  }
}

if (unknown.length > 0) {
  const known = suites.map(({ name }) => name).join(', ');
  console.error(`No such suite: ${unknown.join(', ')}. There are ${known}.`);
  process.exitCode = 1;
} else {
  await run();
  console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  process.exitCode = total.failed > 0 ? 1 : 0;
}
