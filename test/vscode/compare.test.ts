import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { CompareCommands } from '../../src/extension/run/compareCommands';
import { comparisonViewType, type Services } from '../../src/extension/services';
import { seededRandom } from '../../src/base/random';
import { measuredStep, wanderingSeconds } from '../fakes/measuredStep';
import { sampleResult } from '../unit/results/sampleResult';
import { until, workspaceFolder } from './editor';

const step = (seed: number, factor: number) =>
  measuredStep(
    wanderingSeconds(
      { perSecond: 100, correlation: 0, wandering: 0.05, factor },
      60,
      seededRandom(seed),
    ),
  );

/** As a node of the list of results has it. */
const nodeOf = (folder: string, startedMs: number) => ({
  kind: 'result',
  label: path.basename(folder),
  entry: {
    ...{ folder, name: path.basename(folder), scenario: 'compared', status: 'pass', startedMs },
    sentence: '',
  },
});

describe('Compare Results', () => {
  const results = path.join(workspaceFolder().fsPath, '.signalr-bench');
  const ids = ['2026-02-01T00-00-00-compared', '2026-02-02T00-00-00-compared'];
  const folders = ids.map((id) => path.join(results, id));

  before(() => {
    for (const [at, folder] of folders.entries()) {
      mkdirSync(folder, { recursive: true });
      const result = { ...sampleResult({ steps: [step(at, at === 0 ? 1 : 1.4)] }), id: ids[at] };
      writeFileSync(path.join(folder, 'result.json'), JSON.stringify(result));
    }
  });
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    rmSync(path.join(results, 'baselines.json'), { force: true });
  });

  it('opens a page for what is selected in the list, the oldest first', async () => {
    const nodes = folders.map((folder, at) => nodeOf(folder, Date.UTC(2026, 1, at + 1)));
    const [older, newer] = nodes;
    await vscode.commands.executeCommand('signalrBenchmark.compareResults', newer, [newer, older]);
    const label = await until('the page', () =>
      vscode.window.tabGroups.all
        .flatMap(({ tabs }) => tabs)
        .find(
          ({ input, label }) =>
            input instanceof vscode.TabInputWebview && label.startsWith('compared: '),
        ),
    );
    assert.match(label.label, /^compared: .*Feb 1.* and .*Feb 2/);
  });

  it('fills a page that a reload brings back, and closes it where its results are gone', async () => {
    const entries = folders.map((folder, at) => nodeOf(folder, Date.UTC(2026, 1, at + 1)).entry);
    const index = { load: () => Promise.resolve(entries) };
    const commands = new CompareCommands({ index } as unknown as Services, workspaceFolder());
    const broughtBack = (): vscode.WebviewPanel =>
      vscode.window.createWebviewPanel(comparisonViewType, '', vscode.ViewColumn.Active);
    const panel = broughtBack();
    await commands.restore(panel, { folders });
    assert.match(panel.title, /^compared: .*Feb 1.* and .*Feb 2/);
    assert.match(panel.webview.html, /data-page="comparison"/);
    panel.dispose();
    for (const state of [undefined, 'text', { folders: [folders[0], '/etc'] }, { folders: 1 }]) {
      const other = broughtBack();
      let closed = false;
      other.onDidDispose(() => (closed = true));
      await commands.restore(other, state);
      assert.ok(closed, JSON.stringify(state));
    }
  });

  it('keeps a baseline of the scenario', async () => {
    const node = nodeOf(folders[0]!, Date.UTC(2026, 1, 1));
    await vscode.commands.executeCommand('signalrBenchmark.makeBaseline', node);
    const kept = JSON.parse(readFileSync(path.join(results, 'baselines.json'), 'utf8')) as {
      baselines: Record<string, string>;
    };
    assert.deepEqual(kept.baselines, { compared: ids[0] });
  });
});
