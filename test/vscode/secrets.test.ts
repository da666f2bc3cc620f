import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { stringify } from 'yaml';
import { EditorState } from '../../src/extension/editorState';
import type { ResultNode } from '../../src/extension/results/resultNodes';
import { ResultPlaces, ResultsIndex, ResultsTree } from '../../src/extension/results/resultsTree';
import { Planted } from '../fakes/planted';
import { startRepeatingHub } from '../fakes/repeatingHub';
import { extension, hoverText, openFile, problemsOf, until } from './editor';
import { endingIn, inWorkspace, resultNames, results } from './longRun';
import { memento } from '../fakes/memento';
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

/** What the editor says of a file: lenses, hints, problems, titles of their fixes, and a hover for each line. */
async function saidOfFile({ uri, lineCount }: vscode.TextDocument): Promise<string[]> {
  const whole = new vscode.Range(0, 0, lineCount, 0);
  const asked = (name: string, ...more: unknown[]): Thenable<unknown> =>
    vscode.commands.executeCommand(`vscode.execute${name}Provider`, uri, ...more);
  const fixes = (await asked('CodeAction', whole)) as vscode.CodeAction[];
  const texts = [
    JSON.stringify(await asked('CodeLens', 100)),
    JSON.stringify(await asked('InlayHint', whole)),
    JSON.stringify(vscode.languages.getDiagnostics(uri)),
    // What they put into the file is of the file.
    ...fixes.map(({ title }) => title),
  ];
  for (let line = 0; line < lineCount; line++) {
    const hovers = await asked('Hover', new vscode.Position(line, 6));
    texts.push(hoverText(hovers as vscode.Hover[]));
  }
  return texts;
}

/** All items of the list of results, as the editor gets them, with what is under the pointer. */
async function resultItems(): Promise<string[]> {
  const state = new EditorState(memento(), memento());
  const index = new ResultsIndex(new ResultPlaces(vscode.Uri.file('/none'), state), state);
  const tree = new ResultsTree(index);
  const below = async (node?: ResultNode): Promise<string[]> => {
    const nodes = await tree.getChildren(node);
    const items = nodes.map(async (each) => [
      JSON.stringify(await tree.resolveTreeItem(await tree.getTreeItem(each), each)),
      ...(await below(each)),
    ]);
    return (await Promise.all(items)).flat();
  };
  try {
    return await below();
  } finally {
    index.dispose();
  }
}

/** Of a stored result: its scenario as it is shown beside it, and its summary as it is copied. */
async function shownOfResult(folder: string): Promise<string[]> {
  const scenario = await vscode.workspace.openTextDocument(
    vscode.Uri.from({ scheme: 'signalr-benchmark-run', path: '/planted.yaml', query: folder }),
  );
  await vscode.env.clipboard.writeText('');
  await vscode.commands.executeCommand('signalrBenchmark.copySummary', folder);
  const summary = await until('a summary', async () => {
    const text = await vscode.env.clipboard.readText();
    return text === '' ? undefined : text;
  });
  return [scenario.getText(), summary];
}

/** Records what the extension writes into its log from now on. */
function recordLog(): { readonly written: string[]; dispose(): void } {
  const written: string[] = [];
  const { log } = extension().exports as { readonly log: { channel: vscode.LogOutputChannel } };
  const real = log.channel;
  const note =
    (level: 'info' | 'warn' | 'error') =>
    (text: string): void => {
      written.push(text);
      real[level](text);
    };
  log.channel = { ...real, info: note('info'), warn: note('warn'), error: note('error') };
  return { written, dispose: () => void (log.channel = real) };
}

describe('secrets', () => {
  const recorded = recordingMessages();
  const foundIn = (planted: Planted, texts: readonly string[]): string[] => [
    ...new Set(texts.flatMap((each) => planted.foundIn(each))),
  ];

  it('are in nothing that the editor shows of a run whose hub says them back', async () => {
    const planted = new Planted('vsc');
    const hub = await startRepeatingHub();
    const status = recordStatus();
    const log = recordLog();
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
      const document = await openFile('planted.signalr.yaml');
      const texts = await saidOfFile(document);
      // Closed, so that nobody sees the panel and all of it is said elsewhere.
      await vscode.commands.executeCommand('signalrBenchmark.run', document.uri);
      const folder = await until('a folder', () => {
        const name = resultNames().find((each) => !before.includes(each));
        return name === undefined ? undefined : results(name);
      });
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await endingIn(folder);
      await recorded.said(/^planted\.signalr\.yaml: /);
      const notices = recorded.messages.shown.map(({ text: said }) => said);
      const items = await resultItems();
      const shown = await shownOfResult(folder);
      texts.push(...notices, ...status.shown, ...items, ...log.written, ...shown);
      // A busy machine makes the step invalid in place of failed.
      assert.match(
        log.written.join('\n'),
        /^planted\.\S+ → http:\S+, result in .*\n.*(?:failed|invalid); step 1/m,
      );
      // Not by saying nothing: what stands in the place of the secrets is seen.
      assert.match(
        shown.join('\n'),
        /\?code=\(redacted\)[^]*Cookie: \(redacted\)[^]*X-Gate: \(redacted\)/,
      );
      // What the panel draws.
      assert.match(
        readFileSync(path.join(folder, 'result.json'), 'utf8'),
        /HubException: refused .*\(redacted\)/,
      );
      assert.ok(status.shown.length > 3);
      assert.ok(items.some((each) => each.includes('"tooltip"') && each.includes('-planted')));
      assert.deepEqual(foundIn(planted, texts), []);
    } finally {
      status.dispose();
      log.dispose();
      delete process.env['PLANTED_IN_EDITOR'];
      rmSync(inWorkspace('planted.signalr.yaml'), { force: true });
      await hub.dispose();
    }
  });

  it('are in nothing that the editor gets of a command that fails', async () => {
    const planted = new Planted('err');
    const code = encodeURIComponent(planted.at('query'));
    const message = `refused at http://127.0.0.1/hub?code=${code} to Bearer ${planted.at('token')}`;
    const node = {
      get entry(): never {
        throw new TypeError(message);
      },
    };
    const log = recordLog();
    const failed = vscode.commands.executeCommand('signalrBenchmark.copySummary', node);
    const error = await Promise.resolve(failed).then(String, (thrown: unknown) => thrown);
    log.dispose();
    assert.ok(error instanceof Error, String(error));
    assert.match(error.message, /refused at http:\S+\?code=\(redacted\) to Bearer \(redacted\)/);
    assert.match(log.written.join('\n'), /^TypeError: refused at .*\(redacted\)/);
    const notices = recorded.messages.shown.map(({ text }) => text);
    const texts = [error.message, error.stack ?? '', ...log.written, ...notices];
    assert.deepEqual(foundIn(planted, texts), []);
  });

  it('are in nothing that the editor says of a file that has them in wrong places', async () => {
    const planted = new Planted('bad');
    const [user, sig] = ['user', 'query'].map((place) => encodeURIComponent(planted.at(place)));
    const key = (place: string): string => `AccessKey=${planted.at(place)}`;
    const config = {
      target: `ftp://${user}@127.0.0.1/hub?sig=${sig}`,
      connectionString: `Endpoint=nowhere;${key('key of a service')}`,
      webAppTarget: `Endpoint=https://a.b;${key('old key')}`,
      accessToken: [planted.at('token in a list')],
      acessToken: planted.at('misspelt'),
      headers: { Authorization: `Bearer ${planted.at('bearer')}`, 'X Gate': planted.at('header') },
      ...{ connections: key('count'), transport: key('transport') },
    };
    const name = 'wrong.signalr.yaml';
    writeFileSync(inWorkspace(name), stringify({ config, scenario: { name: key('use case') } }));
    try {
      const document = await openFile(name);
      const problems = await problemsOf(document.uri);
      const texts = await saidOfFile(document);
      assert.ok(problems.length > 6, JSON.stringify(problems));
      // Not by saying nothing: what stands in the place of secrets is seen.
      assert.ok(problems.some(({ message }) => message.includes('AccessKey=…')));
      assert.deepEqual(foundIn(planted, texts), []);
    } finally {
      rmSync(inWorkspace(name), { force: true });
    }
  });
});
