import * as vscode from 'vscode';
import { folderName } from '../results/resultFolder';
import { fromName } from './resultEntry';
import { lastRunText, newestOf } from './resultsModel';
import type { ScenarioFiles } from './scenarioFiles';
import type { Services } from './services';

/** What the language features ask of the rest of the extension. */
export interface LanguageContext {
  isScenario(document: vscode.TextDocument): boolean;
  secretNames(): readonly string[];
  readonly onRelevantChange: vscode.Event<void>;
  lastRun(uri: vscode.Uri): string | undefined;
}

export function languageContext(
  { index, secrets }: Services,
  files: ScenarioFiles,
): LanguageContext {
  return {
    isScenario: (document) => files.isScenario(document),
    secretNames: () => secrets.names,
    onRelevantChange: (listener, thisArgs, disposables) => {
      const events = [index.onDidChange, secrets.onDidChange, files.onDidChange];
      const tell = (): void => void listener.call(thisArgs);
      const subscription = vscode.Disposable.from(
        ...events.map((event) => event(tell)),
        vscode.workspace.onDidChangeConfiguration((change) => {
          if (change.affectsConfiguration('signalrBenchmark')) tell();
        }),
      );
      disposables?.push(subscription);
      return subscription;
    },
    lastRun: (uri) => {
      // The name as a result folder has it.
      const { scenario } = fromName(folderName(new Date(0), uri.path));
      const entry = newestOf(index.results.entries, scenario);
      return entry && lastRunText(entry, new Date(), vscode.l10n.t);
    },
  };
}

/** Keeps the context key for menus of the editor up to date. */
export function followActiveEditor(files: ScenarioFiles): vscode.Disposable {
  const tell = (): void => {
    const on = files.active() !== undefined;
    void vscode.commands.executeCommand('setContext', 'signalrBenchmark.activeIsScenario', on);
  };
  tell();
  return vscode.Disposable.from(
    vscode.window.onDidChangeActiveTextEditor(tell),
    vscode.workspace.onDidSaveTextDocument(tell),
    files.onDidChange(tell),
  );
}
