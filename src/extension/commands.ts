import * as vscode from 'vscode';
import { ExpectedError } from '../base/expectedError';
import { errorText } from './log';
import type { ResultCommands } from './resultCommands';
import { newScenario, runScenario, runScenarioWith } from './runCommands';
import type { RunController } from './runController';
import type { ScenarioFiles } from './scenarioFiles';
import { moveSecret } from './secretCommands';
import type { Services } from './services';
import { addTarget, removeTarget, testTarget } from './targetCommands';

export interface CommandParts {
  readonly services: Services;
  readonly files: ScenarioFiles;
  readonly controller: RunController;
  readonly results: ResultCommands;
  readonly context: vscode.ExtensionContext;
}

type Handler = (...args: unknown[]) => unknown;

/** All commands; a test compares them with the manifest. */
function handlers(parts: CommandParts): Readonly<Record<string, Handler>> {
  const { services, files, controller, results, context } = parts;
  const { extensionPath } = context;
  const walkthrough = `${context.extension.id}#signalrBenchmark.start`;
  return {
    'signalrBenchmark.run': (uri) => runScenario(uri, files, controller, extensionPath),
    'signalrBenchmark.runWith': (uri) =>
      runScenarioWith(uri, files, controller, services, extensionPath),
    'signalrBenchmark.stop': () => controller.stop(),
    'signalrBenchmark.showRun': () => controller.showRun(),
    'signalrBenchmark.newScenario': () => newScenario(),
    'signalrBenchmark.markScenario': (uri) => markScenario(uri, files),
    'signalrBenchmark.openResult': (node) => results.open(node),
    'signalrBenchmark.runAgain': (node) => results.runAgain(node),
    'signalrBenchmark.copySummary': (node) => results.copySummary(node),
    'signalrBenchmark.deleteResult': (node) => results.delete(node),
    'signalrBenchmark.renameResult': (node) => results.rename(node),
    'signalrBenchmark.revealResult': (node) => results.reveal(node),
    'signalrBenchmark.addTarget': () => addTarget(services),
    'signalrBenchmark.testTarget': (node) => testTarget(node, services),
    'signalrBenchmark.removeTarget': (node) => removeTarget(node, services),
    'signalrBenchmark.moveSecret': (uri, range) => moveSecret(uri, range, services),
    'signalrBenchmark.openWalkthrough': () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', walkthrough, false),
    'signalrBenchmark.showLog': () => services.log.show(),
  };
}

export function registerCommands(parts: CommandParts): vscode.Disposable {
  const { log } = parts.services;
  const registered = Object.entries(handlers(parts)).map(([id, handler]) =>
    vscode.commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        await handler(...args);
      } catch (error) {
        log.error(error);
        // What people can do something about is said; the editor tells of a defect by itself.
        if (!(error instanceof ExpectedError)) throw error;
        void vscode.window.showErrorMessage(errorText(error));
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

async function markScenario(argument: unknown, files: ScenarioFiles): Promise<void> {
  const active = vscode.window.activeTextEditor?.document.uri;
  const uri = argument instanceof vscode.Uri ? argument : active;
  if (!uri) return;
  const marked = await files.toggleMark(uri);
  void vscode.window.setStatusBarMessage(
    marked
      ? vscode.l10n.t('This file is treated as a SignalR scenario.')
      : vscode.l10n.t('This file is no longer treated as a SignalR scenario.'),
    4000,
  );
}
