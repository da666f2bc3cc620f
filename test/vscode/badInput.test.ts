import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import { ExpectedError } from '../../src/base/expectedError';
import { RunPanels } from '../../src/extension/panel/runPanel';
import { startFront } from '../fakes/loadFront';
import { sampleResult } from '../unit/results/sampleResult';
import { codeOf, extension, openFile, problemsOf, until, workspaceFolder } from './editor';
import { endingIn, inWorkspace, resultNames, results, startLong, store } from './longRun';
import { recordingMessages } from './messages';

/** A hub in a process of its own. */
async function startHub(): Promise<{ readonly url: string; kill(): void }> {
  const program = path.join(extension().extensionPath, 'dist', 'cli.js');
  const child = spawn(process.execPath, [program, 'serve', 'hub', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  return { url, kill: () => void child.kill('SIGKILL') };
}

/** Mean milliseconds until the editor has taken a typed character. */
async function typed(document: vscode.TextDocument, place: vscode.Position): Promise<number> {
  const strokes = 5;
  const startedAt = performance.now();
  for (let stroke = 0; stroke < strokes; stroke++) {
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, place, 'x');
    assert.ok(await vscode.workspace.applyEdit(edit));
  }
  return (performance.now() - startedAt) / strokes;
}

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

  it('a run whose result folder is moved away still leaves its result', async () => {
    const folder = await startLong('moved.signalr.yaml');
    renameSync(folder, inWorkspace('moved-away'));
    await vscode.commands.executeCommand('signalrBenchmark.stop');
    assert.equal(await endingIn(folder), 'stopped');
    await said(/was written to .*moved instead/);
  });

  it('a workspace that cannot be written sends the result elsewhere, and says where', async () => {
    // As root no mode forbids writing; a file in the way does.
    renameSync(results(), inWorkspace('results-aside'));
    writeFileSync(results(), '');
    try {
      const { uri } = await openFile('quick.signalr.yaml');
      await vscode.commands.executeCommand('signalrBenchmark.run', uri);
      const { level, text } = await said(/cannot be written below .*It goes to .* instead/);
      assert.equal(level, 'warning');
      const folder = /It goes to (.*) instead/.exec(text)![1]!;
      assert.ok(!folder.startsWith(workspaceFolder().fsPath), folder);
      await vscode.commands.executeCommand('signalrBenchmark.stop');
      await endingIn(folder);
    } finally {
      rmSync(results());
      renameSync(inWorkspace('results-aside'), results());
    }
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

  it('a hub that dies is reported, and its password is not', async () => {
    const hub = await startHub();
    const password = 's3cretPassword';
    const text = readFileSync(inWorkspace('long.signalr.yaml'), 'utf8');
    const target = hub.url.replace('//', `//me:${password}@`);
    try {
      const name = 'dying.signalr.yaml';
      const folder = await startLong(name, text.replace('target: local', `target: ${target}`));
      // Whoever sees the panel needs no message.
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      hub.kill();
      assert.equal(await endingIn(folder), 'targetLost');
      await said(/dying\.signalr\.yaml: .*connections were lost/);
      await vscode.commands.executeCommand('signalrBenchmark.copySummary', folder);
      const copied = await vscode.env.clipboard.readText();
      assert.match(copied, /connections were lost/);
      const files = readdirSync(folder).map((each) =>
        readFileSync(path.join(folder, each), 'utf8'),
      );
      const shown = test.messages.shown.map((message) => message.text);
      for (const each of [copied, ...files, ...shown]) assert.ok(!each.includes(password), each);
    } finally {
      hub.kill();
    }
  });

  it('a file above 2 MB gets one hint, and editing it stays smooth', async () => {
    const line = `  # ${'x'.repeat(60)}\n`;
    const text = `config:\n  target: local\n${line.repeat(Math.ceil((2.1 * 1024 * 1024) / line.length))}`;
    writeFileSync(inWorkspace('large.signalr.yaml'), text);
    const document = await openFile('large.signalr.yaml');
    const hints = await problemsOf(document.uri);
    assert.deepEqual(hints.map(codeOf), ['too-large']);
    assert.equal(hints[0]!.severity, vscode.DiagnosticSeverity.Information);
    const place = new vscode.Position(1, 4);
    const strokeMs = await typed(document, place);
    const askedAt = performance.now();
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
    const askedMs = performance.now() - askedAt;
    await vscode.commands.executeCommand('signalrBenchmark.run');
    await said(/large\.signalr\.yaml cannot be read: it is larger than 2 MB/);
    await vscode.commands.executeCommand('workbench.action.files.revert');
    writeFileSync(inWorkspace('large.txt'), text);
    const plainMs = await typed(await openFile('large.txt'), place);
    await vscode.commands.executeCommand('workbench.action.files.revert');
    // Printed, not asserted: machines that run tests are busy.
    console.log(
      `      2.1 MB: ${strokeMs.toFixed(0)} ms for a key stroke (${plainMs.toFixed(0)} ms in plain text), ${askedMs.toFixed(0)} ms for hover and lenses`,
    );
  });

  it('many results that come at once are all listed', async () => {
    const text = JSON.stringify(sampleResult());
    const names = Array.from(
      { length: 60 },
      (_each, number) => `2026-11-20T10-00-00-many-${String(number).padStart(3, '0')}`,
    );
    for (const name of names) store(name, text);
    const offered: (readonly { readonly entry: { readonly folder: string } }[])[] = [];
    const window = vscode.window as unknown as Record<string, unknown>;
    const before = window['showQuickPick'];
    window['showQuickPick'] = (items: (typeof offered)[number]) => {
      offered.push(items);
      return Promise.resolve(undefined);
    };
    const startedAt = performance.now();
    try {
      await until('all results in the list', async () => {
        await vscode.commands.executeCommand('signalrBenchmark.openResult');
        const folders = new Set(offered.at(-1)?.map(({ entry }) => entry.folder));
        return names.every((name) => folders.has(results(name))) ? true : undefined;
      });
    } finally {
      window['showQuickPick'] = before;
    }
    const elapsedMs = performance.now() - startedAt;
    // Printed, not asserted; the list waits for a third of a second of quiet.
    console.log(
      `      ${names.length} results: all in the list ${elapsedMs.toFixed(0)} ms after they came`,
    );
    for (const name of names) rmSync(results(name), { recursive: true });
  });
});
