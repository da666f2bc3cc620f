import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { sampleResult } from '../unit/results/sampleResult';
import { openFile, until } from './editor';
import {
  endingIn,
  inWorkspace,
  ownController,
  resultNames,
  results,
  startLong,
  store,
} from './longRun';
import { recordingMessages } from './messages';

const activeTab = (): vscode.Tab | undefined => vscode.window.tabGroups.activeTabGroup.activeTab;

describe('while a run is going on', () => {
  const test = recordingMessages();
  const { said } = test;

  it('it is neither deleted nor renamed, waiting for it can be called off, and its name is no link', async () => {
    const stored = store('2026-11-21T10-00-00-over', JSON.stringify(sampleResult()));
    const folder = await startLong('[link](x).signalr.yaml');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const window = vscode.window as unknown as Record<string, unknown>;
    const { showQuickPick, withProgress } = window;
    let offered: readonly string[] = [];
    window['showQuickPick'] = (
      items: readonly { readonly entry: { readonly folder: string } }[],
    ) => {
      offered = items.map(({ entry }) => entry.folder);
      return Promise.resolve(undefined);
    };
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
      for (const command of ['deleteResult', 'renameResult']) {
        for (const argument of [folder, { kind: 'result', entry: { folder, status: 'running' } }]) {
          test.messages.forget();
          await vscode.commands.executeCommand(`signalrBenchmark.${command}`, argument);
          await said(/is still going on\. Stop it first/);
        }
        await until(`${command} offers what is over`, async () => {
          await vscode.commands.executeCommand(`signalrBenchmark.${command}`);
          return offered.includes(stored) ? true : undefined;
        });
        assert.ok(!offered.includes(folder), command);
      }
      test.messages.forget();
      test.messages.press = 'Wait for Its End';
      const { uri } = await openFile('[link](x).signalr.yaml');
      const waiting = vscode.commands.executeCommand('signalrBenchmark.run', uri);
      const wait = await until('the waiting', () =>
        waits.find(({ title }) => title?.includes('waits for the end of') === true),
      );
      assert.equal(wait.cancellable, true);
      await said(/^Run \[link\] \(x\)/);
      await vscode.commands.executeCommand('signalrBenchmark.run', uri);
      await said(/^\[link\] \(x\)\.signalr\.yaml is queued .* To run something else, cancel it/);
      cancel.cancel();
      await waiting;
      assert.ok(!existsSync(path.join(folder, 'result.json')), 'the first run goes on');
      const texts = [
        ...waits.map(({ title = '' }) => title),
        ...test.messages.shown.map(({ text }) => text),
      ];
      assert.deepEqual(
        texts.filter((text) => text.includes('](')),
        [],
      );
    } finally {
      Object.assign(window, { showQuickPick, withProgress });
      await vscode.commands.executeCommand('signalrBenchmark.stop');
    }
    assert.equal(await endingIn(folder), 'stopped');
    rmSync(stored, { recursive: true });
  });

  it('whoever is called off stops neither it nor another, only what is their own', async () => {
    const { controller, services, dispose } = ownController();
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
      const earlier = resultNames();
      const third = run('long.signalr.yaml');
      first.cancel.cancel();
      assert.equal((await first.over)?.ending, 'stopped');
      const last = await going(earlier);
      // Who is called off after the end of their own run stops nobody's.
      for (const { cancel } of [first, second]) cancel.cancel();
      assert.ok(controller.writesTo(last), 'the last run goes on');
      third.cancel.cancel();
      assert.equal((await third.over)?.ending, 'stopped');
    } finally {
      dispose();
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
