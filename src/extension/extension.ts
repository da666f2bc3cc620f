import * as vscode from 'vscode';
import { registerCommands } from './commands';
import { offerInterrupted } from './interruptedRun';
import { registerLanguage } from './language/registerLanguage';
import { followActiveEditor, languageContext } from './languageContext';
import { restoreRunPanel, runPanelViewType } from './panel/runPanel';
import { ResultCommands, resultEditorType } from './resultCommands';
import { resultViewer } from './resultViewer';
import { ResultsTree } from './resultsTree';
import { RunController } from './runController';
import { ScenarioFiles } from './scenarioFiles';
import { createServices } from './services';

let controller: RunController | undefined;

/** Wires the parts. Nothing is run, read or sent by it. */
export function activate(context: vscode.ExtensionContext): void {
  const services = createServices(context);
  const log = (message: string): void => services.log.warn(message);
  const files = new ScenarioFiles(services.state);
  controller = new RunController(services, context);
  const results = new ResultCommands(services, controller, context.extensionUri);
  context.subscriptions.push(
    services,
    files,
    controller,
    registerCommands({ services, files, controller, results, context }),
    registerLanguage(languageContext(services, files)),
    followActiveEditor(files),
    vscode.window.createTreeView('signalrBenchmark.results', {
      treeDataProvider: new ResultsTree(services.index),
      showCollapseAll: true,
    }),
    vscode.window.createTreeView('signalrBenchmark.targets', {
      treeDataProvider: services.targets,
    }),
    vscode.window.registerCustomEditorProvider(
      resultEditorType,
      resultViewer(context.extensionUri, results, log),
    ),
  );
  const restored = vscode.window.registerWebviewPanelSerializer(runPanelViewType, {
    deserializeWebviewPanel: (panel, state) =>
      restoreRunPanel(panel, context.extensionUri, state, (id) => results.find(id), log),
  });
  context.subscriptions.push(restored);
  void offerInterrupted(services, results).then(undefined, (error: unknown) =>
    services.log.error(error),
  );
}

/** What a run has measured is written before the window closes. */
export async function deactivate(): Promise<void> {
  await controller?.close();
}
