// Runs in the extension host: the one scenario of the workspace, from the command that people use, until
// its result is there. With BENCH_PANEL=closed the live panel is closed as soon as it is open.
'use strict';

const { existsSync, readdirSync } = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function panelTab() {
  return vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .find(({ input }) => input instanceof vscode.TabInputWebview);
}

function finished(folder) {
  return (
    existsSync(folder) &&
    readdirSync(folder).some((name) => existsSync(path.join(folder, name, 'result.json')))
  );
}

async function run() {
  const folder = vscode.workspace.workspaceFolders[0].uri;
  const file = vscode.Uri.joinPath(folder, 'bench.signalr.yaml');
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(file));
  await vscode.commands.executeCommand('signalrBenchmark.run');
  while (panelTab() === undefined) await pause(100);
  if (process.env.BENCH_PANEL === 'closed') await vscode.window.tabGroups.close(panelTab());
  const open = panelTab() !== undefined;
  if (open !== (process.env.BENCH_PANEL === 'panel')) throw new Error('the panel is not as wanted');
  while (!finished(path.join(folder.fsPath, '.signalr-bench'))) await pause(500);
}

module.exports = { run };
