import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { stringify } from 'yaml';
import { ExpectedError } from '../../src/base/expectedError';
import { RunPanels } from '../../src/extension/panel/runPanel';
import { startFront } from '../fakes/loadFront';
import { sampleResult } from '../unit/results/sampleResult';
import { codeOf, extension, openFile, problemsOf, until } from './editor';
import { endingIn, inWorkspace, resultNames, results, startLong, store } from './longRun';
import { recordingMessages } from './messages';

describe('bad input', () => {
  const test = recordingMessages();
  const { said } = test;

  for (const [name, text, sentence] of [
    ['damaged', '{"schema": ', /not valid JSON/],
    ['newer', '{"schema":"signalr-bench-result/7"}', /is newer than .*Update/],
  ] as const) {
    it(`a ${name} result is said to be so, and opens as text`, async () => {
      const folder = store(`2026-11-21T10-00-00-${name}`, text);
      test.messages.press = 'Open as Text';
      await vscode.commands.executeCommand('signalrBenchmark.openResult', folder);
      const { level, actions } = await said(sentence);
      assert.equal(level, 'error');
      assert.deepEqual(actions, ['Open as Text']);
      const document = await until('the text', () =>
        vscode.workspace.textDocuments.find(({ fileName }) => fileName.startsWith(folder)),
      );
      assert.equal(document.getText(), text);
    });
  }

  it('a panel whose result is damaged when the window is loaded again says so', async () => {
    const panel = vscode.window.createWebviewPanel('test', 'test', vscode.ViewColumn.Active);
    const damaged = new ExpectedError('result-damaged', 'It is <b>damaged</b>.');
    const { extensionUri } = extension();
    const panels = new RunPanels(extensionUri, { warn: () => undefined, error: () => undefined });
    await panels.restore(panel, { runId: 'x' }, () => Promise.reject(damaged));
    assert.ok(panel.webview.html.includes('It is &lt;b&gt;damaged&lt;/b&gt;.'));
  });

  it('an interrupted result without a scenario says what is left of it', async () => {
    mkdirSync(results('2026-11-21T10-00-00-left'), { recursive: true });
    writeFileSync(results('2026-11-21T10-00-00-left', 'samples.jsonl'), '{"cut');
    await vscode.commands.executeCommand(
      'signalrBenchmark.openResult',
      results('2026-11-21T10-00-00-left'),
    );
    const { actions } = await said(/interrupted and its scenario cannot be read/);
    assert.deepEqual(actions, []);
  });

  it('a result whose folder is deleted says so when it is run again', async () => {
    const folder = store('2026-11-21T10-00-00-gone', JSON.stringify(sampleResult()));
    await vscode.commands.executeCommand('signalrBenchmark.openResult', folder);
    rmSync(folder, { recursive: true });
    for (const command of ['runAgain', 'copySummary']) {
      await vscode.commands.executeCommand(`signalrBenchmark.${command}`, folder);
    }
    await said(/scenario\.yaml cannot be read/);
    await said(/There is no result at/);
  });

  it('a stored scenario whose secret was not kept is not run again without it', async () => {
    const name = '2026-11-21T10-00-00-secret';
    const folder = store(name, JSON.stringify({ ...sampleResult(), id: name }));
    const copy = 'config:\n  accessToken: (redacted)\nscenario:\n  name: echo\n';
    writeFileSync(path.join(folder, 'scenario.yaml'), copy);
    const before = resultNames();
    await vscode.commands.executeCommand('signalrBenchmark.runAgain', folder);
    await said(/secret\.yaml lacks the secret of config\.accessToken: .*Write \$\{secret:name\}/);
    assert.deepEqual(resultNames(), before);
  });

  it('a scenario that is edited and deleted during its run changes nothing in it', async () => {
    const folder = await startLong('edited.signalr.yaml');
    const document = await openFile('edited.signalr.yaml');
    for (const text of ['# one\n', '# two\n']) {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, new vscode.Position(0, 0), text);
      await vscode.workspace.applyEdit(edit);
    }
    await said(
      /uses edited\.signalr\.yaml as it was at its start\. Changes count for the next run/,
    );
    assert.equal(test.messages.shown.filter(({ text }) => text.includes('as it was')).length, 1);
    await vscode.commands.executeCommand('workbench.action.files.revert');
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    rmSync(document.fileName);
    const { text } = await said(/edited\.signalr\.yaml was deleted\. The run goes on/);
    assert.ok(text.includes(folder), text);
    await vscode.commands.executeCommand('signalrBenchmark.stop');
    assert.equal(await endingIn(folder), 'stopped');
    const copy = readFileSync(path.join(folder, 'scenario.yaml'), 'utf8');
    assert.equal(copy, readFileSync(inWorkspace('long.signalr.yaml'), 'utf8'));
  });

  it('a workspace that is not trusted runs nothing, and says why', async () => {
    const before = resultNames();
    const folder = store('2026-11-21T10-00-00-foreign', JSON.stringify(sampleResult()));
    const { workspace } = vscode;
    const real = Object.getOwnPropertyDescriptor(workspace, 'isTrusted')!;
    const window = vscode.window as unknown as Record<string, unknown>;
    const { showQuickPick } = window;
    Object.defineProperty(workspace, 'isTrusted', { get: () => false, configurable: true });
    try {
      await openFile('quick.signalr.yaml');
      for (const [command, argument] of [
        ['run', undefined],
        ['runAgain', folder],
        ['testTarget', { kind: 'local' }],
      ] as const) {
        test.messages.forget();
        await vscode.commands.executeCommand(`signalrBenchmark.${command}`, argument);
        const { actions } = await said(/Restricted Mode: a scenario of this workspace could send/);
        assert.deepEqual(actions, ['Manage Workspace Trust'], command);
      }
      for (const command of ['makeBaseline', 'exportResult', 'renameResult', 'deleteResult']) {
        test.messages.forget();
        await vscode.commands.executeCommand(`signalrBenchmark.${command}`, {
          entry: { folder, name: path.basename(folder), scenario: 'foreign' },
        });
        const { actions } = await said(/^Nothing is written in Restricted Mode/);
        assert.deepEqual(actions, ['Manage Workspace Trust'], command);
      }
      // Where nothing is open or named, people are not asked to choose in vain.
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      window['showQuickPick'] = () => assert.fail('asked before the refusal');
      for (const command of ['run', 'runWith', 'runAgain']) {
        test.messages.forget();
        await vscode.commands.executeCommand(`signalrBenchmark.${command}`);
        await said(/Restricted Mode/);
      }
    } finally {
      window['showQuickPick'] = showQuickPick;
      Object.defineProperty(workspace, 'isTrusted', real);
    }
    rmSync(folder, { recursive: true });
    assert.deepEqual(resultNames(), before);
  });

  it('a named file that is a link out of the folder is not read for a run', async () => {
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'elsewhere-'));
    const before = resultNames();
    try {
      for (const [name, content, keys] of [
        [
          'linked.csv',
          'name\nann\n',
          { data: { file: 'linked.csv' }, query: { of: '{data.name}' } },
        ],
        ['linked.txt', 'a.b.c\n', { identities: { file: 'linked.txt' } }],
        ['linked.json', '{"text": 1}', undefined],
      ] as const) {
        writeFileSync(path.join(elsewhere, name), content);
        symlinkSync(path.join(elsewhere, name), inWorkspace(name));
        const config = { target: 'local', connections: 1, baseSending: 1, ...keys };
        const parameters = keys === undefined ? { payloadFile: name } : {};
        const text = stringify({ config, scenario: { name: 'echo', parameters } });
        writeFileSync(inWorkspace(`${name}.signalr.yaml`), text);
        const { uri } = await openFile(`${name}.signalr.yaml`);
        test.messages.forget();
        await vscode.commands.executeCommand('signalrBenchmark.run', uri);
        const { level, text: sentence } = await said(/a link leads out of the folder/);
        assert.ok(level === 'error' && sentence.includes(name), sentence);
      }
      assert.deepEqual(resultNames(), before);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  it('a certificate that is not known is named by Test Connection', async () => {
    const front = await startFront('http://127.0.0.1:9/chat', { tls: true });
    try {
      const node = { kind: 'hub', url: front.url };
      await vscode.commands.executeCommand('signalrBenchmark.testTarget', node);
      const { level } = await said(/^https:.*: .*self-signed certificate$/);
      assert.equal(level, 'error');
    } finally {
      await front.dispose();
    }
  });

  it('a file above 2 MB gets one hint, and is not run', async () => {
    const line = `  # ${'x'.repeat(60)}\n`;
    const text = `config:\n  target: local\n${line.repeat(Math.ceil((2.1 * 1024 * 1024) / line.length))}`;
    writeFileSync(inWorkspace('large.signalr.yaml'), text);
    const document = await openFile('large.signalr.yaml');
    const hints = await problemsOf(document.uri);
    assert.deepEqual(hints.map(codeOf), ['too-large']);
    assert.equal(hints[0]!.severity, vscode.DiagnosticSeverity.Information);
    const place = new vscode.Position(1, 4);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      document.uri,
      place,
    );
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      document.uri,
    );
    assert.deepEqual([hovers, lenses], [[], []]);
    await vscode.commands.executeCommand('signalrBenchmark.run');
    await said(/large\.signalr\.yaml cannot be read: it is larger than 2 MB/);
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });
});
