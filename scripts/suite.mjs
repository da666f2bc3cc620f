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

const nothing = { passed: 0, failed: 0, skipped: 0, notes: [] };

/** Says what went wrong outside the tests of a suite; that counts as a failed test. */
function failure(note, counts = nothing) {
  console.error(note);
  return { ...counts, failed: counts.failed + 1, notes: [...counts.notes, `failed: ${note}`] };
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
 * @returns the counts it leaves
 */
async function runProgram({ name }, args, hear) {
  const countsFile = path.join(root, 'out', `counts-${name}.json`);
  rmSync(countsFile, { force: true });
  mkdirSync(path.dirname(countsFile), { recursive: true });
  const stdio = hear === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = startNode(args, { SUITE_COUNTS: countsFile }, stdio);
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', hear);
  let lingered = false;
  let deadline;
  const watch = setInterval(() => {
    if (!existsSync(countsFile)) return;
    deadline ??= Date.now() + lingerMs;
    if (Date.now() < deadline) return;
    lingered = true;
    child.kill('SIGKILL');
  }, 500);
  const code = await exitCode(child);
  clearInterval(watch);

  if (!existsSync(countsFile)) return failure(`it ended without a result (exit code ${code})`);
  const counts = JSON.parse(readFileSync(countsFile, 'utf8'));
  // A suite that fails outside its tests must not look green.
  if (code === 0 || counts.failed > 0) return counts;
  return failure(
    lingered ? 'it left something open and had to be ended' : `it ended with exit code ${code}`,
    counts,
  );
}

/** How many tests the files hold; those that only load inside VS Code are counted by their sources. */
async function countTests(suite, files) {
  if (suite.runner === undefined) {
    const counts = await runProgram(suite, mochaArguments(suite, files, true), () => undefined);
    return counts.passed + counts.failed + counts.skipped;
  }
  const titles = files.map((file) => readFileSync(file, 'utf8').match(/^\s*it\(/gm) ?? []);
  return titles.flat().length;
}

/**
 * Runs one suite in its own process, when what it needs is there.
 *
 * @param {boolean} quiet whether what it says is kept until it is over, because another suite is talking
 * @returns {Promise<{ passed: number, failed: number, skipped: number, notes: string[] }>} its tests by
 *   outcome, and a line for each that failed or was tried again; a failure before the first test counts as one
 */
export async function runSuite(suite, quiet) {
  const needed = await Promise.all(suite.needs.map(prepare));
  const said = [];
  const hear = quiet ? (chunk) => said.push(chunk) : undefined;
  if (!quiet) console.log(`\n== ${suite.name} ==\n`);
  const counts = await countsOf(suite, needed, hear);
  if (quiet) {
    console.log(`\n== ${suite.name} ==\n`);
    process.stdout.write(Buffer.concat(said));
  }
  return counts;
}

async function countsOf(suite, needed, hear) {
  const files = testFiles(suite.name);
  if (files.length === 0) return failure('it has no test files');
  if (needed.includes('failed')) return failure('it lacks something that failed above');
  if (needed.includes('missing')) return { ...nothing, skipped: await countTests(suite, files) };
  const args = suite.runner === undefined ? mochaArguments(suite, files, false) : [suite.runner];
  return runProgram(suite, args, hear);
}
