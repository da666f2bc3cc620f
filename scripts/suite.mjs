import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { exitCode, packageProgram, root, runNode, startNode } from './nodeProgram.mjs';

/** How long a suite may hold its process open after its last test. */
const lingerMs = 15_000;

/**
 * The suites, in the order they run. `built`: needs the bundles in dist. `prepare`: script that runs
 * first, and `prepared`: the file it leaves when the suite can run; a script that succeeds without it has
 * said what is not installed. `runner`: script that runs the tests instead of mocha in plain Node, and
 * leaves the counts in the same way. `beside`: judges no times and mostly waits, so that it runs beside the
 * suites after it, and says what it has to say when they are over.
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
    beside: true,
  },
  {
    name: 'vscode',
    built: true,
    prepare: 'scripts/setupVscode.mjs',
    prepared: 'out/vscodeHost.ready',
    runner: 'scripts/runVscodeTests.mjs',
  },
  {
    name: 'ui',
    timeoutMs: 60_000,
    built: true,
    prepare: 'scripts/setupVscode.mjs',
    prepared: 'out/vscodeHost.ready',
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

/** Arguments of mocha for the files; with `onlyCount` it only goes through them. */
function mochaArguments(suite, files, onlyCount) {
  return [
    packageProgram('mocha'),
    '--forbid-only',
    `--timeout=${suite.timeoutMs}`,
    '--reporter=scripts/suiteReporter.mjs',
    ...(onlyCount ? ['--dry-run'] : []),
    ...files,
  ];
}

/** Runs the program of a suite; settles with the counts it leaves. What it says is given to `hear`, if any. */
async function runProgram(suite, args, { hear, stdio = hear ? 'pipe' : 'inherit' } = {}) {
  const countsFile = path.join(root, 'out', `counts-${suite.name}.json`);
  rmSync(countsFile, { force: true });
  mkdirSync(path.dirname(countsFile), { recursive: true });
  const child = startNode(args, { SUITE_COUNTS: countsFile }, stdio);
  child.stdin?.end();
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => hear(chunk));
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

/** How many tests the files hold; those that only load inside VS Code are counted by their sources. */
async function countTests(suite, files) {
  if (suite.runner === undefined) {
    const counts = await runProgram(suite, mochaArguments(suite, files, true), {
      stdio: 'ignore',
    });
    return counts.passed + counts.failed + counts.skipped;
  }
  const titles = files.map((file) => readFileSync(file, 'utf8').match(/^\s*it\(/gm) ?? []);
  return titles.flat().length;
}

/**
 * Prepares one suite and starts it in its own process.
 *
 * @param {boolean} beside whether what it says is kept until it is asked for
 * @returns {Promise<() => Promise<{ passed: number, failed: number, skipped: number }>>} settles when the
 *   suite is running; the function waits for it and gives the tests by outcome, where a failure before the
 *   first test counts as one
 */
export async function startSuite(suite, beside = false) {
  const said = [`\n== ${suite.name} ==\n`];
  if (!beside) process.stdout.write(said.pop());
  const prepared = await prepareSuite(suite);
  const counts =
    'counts' in prepared
      ? Promise.resolve(prepared.counts)
      : runProgram(suite, prepared.args, beside ? { hear: (chunk) => said.push(chunk) } : {});
  return async () => {
    const outcome = await counts;
    for (const part of said) process.stdout.write(part);
    return outcome;
  };
}

/** What to run, or the counts when there is nothing to. */
async function prepareSuite(suite) {
  const files = testFiles(suite.name);
  if (files.length === 0) {
    console.error(`The ${suite.name} suite has no test files.`);
    return { counts: { passed: 0, failed: 1, skipped: 0 } };
  }
  if (suite.prepare !== undefined) {
    if ((await runNode([suite.prepare])) !== 0) {
      console.error(`Preparing the ${suite.name} suite failed (${suite.prepare}).`);
      return { counts: { passed: 0, failed: 1, skipped: 0 } };
    }
    if (!existsSync(path.join(root, suite.prepared))) {
      return { counts: { passed: 0, failed: 0, skipped: await countTests(suite, files) } };
    }
  }
  return {
    args: suite.runner === undefined ? mochaArguments(suite, files, false) : [suite.runner],
  };
}
