import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { exitCode, packageProgram, root, runNode, startNode } from './nodeProgram.mjs';

/** How long a suite may hold its process open after its last test. */
const lingerMs = 15_000;

/**
 * The suites, in the order they run. `built`: needs the bundles in dist. `prepare`: script that runs
 * first, and `prepared`: the file it leaves when the suite can run; a script that succeeds without it has
 * said what is not installed.
 */
export const suites = [
  { name: 'unit', timeoutMs: 10_000, built: false },
  { name: 'load', timeoutMs: 120_000, built: true },
  {
    name: 'interop',
    timeoutMs: 120_000,
    built: true,
    prepare: 'scripts/buildInterop.mjs',
    prepared: 'out/interop/aspnetcore/.published',
  },
];

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

/** Runs mocha on the files, or with `onlyCount` has it go through them silently; settles with its counts. */
async function runMocha(suite, files, { onlyCount }) {
  const countsFile = path.join(root, 'out', `counts-${suite.name}.json`);
  rmSync(countsFile, { force: true });
  mkdirSync(path.dirname(countsFile), { recursive: true });
  const child = startNode(
    [
      packageProgram('mocha'),
      '--forbid-only',
      `--timeout=${suite.timeoutMs}`,
      '--reporter=scripts/suiteReporter.mjs',
      ...(onlyCount ? ['--dry-run'] : []),
      ...files,
    ],
    { SUITE_COUNTS: countsFile },
    onlyCount ? 'ignore' : 'inherit',
  );
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

  if (!existsSync(countsFile)) {
    console.error(`The ${suite.name} suite ended without a result (exit code ${code}).`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const counts = JSON.parse(readFileSync(countsFile, 'utf8'));
  if (lingered) console.error(`The ${suite.name} suite left something open and had to be ended.`);
  // A suite that fails outside its tests must not look green.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

/**
 * Runs one suite in its own process.
 *
 * @returns {Promise<{ passed: number, failed: number, skipped: number }>} tests by outcome; a failure
 *   before the first test counts as one
 */
export async function runSuite(suite) {
  console.log(`\n== ${suite.name} ==`);
  const files = testFiles(suite.name);
  if (files.length === 0) {
    console.error(`The ${suite.name} suite has no test files.`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  if (suite.prepare !== undefined) {
    if ((await runNode([suite.prepare])) !== 0) {
      console.error(`Preparing the ${suite.name} suite failed (${suite.prepare}).`);
      return { passed: 0, failed: 1, skipped: 0 };
    }
    if (!existsSync(path.join(root, suite.prepared))) {
      const { passed, failed, skipped } = await runMocha(suite, files, { onlyCount: true });
      return { passed: 0, failed: 0, skipped: passed + failed + skipped };
    }
  }
  return runMocha(suite, files, { onlyCount: false });
}
