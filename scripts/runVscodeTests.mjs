// Runs test/vscode inside the extension host of a real VS Code: that of .vscode-host, or with
// VSCODE_TEST_HOST=desktop a downloaded desktop one. Works on a copy of the workspace fixture.
//
// Leaves its counts in the file that SUITE_COUNTS names. The exit code of VS Code alone proves nothing
// (an extension host that was killed ends in 0), so the suite writes a report of its own.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runTests } from '@vscode/test-electron';
import { root } from './nodeProgram.mjs';

const desktop = process.env.VSCODE_TEST_HOST === 'desktop';
const program = desktop
  ? { version: process.env.VSCODE_TEST_VERSION ?? 'stable' }
  : { vscodeExecutablePath: path.join(root, 'scripts', 'codeShim.mjs') };

/** Counts of the report; no report, or one without a passed test, is a failure. */
function countsFrom(file, exitedWell) {
  if (!existsSync(file)) {
    const note = 'no report: the extension host died or the suite did not end';
    return { passed: 0, failed: 1, skipped: 0, notes: [`failed: ${note}`] };
  }
  const { version, ...counts } = JSON.parse(readFileSync(file, 'utf8'));
  console.log(`VS Code ${version}: ${counts.passed} passed, ${counts.failed} failed`);
  if (counts.failed === 0 && (!exitedWell || counts.passed === 0)) {
    const note = 'VS Code ended with an error, or no test passed';
    return { ...counts, failed: 1, notes: [...counts.notes, `failed: ${note}`] };
  }
  return counts;
}

async function main() {
  const folder = mkdtempSync(path.join(tmpdir(), 'vsw-'));
  const workspace = path.join(folder, 'workspace');
  cpSync(path.join(root, 'test', 'vscode', 'workspace'), workspace, { recursive: true });
  const report = path.join(folder, 'report.json');
  let exitedWell = true;
  try {
    await runTests({
      ...program,
      extensionDevelopmentPath: root,
      extensionTestsPath: path.join(root, 'out', 'test', 'vscode', 'index.js'),
      launchArgs: desktop ? [workspace, '--disable-extensions'] : [workspace],
      extensionTestsEnv: { VSCODE_TEST_REPORT: report },
    });
  } catch (error) {
    exitedWell = false;
    console.error(error.message);
  }
  const counts = countsFrom(report, exitedWell);
  const countsFile = process.env.SUITE_COUNTS;
  if (countsFile !== undefined) writeFileSync(countsFile, JSON.stringify(counts));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  return counts.failed > 0 ? 1 : 0;
}

process.exit(await main());
