import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import Mocha from 'mocha';
import * as vscode from 'vscode';

/** Above every wait inside a test: a start of a run, its steps and its end take seconds, on a busy machine many. */
const timeoutMs = 240_000;
const reporterFile = path.join(__dirname, '../../../scripts/suiteReporter.mjs');

/**
 * Entry that VS Code calls in its extension host: runs the test files beside this one, or those of them that
 * VSCODE_TEST_FILES names, apart by commas. The reporter leaves a report of its own, since the exit code of
 * VS Code is no proof.
 */
export async function run(): Promise<void> {
  const { default: reporter } = (await import(pathToFileURL(reporterFile).href)) as {
    default: Mocha.ReporterConstructor;
  };
  const mocha = new Mocha({
    ...{ color: false, timeout: timeoutMs, forbidOnly: true, reporter },
    // Of VS Code as it is when much else runs beside it; counted, as in the other suites.
    retries: 1,
  });
  const grep = process.env['VSCODE_TEST_GREP'];
  if (grep !== undefined) mocha.grep(grep);
  const chosen = process.env['VSCODE_TEST_FILES']?.split(',');
  for (const name of readdirSync(__dirname).sort())
    if (name.endsWith('.test.js') && (chosen?.includes(name) ?? true))
      mocha.addFile(path.join(__dirname, name));
  console.log(`VS Code ${vscode.version}`);
  const failures = await new Promise<number>((resolve) => mocha.run(resolve));
  if (failures > 0) throw new Error(`${failures} tests failed`);
}
