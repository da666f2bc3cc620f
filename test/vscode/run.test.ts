import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { openFile, until, workspaceFolder } from './editor';

interface StoredResult {
  readonly ending: string;
  readonly verdict: { readonly status: string; readonly reasons: readonly unknown[] };
  readonly steps: readonly { readonly received: number; readonly lost: number }[];
  readonly recommendation: unknown;
}

const resultsFolder = (): string => path.join(workspaceFolder().fsPath, '.signalr-bench');

function resultFolders(): string[] {
  if (!existsSync(resultsFolder())) return [];
  return readdirSync(resultsFolder(), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => path.join(resultsFolder(), name));
}

/** Runs a scenario by the command, as from the palette; settles with its folder once it holds `file`. */
async function runUntil(name: string, file: string): Promise<string> {
  const before = new Set(resultFolders());
  await openFile(name);
  const finished = vscode.commands.executeCommand('signalrBenchmark.run');
  finished.then(undefined, (error: unknown) => {
    console.error(error);
  });
  return until(
    `${file} of ${name}`,
    () =>
      resultFolders().find((folder) => !before.has(folder) && existsSync(path.join(folder, file))),
    15_000,
  );
}

const resultIn = (folder: string): StoredResult =>
  JSON.parse(readFileSync(path.join(folder, 'result.json'), 'utf8')) as StoredResult;

function openTabs(): readonly vscode.Tab[] {
  return vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
}

describe('a run', () => {
  let folder = '';

  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('goes to its end and leaves a result', async () => {
    folder = await runUntil('quick.signalr.yaml', 'result.json');
    const result = resultIn(folder);
    assert.equal(result.ending, 'completed', JSON.stringify(result.verdict));
    assert.equal(result.steps.length, 2);
    for (const { received, lost } of result.steps) {
      assert.ok(received > 0);
      assert.equal(lost, 0);
    }
    assert.ok(result.recommendation !== null);
    assert.ok(existsSync(path.join(folder, 'scenario.yaml')));
    assert.ok(existsSync(path.join(folder, 'samples.jsonl')));
  });

  it('opens the panel beside the scenario', () => {
    const panels = openTabs().filter(({ input }) => input instanceof vscode.TabInputWebview);
    assert.ok(
      panels.length > 0,
      openTabs()
        .map(({ label }) => label)
        .join(', '),
    );
  });

  it('is stopped by the command and keeps what was measured', async () => {
    const stopped = await runUntil('long.signalr.yaml', 'samples.jsonl');
    await vscode.commands.executeCommand('signalrBenchmark.stop');
    await until('result of the stopped run', () =>
      existsSync(path.join(stopped, 'result.json')) ? true : undefined,
    );
    assert.equal(resultIn(stopped).ending, 'stopped');
  });

  it('is shown again from its file', async () => {
    const file = vscode.Uri.file(path.join(folder, 'result.json'));
    await vscode.commands.executeCommand('vscode.open', file);
    await until('an editor for the result', () =>
      openTabs().find(
        ({ input }) =>
          input instanceof vscode.TabInputCustom && input.viewType === 'signalrBenchmark.result',
      ),
    );
  });
});
