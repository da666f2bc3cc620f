import * as vscode from 'vscode';
import type { ScenarioFiles } from './scenarios/scenarioFiles';

/**
 * The scenario whose run is going on, for menus, lenses and whoever else asks: where other scenarios
 * have Run, it has Stop.
 */
export class RunningScenario implements vscode.Disposable {
  private uri: string | undefined;
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChange = this.emitter.event;

  is(uri: vscode.Uri): boolean {
    return this.uri === uri.toString();
  }

  /** @param uri of the scenario whose run began; undefined when the run is over */
  async set(uri: vscode.Uri | undefined): Promise<void> {
    this.uri = uri?.toString();
    const files = this.uri === undefined ? [] : [this.uri];
    const going = uri !== undefined;
    await vscode.commands.executeCommand('setContext', 'signalrBenchmark.running', going);
    await vscode.commands.executeCommand('setContext', 'signalrBenchmark.runningScenarios', files);
    this.emitter.fire();
  }

  dispose(): void {
    this.emitter.dispose();
  }
}

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
