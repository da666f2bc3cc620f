import { writeFileSync } from 'node:fs';
import { reporters, Runner } from 'mocha';
import { whatIsOpen } from './whatIsOpen.mjs';

/** After the last test, before it is asked what is still open; a process that ends by then has left nothing. */
const patienceMs = 8000;

/** Characters of a failure that are repeated; the whole stands where the test ran. */
const mostSaid = 300;

/**
 * What became of the tests of a suite, and a line for each that failed or was tried again.
 *
 * @returns `{ counts: { passed, failed, skipped, triedAgain }, notes: string[] }`, which grows as the tests run
 */
function watchTests(runner) {
  const { EVENT_TEST_PASS, EVENT_TEST_FAIL, EVENT_TEST_PENDING, EVENT_TEST_RETRY } =
    Runner.constants;
  const report = { counts: { passed: 0, failed: 0, skipped: 0, triedAgain: 0 }, notes: [] };
  const again = new Set();
  const count = (outcome) => () => (report.counts[outcome] += 1);
  const note = (what) => (test, error) => {
    const said = String(error?.message ?? '').replace(/\s+/g, ' ');
    report.notes.push(`${what}: ${test.fullTitle()}: ${said.slice(0, mostSaid)}`);
  };
  runner.on(EVENT_TEST_PASS, count('passed'));
  runner.on(EVENT_TEST_PENDING, count('skipped'));
  runner.on(EVENT_TEST_FAIL, count('failed'));
  runner.on(EVENT_TEST_FAIL, note('failed'));
  runner.on(EVENT_TEST_RETRY, note('tried again'));
  runner.on(EVENT_TEST_RETRY, (test) => {
    again.add(`${test.file} ${test.fullTitle()}`);
    report.counts.triedAgain = again.size;
  });
  return report;
}

/** mocha's spec reporter, which also leaves what became of the tests in the file that SUITE_REPORT names. */
export default class SuiteReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const report = watchTests(runner);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const file = process.env.SUITE_REPORT;
      if (file === undefined) return;
      writeFileSync(file, JSON.stringify(report));
      // Keeps nothing alive by itself.
      const leaveOpen = () =>
        writeFileSync(file, JSON.stringify({ ...report, open: whatIsOpen() }));
      setTimeout(leaveOpen, patienceMs).unref();
    });
  }
}
