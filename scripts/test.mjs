// `npm test`: set up, check types, build, check, all suites, one line of totals at the end.
// With names of suites only those run, after what they need.
import { packageProgram, runNode } from './nodeProgram.mjs';
import { startSuite, suites } from './suite.mjs';

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

function add(counts) {
  for (const key of Object.keys(total)) total[key] += counts[key];
}

async function run() {
  if (!(await step('setup', ['scripts/setup.mjs']))) return;
  // Tests of code that does not compile or bundle would be tests of something older.
  if (!(await step('type check', [packageProgram('typescript', 'tsc'), '-b']))) return;
  const needsBundles = chosen.some(({ built }) => built);
  const built = needsBundles ? step('build', ['scripts/build.mjs']) : Promise.resolve(true);
  // Unit tests need neither: side by side both cores are busy, which saves minutes. What comes after
  // measures, and waits.
  const checked = names.length === 0 && built.then(() => step('check', ['scripts/check.mjs']));
  const besides = [];
  for (const suite of chosen) {
    if (suite.built && !(await built)) break;
    if (suite.name !== 'unit') await checked;
    const beside = suite.beside === true && suite !== chosen.at(-1);
    const counts = await startSuite(suite, beside);
    if (beside) besides.push(counts);
    else add(await counts());
  }
  await checked;
  for (const counts of besides) add(await counts());
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
