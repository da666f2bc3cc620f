import * as vscode from 'vscode';
import { analyseScenario } from './language/analyseScenario';
import { estimatePlace } from './language/hoverAt';
import type { LanguageProviders } from './language/languageProviders';
import { restoreRunPanel, resultViewer } from './panel/runPanel';
import { ResultCommands } from './run/resultCommands';
import { newScenario, runScenario, runScenarioWith } from './run/runCommands';
import { RunController, copyIn } from './run/runController';
import type { ScenarioFiles } from './scenarios/scenarioFiles';
import type { Services } from './services';
import { addTarget, moveSecretOut, removeTarget, testTarget } from './targets/targetCommands';

export type CommandHandler = (...args: unknown[]) => unknown;

/** Everything that has to do with runs, results and targets; none of it is needed while scenarios are edited. */
export interface RunFeatures {
  readonly commands: Readonly<Record<string, CommandHandler>>;
  readonly showResult: vscode.CustomReadonlyEditorProvider['resolveCustomEditor'];
  /** Fills a run's panel that the editor brought back; see {@link restoreRunPanel}. */
  restorePanel(panel: vscode.WebviewPanel, state: unknown): Promise<void>;
  scenarioCopy(folder: string): Promise<string>;
  offerInterrupted(): Promise<void>;
  close(): Promise<void>;
  dispose(): void;
}

interface RunFeatureParts {
  readonly services: Services;
  readonly files: ScenarioFiles;
  readonly context: vscode.ExtensionContext;
  readonly language: LanguageProviders;
}

export function createRunFeatures(parts: RunFeatureParts): RunFeatures {
  const { services, context } = parts;
  const { extensionUri } = context;
  const log = (message: string): void => services.log.warn(message);
  const controller = new RunController(services, context);
  const results = new ResultCommands(services, controller, extensionUri);
  return {
    commands: commandHandlers(parts, controller, results),
    showResult: resultViewer(extensionUri, (location) => results.source(location), services),
    restorePanel: (panel, state) =>
      restoreRunPanel(panel, extensionUri, state, (id) => results.find(id), log),
    scenarioCopy: copyIn,
    offerInterrupted: () => results.offerInterrupted(),
    close: () => controller.close(),
    dispose: () => controller.dispose(),
  };
}

/** All commands by their ids; a test compares them with the manifest. */
function commandHandlers(
  { services, files, language, context }: RunFeatureParts,
  controller: RunController,
  results: ResultCommands,
): RunFeatures['commands'] {
  const { extension, extensionPath } = context;
  return {
    'signalrBenchmark.run': (uri) => runScenario(uri, files, controller, extensionPath),
    'signalrBenchmark.runWith': (uri) =>
      runScenarioWith(uri, files, controller, services, extensionPath),
    'signalrBenchmark.stop': () => controller.stop(),
    'signalrBenchmark.showRun': () => controller.showRun(),
    'signalrBenchmark.newScenario': newScenario,
    'signalrBenchmark.markScenario': (uri) => markScenario(uri, files),
    'signalrBenchmark.showEstimate': (uri) => showEstimate(uri, language),
    'signalrBenchmark.openResult': (node) => results.open(node),
    'signalrBenchmark.runAgain': (node) => results.runAgain(node),
    'signalrBenchmark.copySummary': (node) => results.copySummary(node),
    'signalrBenchmark.exportResult': (node) => results.export(node),
    'signalrBenchmark.deleteResult': (node) => results.delete(node),
    'signalrBenchmark.renameResult': (node) => results.rename(node),
    'signalrBenchmark.revealResult': (node) => results.reveal(node),
    'signalrBenchmark.addTarget': () => addTarget(services),
    'signalrBenchmark.testTarget': (node) => testTarget(node, services),
    'signalrBenchmark.removeTarget': (node) => removeTarget(node, services),
    'signalrBenchmark.moveSecret': (uri, range) => moveSecretOut(uri, range, services),
    'signalrBenchmark.openWalkthrough': () =>
      vscode.commands.executeCommand(
        'workbench.action.openWalkthrough',
        `${extension.id}#signalrBenchmark.start`,
        false,
      ),
    'signalrBenchmark.showLog': () => services.log.show(),
  };
}

async function markScenario(argument: unknown, files: ScenarioFiles): Promise<void> {
  const active = vscode.window.activeTextEditor?.document.uri;
  const uri = argument instanceof vscode.Uri ? argument : active;
  if (!uri) return;
  void vscode.window.setStatusBarMessage(await markedWords(uri, files), 4000);
}

async function markedWords(uri: vscode.Uri, files: ScenarioFiles): Promise<string> {
  if (files.isScenarioByItself(await vscode.workspace.openTextDocument(uri))) {
    return vscode.l10n.t('This file is a SignalR scenario by its name or content, marked or not.');
  }
  return (await files.toggleMark(uri))
    ? vscode.l10n.t('This file is treated as a SignalR scenario.')
    : vscode.l10n.t('This file is no longer treated as a SignalR scenario.');
}

/** Shows the hover that the estimate comes from, or the first error that keeps the scenario from having one. */
async function showEstimate(argument: unknown, language: LanguageProviders): Promise<void> {
  const uri =
    argument instanceof vscode.Uri ? argument : vscode.window.activeTextEditor?.document.uri;
  if (!uri) return;
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  const analysis = analyseScenario(document.getText());
  if (analysis.problems.some(({ severity }) => severity === 'error')) {
    await vscode.commands.executeCommand('editor.action.marker.next');
    return;
  }
  const place = document.positionAt(estimatePlace(analysis).offset);
  editor.selection = new vscode.Selection(place, place);
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  language.showEstimateNext(uri);
  await vscode.commands.executeCommand('editor.action.showHover', { focus: 'noAutoFocus' });
}
