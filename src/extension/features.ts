import * as vscode from 'vscode';
import { folderName } from '../results/resultFolder';
import { commandHandlers, type CommandHandler } from './commands';
import {
  languageProviders,
  type LanguageContext,
  type LanguageProviders,
} from './language/languageProviders';
import { restoreRunPanel } from './panel/runPanel';
import { ResultCommands } from './results/resultCommands';
import { fromName } from './results/resultEntry';
import { lastRunText, newestOf } from './results/resultsModel';
import { resultViewer } from './results/resultViewer';
import { copyIn } from './run/scenarioAsRun';
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
  /** The scenario of a result folder, as it was run. */
  scenarioCopy(folder: string): Promise<string>;
  /** See {@link ResultCommands.offerInterrupted}. */
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
    resultViewer: resultViewer(extensionUri, (location) => results.source(location), services),
    restorePanel: (panel, state) =>
      restoreRunPanel(panel, extensionUri, state, (id) => results.find(id), log),
    scenarioCopy: copyIn,
    offerInterrupted: () => results.offerInterrupted(),
    close: () => controller.close(),
    dispose: () => {
      language.dispose();
      controller.dispose();
    },
  };
}

/** What the language features ask of the rest of the extension. */
export function languageContext(
  { index, places, running, secrets, state }: Services,
  files: ScenarioFiles,
  onRelevantChange: vscode.Event<void>,
): LanguageContext {
  return {
    isScenario: (document) => files.isScenario(document),
    secretNames: () => secrets.names,
    hubs: () => state.hubs,
    onRelevantChange,
    isRunning: (uri) => running.is(uri),
    lastRun: (uri) => {
      // The name as a result folder has it.
      const { scenario } = fromName(folderName(new Date(0), uri.path));
      const source = { scenario, origin: uri.toString(), places: places.for(uri) };
      const entry = newestOf(index.results.entries, source);
      if (!entry) return undefined;
      const words = lastRunText(entry, new Date(), vscode.l10n.t);
      return { words, folder: entry.folder };
    },
  };
}
