import { writeFileSync } from 'node:fs';
import { reporters, Runner } from 'mocha';

/** What a test says of its failure, on one line. */
function oneLine(test, error) {
  return `${test.fullTitle()}: ${error?.message ?? ''}`.split('\n')[0];
}

/**
 * mocha's spec reporter, which also leaves its counts, and what failed or had to be tried again and why, in the
 * file that SUITE_COUNTS names.
 */
export default class SuiteReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const notes = [];
    runner.on(Runner.constants.EVENT_TEST_RETRY, (test, error) => {
      notes.push(`tried again: ${oneLine(test, error)}`);
    });
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test, error) => {
      notes.push(`failed: ${oneLine(test, error)}`);
    });
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      const counts = { passed: passes, failed: failures, skipped: pending, notes };
      writeFileSync(process.env.SUITE_COUNTS, JSON.stringify(counts));
    });
  }
}
