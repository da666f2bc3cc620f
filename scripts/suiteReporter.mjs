import { writeFileSync } from 'node:fs';
import { reporters, Runner } from 'mocha';

/** mocha's spec reporter, which also leaves its counts in the file that SUITE_COUNTS names. */
export default class SuiteReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      const counts = { passed: passes, failed: failures, skipped: pending };
      writeFileSync(process.env.SUITE_COUNTS, JSON.stringify(counts));
    });
  }
}
