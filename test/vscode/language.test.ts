import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { parseScenario } from '../../src/scenario/parseScenario';
import { positionAt } from '../../src/scenario/problem';
import { useCases } from '../../src/usecases/registry';
import {
  behind,
  codeOf,
  extension,
  hoverText,
  openFile,
  problemsOf,
  until,
  workspaceFolder,
} from './editor';

interface ShownProblem {
  readonly line: number;
  readonly column: number;
  readonly severity: string;
  readonly code: string;
}

const severities = ['error', 'warning', 'info', 'hint'];

const hoverAt = async (document: vscode.TextDocument, key: string): Promise<string> => {
  const place = behind(document, `${key}:`).translate(0, -2);
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
    'vscode.executeHoverProvider',
    document.uri,
    place,
  );
  return hoverText(hovers);
};

const completionsAt = async (
  document: vscode.TextDocument,
  place: vscode.Position,
): Promise<string[]> => {
  const list = await vscode.commands.executeCommand<vscode.CompletionList>(
    'vscode.executeCompletionItemProvider',
    document.uri,
    place,
  );
  return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
};

const actionsFor = (
  document: vscode.TextDocument,
  range: vscode.Range,
): Thenable<vscode.CodeAction[]> =>
  vscode.commands.executeCommand<vscode.CodeAction[]>(
    'vscode.executeCodeActionProvider',
    document.uri,
    range,
    vscode.CodeActionKind.QuickFix.value,
  );

describe('scenario files', () => {
  before(() => extension().activate());

  it('show the problems that the parser finds, at their places', async () => {
    const document = await openFile('broken.signalr.yaml');
    const shown = (await problemsOf(document.uri))
      // What exceeds the Unit is the estimate's to say, not a problem of the text.
      .filter((problem) => !codeOf(problem).startsWith('unit-'))
      .map((problem) => ({
        line: problem.range.start.line + 1,
        column: problem.range.start.character + 1,
        severity: severities[problem.severity],
        code: codeOf(problem),
      }));
    const text = document.getText();
    const found = parseScenario(text).problems.map(({ offset, severity, code }) => ({
      ...positionAt(text, offset),
      severity,
      code,
    }));
    const byPlace = (a: ShownProblem, b: ShownProblem): number =>
      a.line - b.line || a.column - b.column || a.code.localeCompare(b.code);
    assert.deepEqual((shown as ShownProblem[]).sort(byPlace), found.sort(byPlace));
    assert.ok(found.some(({ code }) => code === 'unknown-key'));
  });

  it('are mended by a quick fix', async () => {
    const document = await openFile('broken.signalr.yaml');
    const isTypo = (problem: vscode.Diagnostic): boolean => codeOf(problem) === 'unknown-key';
    const typo = (await problemsOf(document.uri)).find(isTypo);
    assert.ok(typo);
    const actions = await actionsFor(document, typo.range);
    const fix = actions.find(({ title }) => title.includes('connections'));
    assert.ok(fix?.edit, actions.map(({ title }) => title).join(', '));
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.ok(!document.getText().includes('conections'));
    await until('the problem goes', () => {
      const left = vscode.languages.getDiagnostics(document.uri).filter(isTypo);
      return left.length === 0 ? true : undefined;
    });
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  it('say what is wrong with the files that they name', async () => {
    const folder = workspaceFolder();
    const [scenario, rows] = ['rows.signalr.yaml', 'rows.csv'].map((name) =>
      vscode.Uri.joinPath(folder, name),
    ) as [vscode.Uri, vscode.Uri];
    const write = (file: vscode.Uri, text: string): Thenable<void> =>
      vscode.workspace.fs.writeFile(file, Buffer.from(text));
    await write(
      scenario,
      "config:\n  target: local\n  data: { file: rows.csv }\n  query: { of: '{data.room}' }\nscenario: { name: echo }\n",
    );
    try {
      const document = await openFile('rows.signalr.yaml');
      const said = (message: RegExp): Promise<vscode.Diagnostic> =>
        until(String(message), () =>
          vscode.languages
            .getDiagnostics(scenario)
            .find((problem) => message.test(problem.message)),
        );
      const missing = await said(/There is no file rows\.csv here/);
      assert.equal(document.getText(missing.range), 'rows.csv');
      await write(rows, 'name\nann\n');
      // Saved in another editor.
      const table = await vscode.workspace.openTextDocument(rows);
      const edit = new vscode.WorkspaceEdit();
      edit.insert(rows, new vscode.Position(2, 0), 'bob\n');
      await vscode.workspace.applyEdit(edit);
      await table.save();
      await said(/rows\.csv has no column room/);
    } finally {
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      for (const file of [scenario, rows]) await vscode.workspace.fs.delete(file);
    }
  });

  it('leave a line to other YAML tooling that reports it, and keep the quick fix', async () => {
    const document = await openFile('broken.signalr.yaml');
    const typos = (): vscode.Diagnostic[] =>
      vscode.languages
        .getDiagnostics(document.uri)
        .filter((problem) => codeOf(problem) === 'unknown-key');
    const typo = await until('the typo', () => typos()[0]);
    const others = vscode.languages.createDiagnosticCollection('other');
    try {
      const same = new vscode.Diagnostic(typo.range, 'Property is not allowed.');
      same.source = 'yaml-schema: SignalR';
      others.set(document.uri, [same]);
      await until('the typo is said once', () => (typos().length === 0 ? true : undefined));
      const titles = (await actionsFor(document, typo.range)).map(({ title }) => title);
      assert.ok(
        titles.some((title) => title.includes('connections')),
        titles.join(', '),
      );
      // Of another line nothing is left out, and nothing for what others say of themselves.
      const elsewhere = new vscode.Range(0, 0, 0, 1);
      assert.notEqual(typo.range.start.line, 0);
      others.set(document.uri, [new vscode.Diagnostic(elsewhere, same.message)]);
      await until('the typo is back', () => typos()[0]);
    } finally {
      others.dispose();
    }
  });

  it('say when the Unit is too small, and offer a larger one', async () => {
    const document = await openFile('tooSmall.signalr.yaml');
    const problems = await problemsOf(document.uri);
    const line = document.positionAt(document.getText().indexOf('unit:')).line;
    const problem = problems.find(({ range }) => range.start.line === line);
    assert.ok(problem, problems.map(({ message }) => message).join('; '));
    const titles = (await actionsFor(document, problem.range)).map(({ title }) => title);
    assert.ok(
      titles.some((title) => /10/.test(title)),
      titles.join(', '),
    );
  });

  it('complete keys, use cases and their parameters', async () => {
    const document = await openFile('quick.signalr.yaml');
    const keys = await completionsAt(document, behind(document, 'target: local\n  '));
    assert.ok(keys.includes('sendingSteps'), keys.join(', '));
    const names = await completionsAt(document, behind(document, 'name: '));
    assert.ok(names.includes('sendToGroup'), names.join(', '));
    const parameters = await completionsAt(document, behind(document, 'parameters:\n    '));
    assert.ok(!parameters.includes('groupCount'), 'echo has no groups');
  });

  it('are proposed as a whole in an empty file with the name of one', async () => {
    const uri = vscode.Uri.joinPath(workspaceFolder(), 'empty.signalr.yaml');
    await vscode.workspace.fs.writeFile(uri, new Uint8Array());
    const document = await openFile('empty.signalr.yaml');
    assert.equal(document.getText(), '');
    const unsaved = vscode.Uri.parse('untitled:new.signalr.yaml');
    for (const each of [document, await vscode.workspace.openTextDocument(unsaved)]) {
      const labels = await completionsAt(each, new vscode.Position(0, 0));
      for (const { name } of useCases) assert.ok(labels.includes(name), name);
    }
    await vscode.workspace.fs.delete(uri);
  });

  it('are known to the menus while they are typed', async () => {
    const commands = vscode.commands as { executeCommand: unknown };
    const real = vscode.commands.executeCommand;
    const reported: unknown[] = [];
    commands.executeCommand = (command: string, ...args: unknown[]): unknown => {
      if (args[0] === 'signalrBenchmark.activeIsScenario') reported.push(args[1]);
      return real(command, ...args);
    };
    try {
      const document = await vscode.workspace.openTextDocument({ language: 'yaml', content: '' });
      await vscode.window.showTextDocument(document);
      const edit = new vscode.WorkspaceEdit();
      const text = 'config:\n  target: local\nscenario:\n  name: echo\n';
      edit.insert(document.uri, new vscode.Position(0, 0), text);
      assert.ok(await vscode.workspace.applyEdit(edit));
      await until('the menus know it', () => (reported.at(-1) === true ? true : undefined));
    } finally {
      commands.executeCommand = real;
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    }
  });

  it('have estimates in hovers, above the first line and beside values, and an outline', async () => {
    const document = await openFile('tooSmall.signalr.yaml');
    const { uri } = document;
    const ask = <Answer>(what: string, ...more: unknown[]): Thenable<readonly Answer[]> =>
      vscode.commands.executeCommand(`vscode.execute${what}Provider`, uri, ...more);
    assert.match(await hoverAt(document, 'messageSize'), /Unit 10[^]*outbound/i);
    const lenses = await ask<vscode.CodeLens>('CodeLens', 10);
    assert.equal(lenses[0]?.command?.command, 'signalrBenchmark.run');
    const titles = lenses.map(({ command }) => command?.title ?? '').join(' | ');
    assert.match(titles, /Run SignalR Benchmark .*Unit 10 .*95/);
    assert.ok(lenses.every(({ range }) => range.start.line === 0));
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const hints = await ask<vscode.InlayHint>('InlayHint', whole);
    const labels = hints.map(({ label }) =>
      typeof label === 'string' ? label : label.map(({ value }) => value).join(''),
    );
    assert.match(labels.join(' | '), /38 MB\/s.*19,000 msg\/s.*10 members/);
    const symbols = await ask<vscode.DocumentSymbol>('DocumentSymbol');
    assert.deepEqual(
      symbols.map(({ name }) => name),
      ['config', 'scenario'],
    );
    assert.ok(symbols[0]?.children.some(({ name }) => name === 'connections'));
  });

  it('get neither problems nor a run button where they are only shown', async () => {
    const text = 'config:\n  conections: 5\nscenario:\n  name: echo\n';
    const shown = vscode.workspace.registerTextDocumentContentProvider('bench-shown', {
      provideTextDocumentContent: () => text,
    });
    try {
      const uri = vscode.Uri.parse('bench-shown:/old.signalr.yaml');
      const document = await vscode.workspace.openTextDocument(uri);
      await vscode.window.showTextDocument(document);
      const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        uri,
      );
      assert.deepEqual(lenses, []);
      // Longer than it takes to find the problems of the same text where it can be edited.
      const open = { language: 'yaml', content: text.replace('config:', 'mode: simple\nconfig:') };
      await problemsOf((await vscode.workspace.openTextDocument(open)).uri);
      assert.deepEqual(vscode.languages.getDiagnostics(uri), []);
    } finally {
      shown.dispose();
    }
  });
});
