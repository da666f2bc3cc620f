import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { exitCode, packageProgram, root, startNode } from './nodeProgram.mjs';
import { lowerPriority, prepare } from './preparations.mjs';

/** Of a suite that yields, as `os.setPriority` has it. */
const yieldingPriority = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * How long a suite may hold its process open after its last test: what never ends is at fault. Official clients that were
 * stopped keep timers for up to 40 s (those of Web PubSub: a check of silence, 30 s of coming back).
 */
const lingerMs = 60_000;

/**
 * The suites of `npm test`; all begin at once but for those that wait, and what the first says is shown as it comes.
 * `after`: suites that must be over first; right where two of a kind beside each other would starve. `alone`: begins
 * when all others are over. `needs`: preparations without which it cannot run. `wants`: those that it waits for, and
 * does without. `jobs`: how many of its files run at once, each in a process of its own: right where tests mostly wait
 * and judge no times. `retries`: how often a test that failed is tried again; never, where only the product decides, at
 * most once, where a browser or the clock of a shared machine has a say. `yields`: takes what the others leave of the
 * processor; only for tests that no slowness makes fail. `runner`: script that runs the tests instead of mocha in plain
 * Node, and leaves the counts in the same way. The time a test may take stands in package.json: it is there for those
 * that hang, and no other comes near it on a busy machine.
 */
export const suites = [
  { name: 'load', needs: ['bundles'], jobs: 3, retries: 1 },
  {
    name: 'interop',
    needs: ['bundles', 'aspnetServer', 'natsServer'],
    // For pages of official clients.
    wants: ['chromium'],
    retries: 0,
  },
  // Its agents are processes of their own: beside `interop` both would starve.
  { name: 'machines', after: ['interop'], jobs: 2, needs: ['bundles', 'natsServer'], retries: 0 },
  // It waits more than it works, but what it waits for is real: generators that starve are none that stood still.
  { name: 'endurance', after: ['interop', 'machines'], jobs: 2, needs: ['bundles'], retries: 0 },
  // Half of its time is waiting, so that two at once use what the others leave. It begins while the others still prepare.
  { name: 'unit', needs: [], jobs: 2, retries: 0, yields: true },
  // Half a minute of what is left; more by `npm run fuzz`.
  { name: 'fuzz', after: ['interop'], needs: [], retries: 0, yields: true },
  {
    name: 'vscode',
    needs: ['bundles', 'vscodeHost', 'chromium', 'natsServer'],
    retries: 1,
    runner: 'scripts/runVscodeTests.mjs',
  },
  {
    name: 'ui',
    after: ['interop', 'vscode'],
    needs: ['vsix', 'vscodeHost', 'chromium'],
    // For pages of a hub's own.
    wants: ['aspnetServer'],
    jobs: 2,
    retries: 1,
  },
  { name: 'latency', alone: true, needs: ['bundles'], retries: 1 },
];

/** Suites that run only where they are named: what they need is more than a machine usually has, or lets one have. */
export const onDemand = [
  {
    name: 'cluster',
    needs: ['bundles', 'vsix', 'vscodeHost', 'chromium'],
    retries: 0,
    runner: 'scripts/testCluster.mjs',
  },
];

/**
 * Runs suites, each when those that it waits for are over.
 *
 * @param {(suite: object, place: number) => Promise<void>} run runs one
 * @param {Promise<void>} [beside] what goes on beside them; those that run alone wait for it, too
 */
export async function runInOrder(chosen, run, beside) {
  /** By the names of suites that were begun: settles when each is over. */
  const over = new Map();
  for (const [place, suite] of chosen.entries()) {
    const { name, after = [], alone = false } = suite;
    const before = alone ? [...over.values(), beside] : after.map((other) => over.get(other));
    over.set(
      name,
      Promise.all(before).then(() => run(suite, place)),
    );
  }
  await Promise.all([...over.values(), beside]);
}

export const noCounts = { passed: 0, failed: 0, skipped: 0, triedAgain: 0 };

/** Something that went wrong outside the tests of a suite; that counts as a failed test. */
function failure(what, { counts, notes } = { counts: noCounts, notes: [] }) {
  return { counts: { ...counts, failed: counts.failed + 1 }, notes: [...notes, `failed: ${what}`] };
}

/** A test that asks for more tries than its suite has is at fault, whatever became of it. */
export function judged({ retries }, report) {
  return retries === 0 && report.counts.triedAgain > 0
    ? failure('a test was tried again in a suite without second tries', report)
    : report;
}

function testFiles(name) {
  const folder = path.join(root, 'out', 'test', name);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.test.js') && hasSource(name, file))
    .map((file) => path.join(folder, file))
    .sort();
}

/** The compiler leaves the output of deleted files behind; those are no tests any more. */
function hasSource(name, file) {
  return existsSync(path.join(root, 'test', name, file.replace(/\.js$/, '.ts')));
}

/** Arguments of mocha for the files; with `onlyCount` it only goes through them. */
function mochaArguments({ jobs = 1, retries }, files, onlyCount) {
  return [
    // Young objects of tests die young: with more room for them a tenth less time goes into collecting garbage.
    '--max-semi-space-size=64',
    packageProgram('mocha'),
    '--forbid-only',
    `--retries=${retries}`,
    '--reporter=scripts/suiteReporter.mjs',
    ...(jobs > 1 ? ['--parallel', `--jobs=${jobs}`] : []),
    ...(onlyCount ? ['--dry-run'] : []),
    ...files,
  ];
}

/**
 * Runs the program of a suite.
 *
 * @param {(chunk: Buffer) => void} [hear] gets what it says; without, that goes to this process's output
 * @returns the report it leaves
 */
async function runProgram({ name, yields = false }, args, hear) {
  const reportFile = path.join(root, 'out', `report-${name}.json`);
  rmSync(reportFile, { force: true });
  mkdirSync(path.dirname(reportFile), { recursive: true });
  const stdio = hear === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = startNode(args, { SUITE_REPORT: reportFile }, stdio);
  if (yields) lowerPriority(child, yieldingPriority);
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', hear);
  let lingered = false;
  let deadline;
  const watch = setInterval(() => {
    if (!existsSync(reportFile)) return;
    deadline ??= Date.now() + lingerMs;
    if (Date.now() < deadline) return;
    lingered = true;
    child.kill('SIGKILL');
  }, 500);
  const code = await exitCode(child);
  clearInterval(watch);

  // The exit code alone proves nothing: an extension host that was killed ends in 0.
  if (!existsSync(reportFile)) return failure(`no report (exit code ${code})`);
  const report = JSON.parse(readFileSync(reportFile, 'utf8'));
  const { passed, failed } = report.counts;
  if (failed > 0) return report;
  if (lingered) {
    const open = report.open?.join(', ') ?? 'unknown, as its process did not answer';
    return failure(`something was left open and had to be ended: ${open}`, report);
  }
  if (code !== 0) return failure(`exit code ${code}`, report);
  return passed === 0 ? failure('no test passed', report) : report;
}

/** How many tests the files hold; those that only load inside VS Code are counted by their sources. */
async function countTests(suite, files) {
  if (suite.runner === undefined) {
    const report = await runProgram(suite, mochaArguments(suite, files, true), () => undefined);
    return report.counts.passed;
  }
  const titles = files.map((file) => readFileSync(file, 'utf8').match(/^\s*it\(/gm) ?? []);
  return titles.flat().length;
}

/**
 * Runs one suite in its own process, when what it needs is there.
 *
 * @param {boolean} quiet whether what it says is kept until it is over, because another suite is talking
 * @returns {Promise<{ counts: typeof noCounts, notes: string[] }>} its tests by outcome, and a line for each that
 *   failed or was tried again; a failure before the first test counts as one
 */
export async function runSuite(suite, quiet) {
  const needed = await Promise.all(suite.needs.map(prepare));
  await Promise.all((suite.wants ?? []).map(prepare));
  const said = [];
  const hear = quiet ? (chunk) => said.push(chunk) : undefined;
  if (!quiet) console.log(`\n== ${suite.name} ==\n`);
  const report = await reportOf(suite, needed, hear);
  if (quiet) {
    console.log(`\n== ${suite.name} ==\n`);
    process.stdout.write(Buffer.concat(said));
  }
  return report;
}

async function reportOf(suite, needed, hear) {
  const files = testFiles(suite.name);
  if (files.length === 0) return failure('there are no test files');
  if (needed.includes('failed')) return failure('something it needs failed above');
  if (needed.includes('missing')) {
    const skipped = await countTests(suite, files);
    return { counts: { ...noCounts, skipped }, notes: [] };
  }
  const args =
    suite.runner === undefined ? mochaArguments(suite, files, false) : [suite.runner, ...files];
  return judged(suite, await runProgram(suite, args, hear));
}
