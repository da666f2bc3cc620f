import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { sampleResult } from '../unit/results/sampleResult';
import { openFile, until } from './editor';
import { endingIn, inWorkspace, resultNames, results, startLong, store } from './longRun';
import { recordingMessages } from './messages';
import { recordedPages } from './pages';

const tabs = (): readonly vscode.Tab[] => vscode.window.tabGroups.all.flatMap((each) => each.tabs);

const panelTabs = (): readonly vscode.Tab[] =>
  tabs().filter(({ input }) => input instanceof vscode.TabInputWebview);

async function lensTitles(uri: vscode.Uri): Promise<readonly string[]> {
  const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
    'vscode.executeCodeLensProvider',
    uri,
  );
  return lenses.map(({ command }) => command?.title ?? '');
}

/** Waits until the tab in front is the scenario of a result, with its copy on the left or alone. */
const shownCopy = (): Promise<{ copy: vscode.Uri; beside?: vscode.Uri }> =>
  until('the scenario as it was run', () => {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    if (input instanceof vscode.TabInputTextDiff) {
      return { copy: input.original, beside: input.modified };
    }
    const own = input instanceof vscode.TabInputText && input.uri.scheme.startsWith('signalr');
    return own ? { copy: input.uri } : undefined;
  });

describe('tabs', () => {
  recordingMessages();
  let pages: ((message: unknown) => void)[] = [];
  const window = vscode.window as unknown as Record<string, unknown>;
  const open = window['createWebviewPanel'];

  before(() => {
    pages = recordedPages();
  });

  beforeEach(async () => {
    pages.length = 0;
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  after(() => {
    window['createWebviewPanel'] = open;
  });

  it('of a run have a name and an icon that differ from those of their scenario, and are used again for the file as it stands by then', async () => {
    const folder = await startLong('twice.signalr.yaml');
    const { label } = panelTabs()[0]!;
    assert.match(label, /^twice\.signalr\.yaml · .*\d/);
    await vscode.commands.executeCommand('signalrBenchmark.stop');
    await endingIn(folder);
    const { uri } = await openFile('twice.signalr.yaml');
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(0, 0), '# by then\n');
    await vscode.workspace.applyEdit(edit);
    const before = resultNames();
    // The result is stored a moment before the run is over for the editor.
    const again = await until('a second run', () => {
      pages.at(-1)!({ type: 'runAgain' });
      return resultNames().find((each) => !before.includes(each));
    });
    await until('its panel', () => (panelTabs()[0]?.label !== label ? true : undefined));
    assert.equal(panelTabs().length, 1);
    await vscode.commands.executeCommand('signalrBenchmark.stop');
    assert.equal(await endingIn(results(again)), 'stopped');
    assert.match(readFileSync(results(again, 'scenario.yaml'), 'utf8'), /^# by then\n/);
    await vscode.window.showTextDocument(uri);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('of a result open as previews, one for all', async () => {
    for (const name of ['2026-11-21T10-00-00-first', '2026-11-21T10-00-01-second']) {
      const folder = store(name, JSON.stringify({ ...sampleResult(), id: name }));
      await vscode.commands.executeCommand('signalrBenchmark.openResult', folder);
    }
    const shown = tabs().filter(({ input }) => input instanceof vscode.TabInputCustom);
    assert.deepEqual(
      shown.map(({ isPreview }) => isPreview),
      [true],
    );
  });

  it('have Stop where Run was while a scenario runs, and its copy is read-only, beside what the file is now', async () => {
    const folder = await startLong('changed.signalr.yaml');
    const running = vscode.Uri.file(inWorkspace('changed.signalr.yaml'));
    const { uri: other } = await openFile('quick.signalr.yaml');
    assert.equal((await lensTitles(running))[0], '■ Stop Run');
    assert.equal((await lensTitles(other))[0], '▶ Run SignalR Benchmark');
    await vscode.commands.executeCommand('signalrBenchmark.stop');
    assert.equal(await endingIn(folder), 'stopped');
    await until('Run again', async () =>
      (await lensTitles(running))[0] === '▶ Run SignalR Benchmark' ? true : undefined,
    );
    const page = pages.at(-1)!;
    const file = inWorkspace('changed.signalr.yaml');
    const asRun = readFileSync(path.join(folder, 'scenario.yaml'), 'utf8');

    page({ type: 'openScenario' });
    await until('the file itself', () =>
      vscode.window.activeTextEditor?.document.uri.fsPath === file ? true : undefined,
    );

    writeFileSync(file, `${asRun}# changed\n`);
    await until('the change', () => {
      const { document } = vscode.window.activeTextEditor!;
      return document.getText().endsWith('# changed\n') ? true : undefined;
    });
    page({ type: 'openScenario' });
    const { copy, beside } = await shownCopy();
    assert.equal(beside?.fsPath, file);
    const document = await vscode.workspace.openTextDocument(copy);
    assert.equal(document.getText(), asRun);

    await vscode.window.showTextDocument(document, { preview: false });
    await vscode.commands.executeCommand('type', { text: 'mine' });
    assert.equal(document.getText(), asRun);
    assert.equal(readFileSync(path.join(folder, 'scenario.yaml'), 'utf8'), asRun);
  });
});
