import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { sampleResult } from '../unit/results/sampleResult';
import { RunPanels } from '../../src/extension/panel/runPanel';
import { RunController } from '../../src/extension/run/runController';
import { createServices } from '../../src/extension/services';
import { extension, openFile, until } from './editor';
import { endingIn, inWorkspace, resultNames, results, startLong, store } from './longRun';
import { memento } from '../fakes/memento';
import { recordingMessages } from './messages';
import { recordedPages } from './pages';

const activeTab = (): vscode.Tab | undefined => vscode.window.tabGroups.activeTabGroup.activeTab;

describe('while a run is going on', () => {
  const test = recordingMessages();
  const { said } = test;

  it('it is neither deleted nor renamed, nor offered for it', async () => {
    const stored = store('2026-11-21T10-00-00-over', JSON.stringify(sampleResult()));
    const folder = await startLong('kept.signalr.yaml');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const window = vscode.window as unknown as Record<string, unknown>;
    const { showQuickPick } = window;
    let offered: readonly string[] = [];
    window['showQuickPick'] = (
      items: readonly { readonly entry: { readonly folder: string } }[],
    ) => {
      offered = items.map(({ entry }) => entry.folder);
      return Promise.resolve(undefined);
    };
    try {
      for (const command of ['deleteResult', 'renameResult']) {
        for (const argument of [folder, { kind: 'result', entry: { folder, status: 'running' } }]) {
          test.messages.forget();
          await vscode.commands.executeCommand(`signalrBenchmark.${command}`, argument);
          await said(/kept is still going on\. Stop it first/);
        }
        await until(`${command} offers what is over`, async () => {
          await vscode.commands.executeCommand(`signalrBenchmark.${command}`);
          return offered.includes(stored) ? true : undefined;
        });
        assert.ok(!offered.includes(folder), command);
      }
      assert.ok(existsSync(folder));
    } finally {
      window['showQuickPick'] = showQuickPick;
      await vscode.commands.executeCommand('signalrBenchmark.stop');
    }
    assert.equal(await endingIn(folder), 'stopped');
    rmSync(stored, { recursive: true });
  });

  it('the waiting for it can be called off, and says so to whoever runs a third', async () => {
    const folder = await startLong('waited.signalr.yaml');
    const before = resultNames();
    const window = vscode.window as unknown as Record<string, unknown>;
    const { withProgress } = window;
    const cancel = new vscode.CancellationTokenSource();
    const waits: vscode.ProgressOptions[] = [];
    window['withProgress'] = (
      options: vscode.ProgressOptions,
      task: (progress: unknown, token: vscode.CancellationToken) => Promise<unknown>,
    ) => {
      waits.push(options);
      return task({ report: () => undefined }, cancel.token);
    };
    try {
      test.messages.press = 'Wait for Its End';
      const { uri } = await openFile('quick.signalr.yaml');
      const waiting = vscode.commands.executeCommand('signalrBenchmark.run', uri);
      const wait = await until('the waiting', () =>
        waits.find(({ title }) => title?.includes('waits for the end of') === true),
      );
      assert.equal(wait.cancellable, true);
      assert.match(wait.title!, /^quick\.signalr\.yaml waits for the end of waited\.signalr\.yaml/);
      await vscode.commands.executeCommand('signalrBenchmark.run', uri);
      await said(/quick\.signalr\.yaml is queued .* To run something else, cancel it/);
      cancel.cancel();
      await waiting;
      assert.ok(!existsSync(path.join(folder, 'result.json')), 'the first run goes on');
    } finally {
      window['withProgress'] = withProgress;
      await vscode.commands.executeCommand('signalrBenchmark.stop');
    }
    assert.equal(await endingIn(folder), 'stopped');
    assert.deepEqual(resultNames(), before);
  });

  it('whoever is called off stops neither it nor another, only what is their own', async () => {
    const context = {
      ...{ workspaceState: memento(), globalState: memento(), secrets: {} },
      globalStorageUri: vscode.Uri.file(inWorkspace('.signalr-bench')),
      asAbsolutePath: (name: string) => path.join(extension().extensionPath, name),
    } as unknown as vscode.ExtensionContext;
    const services = createServices(context);
    const panels = new RunPanels(extension().extensionUri, services.log);
    const controller = new RunController(services, panels, context);
    const run = (name: string) => {
      const uri = vscode.Uri.file(inWorkspace(name));
      const text = readFileSync(uri.fsPath, 'utf8');
      const cancel = new vscode.CancellationTokenSource();
      const scenario = { uri, origin: uri, title: name, text, overrides: [] };
      return { cancel, over: controller.runToEnd(scenario, cancel.token) };
    };
    // The list of results is asked for when a run goes on.
    let began = 0;
    services.index.refresh = () => void (began += 1);
    const going = (before: readonly string[]) =>
      until('the run', () =>
        resultNames()
          .filter((name) => began > 0 && !before.includes(name))
          .map((name) => results(name))
          .find((folder) => controller.writesTo(folder)),
      );
    try {
      const before = resultNames();
      const first = run('long.signalr.yaml');
      const folder = await going(before);
      test.messages.press = 'Wait for Its End';
      const second = run('quick.signalr.yaml');
      await said(/^Run quick\.signalr\.yaml\? A run of long/);
      second.cancel.cancel();
      assert.equal(await second.over, undefined);
      assert.ok(controller.writesTo(folder), 'the first run goes on');
      const third = run('quick.signalr.yaml');
      first.cancel.cancel();
      assert.equal((await first.over)?.ending, 'stopped');
      assert.equal((await third.over)?.ending, 'completed');
      // Who was called off after the end of their own run stops nobody's.
      const earlier = resultNames();
      const fourth = run('long.signalr.yaml');
      const last = await going(earlier);
      for (const { cancel } of [second, third]) cancel.cancel();
      assert.ok(controller.writesTo(last), 'the last run goes on');
      fourth.cancel.cancel();
      assert.equal((await fourth.over)?.ending, 'stopped');
    } finally {
      controller.stop();
      controller.dispose();
      // The log has the channel of the extension itself.
      services.index.dispose();
      services.running.dispose();
    }
  });

  it('no message makes a link of the name of its file', async () => {
    const window = vscode.window as unknown as Record<string, unknown>;
    const { withProgress } = window;
    const titles: string[] = [];
    const cancel = new vscode.CancellationTokenSource();
    const going = new vscode.CancellationTokenSource();
    window['withProgress'] = (
      { title = '' }: vscode.ProgressOptions,
      task: (progress: unknown, token: vscode.CancellationToken) => Promise<unknown>,
    ) => {
      titles.push(title);
      const { token } = title.includes('waits for') ? cancel : going;
      return task({ report: () => undefined }, token);
    };
    try {
      await startLong('[link](x).signalr.yaml');
      const document = await openFile('[link](x).signalr.yaml');
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, new vscode.Position(0, 0), '# changed\n');
      await vscode.workspace.applyEdit(edit);
      await said(/uses \[link\] \(x\)\.signalr\.yaml as it was/);
      test.messages.press = 'Wait for Its End';
      const waiting = vscode.commands.executeCommand('signalrBenchmark.run', document.uri);
      await until('the waiting', () => titles.find((title) => title.includes('waits for')));
      await vscode.commands.executeCommand('signalrBenchmark.run', document.uri);
      await said(/\(x\)\.signalr\.yaml is queued .* cancel it/);
      cancel.cancel();
      await waiting;
      await said(/^Run \[link\] \(x\)/);
      assert.ok(titles.includes('[link] (x).signalr.yaml'), titles.join(' | '));
      const all = [...titles, ...test.messages.shown.map(({ text }) => text)];
      assert.deepEqual(
        all.filter((text) => text.includes('](')),
        [],
      );
    } finally {
      window['withProgress'] = withProgress;
      await openFile('[link](x).signalr.yaml');
    }
  });

  it('its panel runs the file again as it stands by then', async () => {
    const window = vscode.window as unknown as Record<string, unknown>;
    const { createWebviewPanel } = window;
    const pages = recordedPages();
    try {
      const folder = await startLong('again.signalr.yaml');
      const { uri } = await openFile('again.signalr.yaml');
      const edit = new vscode.WorkspaceEdit();
      edit.insert(uri, new vscode.Position(0, 0), '# by then\n');
      await vscode.workspace.applyEdit(edit);
      await vscode.commands.executeCommand('signalrBenchmark.stop');
      assert.equal(await endingIn(folder), 'stopped');
      test.messages.press = 'Wait for Its End';
      const before = resultNames();
      pages[0]!({ type: 'runAgain' });
      const copy = await until('the copy of the second run', () => {
        const name = resultNames().find((each) => !before.includes(each));
        const file = results(name ?? '', 'samples.jsonl');
        return name !== undefined && existsSync(file)
          ? readFileSync(results(name, 'scenario.yaml'), 'utf8')
          : undefined;
      });
      assert.match(copy, /^# by then\n/);
    } finally {
      window['createWebviewPanel'] = createWebviewPanel;
      await vscode.commands.executeCommand('workbench.action.files.revert');
    }
  });

  it('what is said of the run before it opens that one', async () => {
    const window = vscode.window as unknown as Record<string, unknown>;
    const { showInformationMessage } = window;
    let open: ((answer: string) => void) | undefined;
    window['showInformationMessage'] = (text: string, ...rest: unknown[]) =>
      text.startsWith('before.signalr.yaml: ')
        ? new Promise((resolve) => (open = resolve))
        : (showInformationMessage as (...all: unknown[]) => unknown)(text, ...rest);
    const closeAll = 'workbench.action.closeAllEditors';
    try {
      await startLong('before.signalr.yaml');
      await vscode.commands.executeCommand(closeAll);
      await vscode.commands.executeCommand('signalrBenchmark.stop');
      const answer = await until('the words on the first run', () => open);
      await startLong('behind.signalr.yaml');
      await vscode.commands.executeCommand(closeAll);
      answer('Open Result');
      await until('the panel of the first run', () =>
        activeTab()?.label.startsWith('before.signalr.yaml · ') === true ? true : undefined,
      );
    } finally {
      window['showInformationMessage'] = showInformationMessage;
    }
  });
});
