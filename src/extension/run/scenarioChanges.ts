import path from 'node:path';
import * as vscode from 'vscode';
import { noticeText } from '../noticeText';

/** Says once each when the scenario of a run that is going on is changed or deleted: the run keeps its own. */
export function scenarioChanges(scenario: vscode.Uri, resultFolder: string): vscode.Disposable {
  const name = path.posix.basename(scenario.path);
  const say = once((message) => void vscode.window.showInformationMessage(message));
  const sayGone = once((message) => void vscode.window.showWarningMessage(message));
  const changes = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
    if (contentChanges.length === 0 || document.uri.toString() !== scenario.toString()) return;
    say(vscode.l10n.t('The run keeps {0} as it was; changes count for the next run.', name));
  });
  if (scenario.scheme !== 'file') return changes;
  const folder = vscode.Uri.joinPath(scenario, '..');
  const pattern = new vscode.RelativePattern(folder, name);
  const watcher = vscode.workspace.createFileSystemWatcher(pattern, true, true, false);
  return vscode.Disposable.from(
    changes,
    watcher,
    watcher.onDidDelete(() =>
      sayGone(
        vscode.l10n.t('{0} was deleted. The run goes on; a copy is in {1}.', name, resultFolder),
      ),
    ),
  );
}

function once(act: (message: string) => void): (message: string) => void {
  let done = false;
  return (message) => {
    if (!done) act(noticeText(message));
    done = true;
  };
}
