import assert from 'node:assert/strict';
import path from 'node:path';
import * as vscode from 'vscode';
import { extension, openFile, problemsOf } from './editor';

/** Bundles of the extension that this extension host has loaded, by name. */
function loadedBundles(): string[] {
  const folder = path.join(extension().extensionPath, 'dist') + path.sep;
  return Object.keys(require.cache)
    .filter((file) => file.startsWith(folder))
    .map((file) => path.relative(folder, file))
    .sort();
}

interface Mark {
  readonly name: string;
  readonly startTime: number;
}

/** What the editor itself has noted: how long loading the code took, and calling `activate`. */
function notedMs(step: 'LoadExtensionCode' | 'ActivateExtension'): string {
  const { MonacoPerformanceMarks: noted } = globalThis as unknown as {
    readonly MonacoPerformanceMarks?: { getMarks(): readonly Mark[] };
  };
  const at = (edge: 'will' | 'did'): number | undefined =>
    noted?.getMarks().find(({ name }) => name === `code/extHost/${edge}${step}/${extension().id}`)
      ?.startTime;
  const [from, to] = [at('will'), at('did')];
  return from === undefined || to === undefined ? 'not noted' : `${Math.round(to - from)} ms`;
}

describe('activation', () => {
  it('loads nothing but what registers', async () => {
    const startedAt = performance.now();
    await extension().activate();
    const elapsedMs = performance.now() - startedAt;
    // Printed, not asserted: machines that run tests are busy.
    console.log(
      `      activated after ${elapsedMs.toFixed(1)} ms (aim: below 50 ms), noted by the editor: ` +
        `code ${notedMs('LoadExtensionCode')}, activate ${notedMs('ActivateExtension')}`,
    );
    assert.ok(extension().isActive);
    assert.deepEqual(loadedBundles(), ['extension.js']);
  });

  it('leaves other YAML files alone', async () => {
    const document = await openFile('settings.yaml');
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      document.uri,
    );
    assert.deepEqual(lenses, []);
    assert.deepEqual(vscode.languages.getDiagnostics(document.uri), []);
    assert.deepEqual(loadedBundles(), ['extension.js'], 'their editing needs no parser');
  });

  it('reads the language features with the first scenario, and no load runner', async () => {
    const { uri } = await openFile('broken.signalr.yaml');
    await problemsOf(uri);
    assert.deepEqual(loadedBundles(), [
      'extension.js',
      'features.js',
      'jsonPath.js',
      'sharedStart.js',
    ]);
  });
});
