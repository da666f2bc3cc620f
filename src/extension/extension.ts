import * as vscode from 'vscode';
import { ExpectedError } from '../base/expectedError';
import type { CommandHandler } from './commands';
import { followActiveEditor } from './contextKeys';
import type { FeatureParts, Features } from './features';
import { lazyLanguage } from './language/lazyLanguage';
import { errorText, type Log } from './log';
import { resultEditorType, runCopyScheme, runPanelViewType } from './panel/panelSource';
import { ResultsTree } from './results/resultsTree';
import { ScenarioFiles } from './scenarios/scenarioFiles';
import { createServices, type Services } from './services';

let loading: Promise<Features> | undefined;

/**
 * Registers everything and does nothing: no file is read, nothing is sent, no run is prepared. The code
 * behind what is registered is a bundle of its own, read when something is asked for the first time.
 */
export function activate(context: vscode.ExtensionContext): void {
  const services = createServices(context);
  const files = new ScenarioFiles(services.state);
  const relevant = relevantChange(services, files);
  const features = (): Promise<Features> =>
    (loading ??= loadFeatures({ services, files, context, onRelevantChange: relevant.event }));
  context.subscriptions.push(
    services,
    files,
    relevant,
    registerCommands(context, services.log, async () => (await features()).commands),
    lazyLanguage({
      isScenario: (document) => files.isScenario(document),
      load: async () => (await features()).language,
      onRelevantChange: relevant.event,
    }),
    followActiveEditor(files),
    // The copies of scenarios that lie beside results; the query of their URI is the folder.
    vscode.workspace.registerTextDocumentContentProvider(runCopyScheme, {
      provideTextDocumentContent: async ({ query }) => (await features()).scenarioCopy(query),
    }),
    vscode.window.createTreeView('signalrBenchmark.results', {
      treeDataProvider: new ResultsTree(services.index),
      showCollapseAll: true,
    }),
    vscode.window.createTreeView('signalrBenchmark.targets', {
      treeDataProvider: services.targets,
    }),
    vscode.window.registerCustomEditorProvider(resultEditorType, {
      openCustomDocument: (uri) => ({ uri, dispose: () => undefined }),
      resolveCustomEditor: async (...args) =>
        (await features()).resultViewer.resolveCustomEditor(...args),
    }),
    vscode.window.registerWebviewPanelSerializer(runPanelViewType, {
      deserializeWebviewPanel: async (panel, state) =>
        (await features()).restorePanel(panel, state),
    }),
  );
  if (services.state.unfinishedRuns.length === 0) return;
  void features()
    .then((loaded) => loaded.offerInterrupted())
    .then(undefined, (error: unknown) => services.log.error(error));
}

async function loadFeatures(parts: FeatureParts): Promise<Features> {
  // After what is going on: neither an activation nor a key stroke waits for code to be read.
  await new Promise(setImmediate);
  const { createFeatures } = await import(/* webpackChunkName: "features" */ './features.js');
  const features = createFeatures(parts);
  parts.context.subscriptions.push(features);
  return features;
}

/** What a run has measured is written before the window closes. */
export async function deactivate(): Promise<void> {
  await (await loading)?.close();
}

/**
 * Registers the commands of the manifest; what they do is asked for when one is called.
 *
 * @param handlersOf reads the code of the commands, by their ids
 */
export function registerCommands(
  { extension }: vscode.ExtensionContext,
  log: Log,
  handlersOf: () => Promise<Readonly<Record<string, CommandHandler>>>,
): vscode.Disposable {
  const { contributes } = extension.packageJSON as Manifest;
  const registered = contributes.commands.map(({ command }) =>
    vscode.commands.registerCommand(command, async (...args: unknown[]) => {
      try {
        const handlers = await handlersOf();
        await handlers[command]!(...args);
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

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

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
