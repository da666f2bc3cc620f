import assert from 'node:assert/strict';
import path from 'node:path';
import * as vscode from 'vscode';
import { extension, openFile } from './editor';

/** Files of the extension that this extension host has loaded. */
function loadedFiles(): string[] {
  const folder = path.join(extension().extensionPath, 'dist') + path.sep;
  return Object.keys(require.cache).filter((file) => file.startsWith(folder));
}

describe('activation', () => {
  it('waits for something to do', () => {
    // Before the first file is opened; this file is the first one that runs.
    assert.equal(extension().isActive, false);
  });

  it('loads no worker', async () => {
    const startedAt = performance.now();
    await extension().activate();
    const elapsedMs = performance.now() - startedAt;
    // Printed, not asserted: machines that run tests are busy.
    console.log(`      activated in ${elapsedMs.toFixed(1)} ms (aim: below 50 ms)`);
    assert.ok(extension().isActive);
    const names = loadedFiles().map((file) => path.basename(file));
    assert.deepEqual(names, ['extension.js']);
  });

  it('leaves other YAML files alone', async () => {
    const document = await openFile('settings.yaml');
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      document.uri,
    );
    assert.deepEqual(lenses, []);
    assert.deepEqual(vscode.languages.getDiagnostics(document.uri), []);
  });
});
