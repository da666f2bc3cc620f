import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';
import * as vscode from 'vscode';

/** A start of a run, its steps and its end take seconds, on a busy machine several; everything else is far below. */
const timeoutMs = 30_000;

/**
 * Entry that VS Code calls in its extension host: runs the test files beside this one. The counts go to the
 * file that VSCODE_TEST_REPORT names, since the exit code of VS Code is no proof.
 */
export function run(): Promise<void> {
  const mocha = new Mocha({
    ...{ color: false, timeout: timeoutMs, forbidOnly: true, reporter: 'spec' },
    // As in the suites of runs: other work on the machine makes everything slower at times.
    retries: 1,
  });
  const grep = process.env['VSCODE_TEST_GREP'];
  if (grep !== undefined) mocha.grep(grep);
  const names = readdirSync(__dirname).filter((name) => name.endsWith('.test.js'));
  for (const name of names.sort()) mocha.addFile(path.join(__dirname, name));
  return new Promise((resolve, reject) => {
    const notes: string[] = [];
    const runner = mocha.run((failures) => {
      const { passes = 0, pending = 0 } = runner.stats ?? {};
      const report = process.env['VSCODE_TEST_REPORT'];
      if (report !== undefined) {
        const counts = { passed: passes, failed: failures, skipped: pending, notes };
        writeFileSync(report, JSON.stringify({ version: vscode.version, ...counts }));
      }
      if (failures > 0) reject(new Error(`${failures} tests failed`));
      else resolve();
    });
    const note = (what: string) => (test: Mocha.Test, error: Error) => {
      notes.push(`${what}: ${test.fullTitle()}: ${error.message}`.replace(/\n.*/s, ''));
    };
    runner.on('retry', note('tried again'));
    runner.on('fail', note('failed'));
  });
}
