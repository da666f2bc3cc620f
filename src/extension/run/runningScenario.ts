import * as vscode from 'vscode';

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
