import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { MadeRecording } from '../unit/record/analyse/madeRecording';
import { sampleResult, sampleSnapshot } from '../unit/results/sampleResult';
import {
  behind,
  extension,
  hoverText,
  openFile,
  problemsOf,
  until,
  workspaceFolder,
} from './editor';
import { recordMessages } from './messages';

const run = (command: string, ...args: unknown[]): Thenable<unknown> =>
  vscode.commands.executeCommand(`signalrBenchmark.${command}`, ...args);

const settings = (): vscode.WorkspaceConfiguration =>
  vscode.workspace.getConfiguration('signalrBenchmark');

/** A stored result as a run leaves it; without `result` it was interrupted. */
function storedFolder(name: string, { finished }: { readonly finished: boolean }): string {
  const folder = path.join(workspaceFolder().fsPath, '.signalr-bench', name);
  mkdirSync(folder, { recursive: true });
  const scenario = 'config:\n  target: local\nscenario:\n  name: echo\n';
  writeFileSync(path.join(folder, 'scenario.yaml'), scenario);
  writeFileSync(path.join(folder, 'samples.jsonl'), `${JSON.stringify(sampleSnapshot(1, 1))}\n`);
  const result = { ...sampleResult(), id: name };
  if (finished) writeFileSync(path.join(folder, 'result.json'), JSON.stringify(result));
  return folder;
}

const activeTab = (): vscode.Tab | undefined => vscode.window.tabGroups.activeTabGroup.activeTab;

describe('commands', () => {
  before(() => extension().activate());
  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('treat a file as a scenario, and no longer', async () => {
    const { uri } = await openFile('settings.yaml');
    await run('markScenario', uri);
    const problems = await problemsOf(uri);
    assert.equal(problems[0]?.source, 'SignalR Benchmark');
    await run('markScenario', uri);
    await problemsOf(uri, 'none');
  });

  it('make a scenario of a recording, and say what was found', async () => {
    const made = new MadeRecording();
    for (const client of [1, 2]) {
      made.at(client).open(client);
      for (let round = 0; round < 4; round++)
        made.at(100 + 500 * round + client).call(client, 'Next', [round]);
    }
    const { header, events } = made.recording;
    const file = path.join(workspaceFolder().fsPath, 'numbers.recording.jsonl');
    const lines = [header, ...(events as readonly object[])].map((line) => JSON.stringify(line));
    writeFileSync(file, `${lines.join('\n')}\n`);
    const messages = recordMessages();
    try {
      await run('importRecording', vscode.Uri.file(file));
      const document = vscode.window.activeTextEditor!.document;
      assert.equal(path.basename(document.uri.path), 'numbers.signalr.yaml');
      assert.ok(document.isUntitled);
      assert.match(document.getText(), /^# Recorded 2026-11-23 from/);
      assert.match(document.getText(), /^ {6}- call: Next$/m);
      assert.ok(messages.find(/^Recognised in .*: clients 2, methods 1\.$/));
      await run('replayRecording', vscode.Uri.file(file));
      const replay = vscode.window.activeTextEditor!.document;
      assert.equal(path.basename(replay.uri.path), 'numbers.replay.signalr.yaml');
      assert.match(replay.getText(), /^ {2}connections: 2 # 1 × 2 clients/m);
      assert.match(replay.getText(), /^ {4}recording: .*numbers\.recording\.jsonl"?$/m);
      await problemsOf(replay.uri, 'none');
    } finally {
      messages.dispose();
      rmSync(file);
    }
  });

  it('say of a file that is a scenario by its name that it is one', async () => {
    const window = vscode.window as { setStatusBarMessage: unknown };
    const realBar = window.setStatusBarMessage;
    const said: string[] = [];
    window.setStatusBarMessage = (text: string): void => void said.push(text);
    try {
      const { uri } = await openFile('quick.signalr.yaml');
      await run('markScenario', uri);
      await run('markScenario', uri);
    } finally {
      window.setStatusBarMessage = realBar;
    }
    assert.equal(said.length, 2);
    for (const text of said) assert.match(text, /is a SignalR scenario by its name/);
  });

  it('export a result to a file, in a format of the command line', async () => {
    const messages = recordMessages();
    const window = vscode.window as unknown as Record<string, unknown>;
    const { showQuickPick, showSaveDialog } = window;
    const offered: string[][] = [];
    window['showQuickPick'] = (items: readonly vscode.QuickPickItem[]) => {
      offered.push(items.map(({ label }) => label));
      return Promise.resolve(
        items.find(({ label }) => label === (offered.length > 1 ? 'md' : 'csv')),
      );
    };
    let proposed: vscode.SaveDialogOptions | undefined;
    window['showSaveDialog'] = (options: vscode.SaveDialogOptions) => {
      proposed = options;
      return Promise.resolve(options.defaultUri);
    };
    const written: string[] = [];
    const exportedTo = async (folder: string): Promise<string> => {
      await run('exportResult', folder);
      const file = proposed!.defaultUri!.fsPath;
      written.push(file);
      return readFileSync(file, 'utf8');
    };
    try {
      messages.press = 'Open';
      const name = '2026-11-21T09-00-00-exported';
      const text = await exportedTo(storedFolder(name, { finished: true }));
      assert.match(text, /^index,senders,.*\r\n1,700,/);
      assert.deepEqual(proposed!.filters, { csv: ['csv'] });
      assert.equal(written[0], path.join(workspaceFolder().fsPath, `${name}.csv`));
      await until('the opened file', () =>
        vscode.workspace.textDocuments.find(({ fileName }) => fileName === written[0]),
      );
      assert.ok(messages.find(/^Result exported to .*exported\.csv\.$/));
      const left = storedFolder('2026-11-21T09-00-01-left', { finished: false });
      assert.match(await exportedTo(left), /interrupted/);
      assert.deepEqual(offered, [
        ['json', 'csv', 'md', 'html', 'junit', 'hlog', 'openmetrics', 'counters'],
        ['md', 'html', 'junit', 'counters'],
      ]);
      messages.forget();
      window['showSaveDialog'] = () =>
        Promise.resolve(vscode.Uri.file(path.join(left, 'scenario.yaml', 'x.md')));
      await run('exportResult', left);
      assert.equal(messages.find(/x\.md cannot be written \(/)?.level, 'error');
    } finally {
      Object.assign(window, { showQuickPick, showSaveDialog });
      messages.dispose();
      for (const file of written) rmSync(file);
    }
  });

  it('move a token out of a file, and say which one cannot be moved', async () => {
    const messages = recordMessages();
    const window = vscode.window as { showInputBox: unknown };
    const realBox = window.showInputBox;
    const proposed: (string | undefined)[] = [];
    window.showInputBox = ({ value }: vscode.InputBoxOptions): Promise<string> => {
      proposed.push(value);
      return Promise.resolve(value ?? '');
    };
    const openText = async (content: string): Promise<vscode.TextDocument> => {
      const document = await vscode.workspace.openTextDocument({ language: 'yaml', content });
      await vscode.window.showTextDocument(document);
      return document;
    };
    try {
      const text = 'config:\n  target: local\n  accessToken: "abc"\nscenario:\n  name: echo\n';
      const document = await openText(text);
      await problemsOf(document.uri);
      const fixes = await vscode.commands.executeCommand<vscode.CodeAction[]>(
        'vscode.executeCodeActionProvider',
        ...[document.uri, new vscode.Range(2, 0, 2, 20), vscode.CodeActionKind.QuickFix.value],
      );
      assert.equal(fixes[0]?.command?.command, 'signalrBenchmark.moveSecret');
      await run('moveSecret');
      const name = proposed[0] ?? '';
      assert.equal(document.getText(), text.replace('abc', `\${secret:${name}}`));
      await run('moveSecret');
      assert.ok(messages.find(/No secret was found/));
      const other = 'config:\n  target: "http://b.example/hu\\u0062, http://u:pw@a.example/hub"\n';
      const escaped = await openText(other);
      await run('moveSecret');
      assert.ok(messages.find(/cannot be moved/));
      assert.equal(escaped.getText(), other);
      const second = await openText(text);
      await run('moveSecret');
      assert.equal(proposed.length, 2);
      assert.notEqual(proposed[1], name);
      assert.equal(second.getText(), text.replace('abc', `\${secret:${proposed[1]}}`));
    } finally {
      window.showInputBox = realBox;
      messages.dispose();
      // Closing what was never saved would ask.
      for (let left = 3; left > 0; left--) {
        await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
      }
    }
  });

  it('lead from the estimate above a scenario to where it comes from', async () => {
    const document = await openFile('tooSmall.signalr.yaml');
    await run('showEstimate', document.uri);
    const { active } = vscode.window.activeTextEditor!.selection;
    assert.deepEqual(active, behind(document, '\n  connections').translate(0, -11));
  });

  it('open a stored result under the name of its scenario', async () => {
    const folder = storedFolder('2026-01-02T03-04-05-stored', { finished: true });
    await run('openResult', folder);
    const tab = await until('the tab of the result', () => {
      const { input } = activeTab() ?? {};
      return input instanceof vscode.TabInputCustom ? input : undefined;
    });
    assert.equal(path.dirname(tab.uri.fsPath), folder);
  });

  it('open what an interrupted run left', async () => {
    const folder = storedFolder('2026-01-02T03-04-06-broken', { finished: false });
    await run('openResult', folder);
    await until('the panel', () =>
      activeTab()?.input instanceof vscode.TabInputWebview ? true : undefined,
    );
    assert.match(activeTab()?.label ?? '', /^broken · /);
  });

  it('delete a result for good when the way back is not taken', async () => {
    const name = '2026-01-02T03-04-07-deleted';
    const folder = storedFolder(name, { finished: true });
    const deleted = run('deleteResult', folder);
    await until('the folder goes', () => (existsSync(folder) ? undefined : true));
    const left = (): string[] =>
      readdirSync(path.dirname(folder)).filter((each) => each.endsWith(name));
    await until('the question goes', async () => {
      await vscode.commands.executeCommand('notifications.clearAll');
      return left().length === 0 ? true : undefined;
    });
    await deleted;
  });

  it('show a result in the explorer', async () => {
    await run('revealResult', storedFolder('2026-01-02T03-04-08-shown', { finished: true }));
  });
});

describe('settings', () => {
  const change = async (name: string, value: unknown): Promise<void> => {
    await settings().update(name, value, vscode.ConfigurationTarget.Workspace);
  };
  afterEach(async () => {
    for (const name of ['codeLens', 'inlayHints', 'hoverEstimate']) await change(name, undefined);
  });

  const provided = async (command: string, ...args: unknown[]): Promise<readonly unknown[]> =>
    vscode.commands.executeCommand<unknown[]>(command, ...args);

  it('switch off the line above a scenario, words beside values, and estimates in hovers', async () => {
    const document = await openFile('tooSmall.signalr.yaml');
    const { uri } = document;
    const all = new vscode.Range(0, 0, document.lineCount, 0);
    const place = behind(document, '\n  connections').translate(0, -2);
    const shown = async (): Promise<unknown[]> => {
      const hovers = await provided('vscode.executeHoverProvider', uri, place);
      const text = hoverText(hovers as readonly vscode.Hover[]);
      assert.match(text, /onnections/);
      return [
        (await provided('vscode.executeCodeLensProvider', uri)).length,
        (await provided('vscode.executeInlayHintProvider', uri, all)).length,
        text.includes('Unit 10'),
      ];
    };
    assert.deepEqual(await shown(), [3, 3, true]);
    for (const name of ['codeLens', 'inlayHints', 'hoverEstimate']) await change(name, false);
    assert.deepEqual(await shown(), [0, 0, false]);
  });
});
