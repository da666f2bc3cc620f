import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { exitCode, packageProgram, root, startNode } from './nodeProgram.mjs';
import { prepare } from './preparations.mjs';

/** How long a suite may hold its process open after its last test. */
const lingerMs = 15_000;

/**
 * The suites in their turns; those of one turn run beside each other. `needs`: preparations without which
 * it cannot run. `jobs`: how many of its files run at once, each in a process of its own: right where tests
 * mostly wait and judge no times. `retries`: how often a test that failed is tried again, by default once:
 * other work on the machine makes everything slower at times, what is wrong with the product is wrong each
 * time. `runner`: script that runs the tests instead of mocha in plain Node, and leaves the counts in the same
 * way.
 */
export const turns = [
  [{ name: 'unit', timeoutMs: 30_000, needs: [] }],
  [{ name: 'load', timeoutMs: 120_000, needs: ['bundles'], jobs: 2 }],
  [{ name: 'latency', timeoutMs: 120_000, needs: ['bundles'], retries: 2 }],
  [
    { name: 'vscode', needs: ['bundles', 'vscodeHost'], runner: 'scripts/runVscodeTests.mjs' },
    { name: 'interop', timeoutMs: 120_000, needs: ['bundles', 'aspnetServer'] },
  ],
  [{ name: 'ui', timeoutMs: 120_000, needs: ['vsix', 'vscodeHost'], jobs: 2 }],
];

/** Something that went wrong outside the tests of a suite; that counts as a failed test. */
function failure(what, report = { files: {}, notes: [] }) {
  console.error(what);
  const files = { ...report.files, '': { passed: 0, failed: 1, skipped: 0 } };
  return { files, notes: [...report.notes, `failed: ${what}`] };
}

/** @returns the tests of a report by outcome */
export function countsOf({ files }) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of Object.values(files))
    for (const outcome of Object.keys(counts)) counts[outcome] += file[outcome];
  return counts;
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
function mochaArguments({ timeoutMs, jobs = 1, retries = 1 }, files, onlyCount) {
  return [
    packageProgram('mocha'),
    '--forbid-only',
    `--timeout=${timeoutMs}`,
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
async function runProgram({ name }, args, hear) {
  const reportFile = path.join(root, 'out', `report-${name}.json`);
  rmSync(reportFile, { force: true });
  mkdirSync(path.dirname(reportFile), { recursive: true });
  const stdio = hear === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = startNode(args, { SUITE_REPORT: reportFile }, stdio);
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
  const { passed, failed } = countsOf(report);
  if (failed > 0) return report;
  if (lingered) return failure('something was left open and had to be ended', report);
  if (code !== 0) return failure(`exit code ${code}`, report);
  return passed === 0 ? failure('no test passed', report) : report;
}

/** How many tests the files hold; those that only load inside VS Code are counted by their sources. */
async function countTests(suite, files) {
  if (suite.runner === undefined) {
    const report = await runProgram(suite, mochaArguments(suite, files, true), () => undefined);
    return countsOf(report).passed;
  }
  const titles = files.map((file) => readFileSync(file, 'utf8').match(/^\s*it\(/gm) ?? []);
  return titles.flat().length;
}

/**
 * Runs one suite in its own process, when what it needs is there.
 *
 * @param {boolean} quiet whether what it says is kept until it is over, because another suite is talking
 * @returns {Promise<{ files: { [file: string]: object }, notes: string[] }>} its tests by file and outcome, and
 *   a line for each that failed or was tried again; a failure before the first test counts as one
 */
export async function runSuite(suite, quiet) {
  const needed = await Promise.all(suite.needs.map(prepare));
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
    return { files: { '': { passed: 0, failed: 0, skipped } }, notes: [] };
  }
  return runProgram(suite, programOf(suite, files), hear);
}

function programOf(suite, files) {
  return suite.runner === undefined
    ? mochaArguments(suite, files, false)
    : [suite.runner, ...files];
}

/**
 * Runs the files of a suite in which a test failed once more, one after the other: what was only too slow
 * beside other work passes then. Where it failed outside its tests, all of them.
 *
 * @returns the report with what became of them
 */
export async function runAgain(suite, report) {
  const failed = Object.keys(report.files).filter((file) => report.files[file].failed > 0);
  const needed = await Promise.all(suite.needs.map(prepare));
  if (failed.length === 0 || needed.includes('failed')) return report;
  const all = failed.includes('');
  console.log(`\n== ${suite.name}, what failed once more ==\n`);
  const args = programOf({ ...suite, jobs: 1 }, all ? testFiles(suite.name) : failed);
  const again = await runProgram(suite, args);
  return {
    files: { ...(all ? {} : report.files), ...again.files },
    notes: [...report.notes, ...again.notes.map((line) => `once more: ${line}`)],
  };
}
