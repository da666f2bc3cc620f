import * as vscode from 'vscode';
import type { ScenarioFiles } from './scenarioFiles';
import type { Services } from '../services';

/** Fires when what is shown of scenarios is old: secrets, results, the run that is going on, marked files or settings. */
export function relevantChange(
  { index, running, secrets }: Services,
  files: ScenarioFiles,
): { readonly event: vscode.Event<void>; dispose(): void } {
  const emitter = new vscode.EventEmitter<void>();
  const tell = (): void => emitter.fire();
  const sources = vscode.Disposable.from(
    index.onDidChange(tell),
    running.onDidChange(tell),
    secrets.onDidChange(tell),
    files.onDidChange(tell),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('signalrBenchmark')) tell();
    }),
    emitter,
  );
  return { event: emitter.event, dispose: () => void sources.dispose() };
}
