import type * as vscode from 'vscode';
import { commandHandlers, type CommandHandler } from './commands';
import { offerInterrupted } from './run/interruptedRun';
import { languageProviders, type LanguageProviders } from './language/languageProviders';
import { languageContext } from './languageContext';
import { restoreRunPanel } from './panel/runPanel';
import { ResultCommands } from './results/resultCommands';
import { resultViewer } from './results/resultViewer';
import { RunController } from './run/runController';
import type { ScenarioFiles } from './scenarios/scenarioFiles';
import type { Services } from './services';

/** Everything that answers a question or an order; none of it is needed while nothing is asked. */
export interface Features {
  /** By the id of the command. */
  readonly commands: Readonly<Record<string, CommandHandler>>;
  readonly language: LanguageProviders;
  readonly resultViewer: vscode.CustomReadonlyEditorProvider;
  /** Fills a run's panel that the editor brought back; see {@link restoreRunPanel}. */
  restorePanel(panel: vscode.WebviewPanel, state: unknown): Promise<void>;
  /** See {@link offerInterrupted}. */
  offerInterrupted(): Promise<void>;
  /** Ends a run in order; see {@link RunController.close}. */
  close(): Promise<void>;
  dispose(): void;
}

export interface FeatureParts {
  readonly services: Services;
  readonly files: ScenarioFiles;
  readonly context: vscode.ExtensionContext;
  readonly onRelevantChange: vscode.Event<void>;
}

/** Wires them. Nothing is run or read by it; diagnostics of open scenarios begin. */
export function createFeatures(parts: FeatureParts): Features {
  const { services, files, context, onRelevantChange } = parts;
  const { extensionUri } = context;
  const log = (message: string): void => services.log.warn(message);
  const controller = new RunController(services, context);
  const results = new ResultCommands(services, controller, extensionUri);
  const language = languageProviders(languageContext(services, files, onRelevantChange));
  return {
    commands: commandHandlers({ services, files, controller, results, language, context }),
    language,
    resultViewer: resultViewer(extensionUri, results, services),
    restorePanel: (panel, state) =>
      restoreRunPanel(panel, extensionUri, state, (id) => results.find(id), log),
    offerInterrupted: () => offerInterrupted(services, results),
    close: () => controller.close(),
    dispose: () => {
      language.dispose();
      controller.dispose();
    },
  };
}
