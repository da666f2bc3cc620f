import * as vscode from 'vscode';
import { analyseScenario } from './language/analyseScenario';
import { estimatePlace } from './language/hoverAt';
import type { LanguageProviders } from './language/languageProviders';
import type { ResultCommands } from './results/resultCommands';
import type { RunController } from './run/runController';
import type { ScenarioFiles } from './scenarios/scenarioFiles';
import type { Services } from './services';
import { moveSecretOut } from './targets/secretCommands';

export interface CommandParts {
  readonly services: Services;
  readonly files: ScenarioFiles;
  readonly controller: RunController;
  readonly results: ResultCommands;
  readonly language: LanguageProviders;
  readonly context: vscode.ExtensionContext;
}

/** What a command does; whatever it fails with is told by its caller. */
export type CommandHandler = (...args: unknown[]) => unknown;

/** All commands by their ids; a test compares them with the manifest. */
export function commandHandlers(parts: CommandParts): Readonly<Record<string, CommandHandler>> {
  const { services, files, controller, results, language, context } = parts;
  const { extensionPath } = context;
  const walkthrough = `${context.extension.id}#signalrBenchmark.start`;
  return {
    'signalrBenchmark.run': async (uri) =>
      (await runCommands()).runScenario(uri, files, controller, extensionPath),
    'signalrBenchmark.runWith': async (uri) =>
      (await runCommands()).runScenarioWith(uri, files, controller, services, extensionPath),
    'signalrBenchmark.stop': () => controller.stop(),
    'signalrBenchmark.showRun': () => controller.showRun(),
    'signalrBenchmark.newScenario': async (useCase, url) =>
      (await runCommands()).newScenario(useCase, url),
    'signalrBenchmark.markScenario': (uri) => markScenario(uri, files),
    'signalrBenchmark.showEstimate': (uri) => showEstimate(uri, language),
    'signalrBenchmark.openResult': (node) => results.open(node),
    'signalrBenchmark.runAgain': (node) => results.runAgain(node),
    'signalrBenchmark.copySummary': (node) => results.copySummary(node),
    'signalrBenchmark.exportResult': (node) => results.export(node),
    'signalrBenchmark.deleteResult': (node) => results.delete(node),
    'signalrBenchmark.renameResult': (node) => results.rename(node),
    'signalrBenchmark.revealResult': (node) => results.reveal(node),
    'signalrBenchmark.addTarget': async () => (await targetCommands()).addTarget(services),
    'signalrBenchmark.testTarget': async (node) =>
      (await targetCommands()).testTarget(node, services),
    'signalrBenchmark.removeTarget': async (node) =>
      (await targetCommands()).removeTarget(node, services),
    'signalrBenchmark.moveSecret': (uri, range) => moveSecretOut(uri, range, services),
    'signalrBenchmark.openWalkthrough': () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', walkthrough, false),
    'signalrBenchmark.showLog': () => services.log.show(),
  };
}

const runCommands = () => import(/* webpackChunkName: "run" */ './run/runCommands.js');
const targetCommands = () => import(/* webpackChunkName: "run" */ './targets/targetCommands.js');

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

/**
 * Shows where the estimate of a scenario comes from: the hover of its connections, or of what stands for
 * them, by keyboard as well.
 * Errors that keep it from having one are gone through instead.
 */
async function showEstimate(
  argument: unknown,
  language: Pick<LanguageProviders, 'showEstimateNext'>,
): Promise<void> {
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
