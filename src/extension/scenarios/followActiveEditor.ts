import * as vscode from 'vscode';
import type { ScenarioFiles } from './scenarioFiles';

/** Time without typing after which the text is looked at again. */
const debounceMs = 200;

/** Keeps the context key for menus of the editor up to date, also while a text becomes a scenario. */
export function followActiveEditor(files: ScenarioFiles): vscode.Disposable {
  const tell = (): void => {
    const on = files.active() !== undefined;
    void vscode.commands.executeCommand('setContext', 'signalrBenchmark.activeIsScenario', on);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(tell, debounceMs);
  };
  tell();
  return vscode.Disposable.from(
    vscode.window.onDidChangeActiveTextEditor(tell),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document === vscode.window.activeTextEditor?.document) later();
    }),
    files.onDidChange(tell),
    new vscode.Disposable(() => clearTimeout(timer)),
  );
}
