import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { extension } from './editor';

interface Contributions {
  readonly commands: readonly { readonly command: string; readonly title: string }[];
  readonly menus: Readonly<Record<string, readonly { readonly command?: string }[]>>;
  readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
  readonly customEditors: readonly { readonly viewType: string }[];
  readonly configuration: { readonly properties: Readonly<Record<string, unknown>> };
}

const contributions = (): Contributions =>
  (extension().packageJSON as { contributes: Contributions }).contributes;

/** English texts by their key: what the extension host hands out may still hold `%key%`. */
function manifestTexts(): Readonly<Record<string, string>> {
  const file = path.join(extension().extensionPath, 'package.nls.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
}

describe('the manifest', () => {
  before(() => extension().activate());

  it('names exactly the commands there are', async () => {
    // VS Code makes commands of its own for views, `<view>.focus` and the like.
    const own = Object.values(contributions().views).flatMap((views) => views.map(({ id }) => id));
    const registered = (await vscode.commands.getCommands(true))
      .filter((id) => id.startsWith('signalrBenchmark.'))
      .filter((id) => !own.some((view) => id.startsWith(`${view}.`)));
    const declared = contributions().commands.map(({ command }) => command);
    const missing = declared.filter((id) => !registered.includes(id));
    assert.deepEqual(missing, [], 'declared, but not registered');
    const hidden = registered.filter((id) => !declared.includes(id));
    assert.deepEqual(hidden, [], 'registered, but not declared');
  });

  it('has the command people look for', () => {
    const texts = manifestTexts();
    const titles = contributions().commands.map(({ title }) => texts[title.slice(1, -1)] ?? title);
    assert.ok(titles.includes('Run SignalR Benchmark'), titles.join(', '));
  });

  it('uses only its own commands in menus', () => {
    const declared = contributions().commands.map(({ command }) => command);
    for (const [menu, items] of Object.entries(contributions().menus)) {
      for (const { command } of items) {
        if (command !== undefined) assert.ok(declared.includes(command), `${menu}: ${command}`);
      }
    }
  });

  it('has its views, its editor and settings with a default', () => {
    const views = Object.values(contributions().views).flatMap((list) => list.map(({ id }) => id));
    assert.deepEqual([...views].sort(), ['signalrBenchmark.results', 'signalrBenchmark.targets']);
    const editors = contributions().customEditors.map(({ viewType }) => viewType);
    assert.deepEqual(editors, ['signalrBenchmark.result']);
    for (const key of Object.keys(contributions().configuration.properties)) {
      assert.ok(key.startsWith('signalrBenchmark.'), key);
      const found = vscode.workspace.getConfiguration().inspect(key);
      assert.notEqual(found?.defaultValue, undefined, key);
    }
  });
});
