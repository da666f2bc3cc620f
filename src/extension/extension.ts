import * as vscode from 'vscode';
import type { FeatureParts, Features } from './features';
import { followActiveEditor } from './scenarios/followActiveEditor';
import { lazyLanguage } from './language/lazyLanguage';
import { registerCommands } from './registerCommands';
import { relevantChange } from './scenarios/relevantChange';
import { ResultsTree } from './results/resultsTree';
import { ScenarioFiles } from './scenarios/scenarioFiles';
import { scenarioCopies } from './run/scenarioCopies';
import { createServices } from './services';
import { resultEditorType, runPanelViewType } from './viewTypes';

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
    scenarioCopies(),
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
