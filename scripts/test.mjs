// `npm test`: set up, check types, build, check, all suites; at the end when each ran, and a line of totals.
// With names of suites only those run, after what they need.
import { runNode } from './nodeProgram.mjs';
import { inBackground, needsNoPackages, prepare } from './preparations.mjs';
import { noCounts, onDemand, runInOrder, runSuite, suites } from './suite.mjs';

const names = process.argv.slice(2);
const all = [...suites, ...onDemand];
const chosen = names.length === 0 ? suites : all.filter(({ name }) => names.includes(name));
const unknown = names.filter((name) => !all.some((suite) => suite.name === name));
const total = { ...noCounts };
/** What failed or was tried again; repeated at the end, where it is looked for. */
const notes = [];

/** What fails beside the suites counts like a failed test. */
function failed(title) {
  notes.push(`failed: ${title}`);
  total.failed++;
}

async function check() {
  const { code, said } = await inBackground(['scripts/check.mjs']);
  process.stdout.write(said);
  if (code !== 0) failed('check');
}

function add({ name }, report) {
  for (const outcome of Object.keys(total)) total[outcome] += report.counts[outcome];
  for (const note of report.notes) notes.push(`${name}: ${note}`);
}

/** Time since the command began, as minutes and seconds. */
function sinceBegin() {
  const seconds = Math.round(process.uptime());
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

async function run() {
  const needed = new Set(chosen.flatMap(({ needs, wants = [] }) => [...needs, ...wants]));
  for (const name of [...needed].filter(needsNoPackages)) void prepare(name);
  if ((await runNode(['scripts/setup.mjs'])) !== 0) {
    failed('setup');
    return;
  }
  // Only now are there packages. Sets the seed for all suites.
  await import('./randomSeed.mjs');
  // What takes its time begins now; each suite waits for its own.
  for (const name of needed) void prepare(name);
  // Tests of code that does not compile would be tests of something older.
  if ((await prepare('compiled')) !== 'ready') {
    failed('compiling');
    return;
  }
  const reports = [];
  const times = [];
  const runOne = async (suite, place) => {
    const begin = sinceBegin();
    reports[place] = await runSuite(suite, place > 0);
    times[place] = `${suite.name} ${begin} to ${sinceBegin()}`;
  };
  await runInOrder(chosen, runOne, names.length === 0 ? check() : undefined);
  for (const [place, suite] of chosen.entries()) add(suite, reports[place]);
  console.log(`\n${times.join(', ')}`);
}

if (unknown.length > 0) {
  const known = all.map(({ name }) => name).join(', ');
  console.error(`No such suite: ${unknown.join(', ')}. There are ${known}.`);
  process.exitCode = 1;
} else {
  await run();
  const { TEST_SEED: seed } = process.env;
  if (total.failed > 0) notes.push(`random tests: TEST_SEED=${seed} repeats them`);
  if (notes.length > 0) console.log(`\n${notes.join('\n')}`);
  const { passed, failed: failures, skipped, triedAgain } = total;
  console.log(
    `\n${passed} passed, ${failures} failed, ${skipped} skipped, ${triedAgain} needed a second try`,
  );
  process.exitCode = total.failed > 0 ? 1 : 0;
}
