// Runs test/vscode inside the extension host of a real VS Code: that of .vscode-host, or with
// VSCODE_TEST_HOST=desktop a downloaded desktop one. Works on a copy of the workspace fixture. Arguments choose
// test files.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runTests } from '@vscode/test-electron';
import { root } from './nodeProgram.mjs';

const desktop = process.env.VSCODE_TEST_HOST === 'desktop';
const program = desktop
  ? { version: process.env.VSCODE_TEST_VERSION ?? 'stable' }
  : { vscodeExecutablePath: path.join(root, 'scripts', 'codeShim.mjs') };

async function main() {
  const folder = mkdtempSync(path.join(tmpdir(), 'vsw-'));
  const workspace = path.join(folder, 'workspace');
  cpSync(path.join(root, 'test', 'vscode', 'workspace'), workspace, { recursive: true });
  const files = process.argv.slice(2).map((file) => path.basename(file));
  try {
    await runTests({
      ...program,
      extensionDevelopmentPath: root,
      extensionTestsPath: path.join(root, 'out', 'test', 'vscode', 'index.js'),
      launchArgs: desktop ? [workspace, '--disable-extensions'] : [workspace],
      extensionTestsEnv: files.length === 0 ? {} : { VSCODE_TEST_FILES: files.join(',') },
    });
    return 0;
  } catch (error) {
    console.error(error.message);
    return 1;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

process.exit(await main());
