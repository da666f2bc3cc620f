import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { stringify } from 'yaml';
import { Planted } from '../fakes/planted';
import { startRepeatingHub } from '../fakes/repeatingHub';
import { hoverText, openFile, until } from './editor';
import { endingIn, inWorkspace, resultNames, results } from './longRun';
import { recordingMessages } from './messages';

/** Records what the items of the status bar show from now on. */
function recordStatus(): { readonly shown: string[]; dispose(): void } {
  const shown: string[] = [];
  const window = vscode.window as { createStatusBarItem: unknown };
  const real = window.createStatusBarItem as (...args: unknown[]) => vscode.StatusBarItem;
  window.createStatusBarItem = (...args: unknown[]) =>
    new Proxy(real(...args), {
      set: (item, name, value) => {
        shown.push(JSON.stringify(value));
        return Reflect.set(item, name, value);
      },
      get: (item, name) => {
        const value: unknown = Reflect.get(item, name);
        return typeof value === 'function' ? (value.bind(item) as unknown) : value;
      },
    });
  return { shown, dispose: () => void (window.createStatusBarItem = real) };
}

describe('secrets', () => {
  const recorded = recordingMessages();

  it('are in nothing that the editor shows of a run whose hub says them back', async () => {
    const planted = new Planted('vsc');
    const hub = await startRepeatingHub();
    const status = recordStatus();
    try {
      const [user, password] = ['user', 'password'].map((part) =>
        encodeURIComponent(planted.at(part)),
      );
      process.env['PLANTED_IN_EDITOR'] = planted.at('env reference');
      const config = {
        ...{ connections: 4, baseSending: 4, step: 0, singleStepDuration: '2s', warmup: 0 },
        target: `${hub.url.replace('://', `://${user}:${password}@`)}?code=${encodeURIComponent(planted.at('query of target'))}`,
        skipNegotiation: true,
        headers: {
          Cookie: `who=${planted.at('cookie')}`,
          'X-Gate': planted.at('header'),
          'X-Env': '${env:PLANTED_IN_EDITOR}',
        },
        query: { sig: planted.at('query') },
      };
      const parameters = { method: 'Login', arguments: [{ password: planted.at('argument') }] };
      const text = stringify({ config, scenario: { name: 'invoke', parameters } });
      writeFileSync(inWorkspace('planted.signalr.yaml'), text);
      const before = resultNames();
      const { uri } = await openFile('planted.signalr.yaml');
      const texts: string[] = [];
      // What the editor says of the file, which shows the secrets itself: as hints, lenses, problems.
      const whole = new vscode.Range(0, 0, 1000, 0);
      for (const [command, ...more] of [
        ['vscode.executeCodeLensProvider', 100],
        ['vscode.executeInlayHintProvider', whole],
      ] as const)
        texts.push(JSON.stringify(await vscode.commands.executeCommand(command, uri, ...more)));
      texts.push(JSON.stringify(vscode.languages.getDiagnostics(uri)));
      for (const [line] of text.split('\n').entries()) {
        const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
          'vscode.executeHoverProvider',
          uri,
          new vscode.Position(line, 6),
        );
        texts.push(hoverText(hovers));
      }
      // Closed, so that nobody sees the panel and all of it is said elsewhere.
      await vscode.commands.executeCommand('signalrBenchmark.run', uri);
      const folder = await until('a folder', () => {
        const name = resultNames().find((each) => !before.includes(each));
        return name === undefined ? undefined : results(name);
      });
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await endingIn(folder);
      await recorded.said(/^planted\.signalr\.yaml: /);
      texts.push(...recorded.messages.shown.map(({ text: said }) => said), ...status.shown);
      assert.ok(status.shown.length > 3);
      assert.deepEqual([...new Set(texts.flatMap((each) => planted.foundIn(each)))], []);
    } finally {
      status.dispose();
      delete process.env['PLANTED_IN_EDITOR'];
      rmSync(inWorkspace('planted.signalr.yaml'), { force: true });
      await hub.dispose();
    }
  });
});
