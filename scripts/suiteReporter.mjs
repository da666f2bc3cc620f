import { writeFileSync } from 'node:fs';
import { reporters, Runner } from 'mocha';

/**
 * mocha's spec reporter, which also says which tests had to be tried again and why, and leaves its counts in
 * the file that SUITE_COUNTS names.
 */
export default class SuiteReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const again = [];
    runner.on(Runner.constants.EVENT_TEST_RETRY, (test, error) => {
      again.push(`  tried again: ${test.fullTitle()}: ${error?.message ?? ''}`.split('\n')[0]);
    });
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      if (again.length > 0) console.log(`${again.join('\n')}\n`);
      const { passes, failures, pending } = this.stats;
      const counts = { passed: passes, failed: failures, skipped: pending };
      writeFileSync(process.env.SUITE_COUNTS, JSON.stringify(counts));
    });
  }
}
