import path from 'node:path';
import * as vscode from 'vscode';
import { EditorState } from './editorState';
import { Log } from './log';
import type { ResultNode } from './results/resultNodes';
import { ResultPlaces, ResultsIndex } from './results/resultsTree';
import type { ScenarioFiles } from './scenarios/scenarioFiles';
import { SecretStore, TargetsTree } from './targets/targetsTree';

/** What commands and views share. */
export type Services = ReturnType<typeof createServices>;

export function createServices(context: vscode.ExtensionContext) {
  const log = new Log();
  const state = new EditorState(context.workspaceState, context.globalState);
  const secrets = new SecretStore(context.secrets, state);
  const places = new ResultPlaces(context.globalStorageUri, state);
  const index = new ResultsIndex(places, state);
  const targets = new TargetsTree(state, secrets);
  const running = new RunningScenario();
  /** What is selected in the list of results; set with the view. */
  const selected: { results: () => readonly ResultNode[] } = { results: () => [] };
  const all = vscode.Disposable.from(log, index, running);
  return {
    log,
    state,
    secrets,
    places,
    index,
    targets,
    running,
    selected,
    /** Runs `serve hub`, for the embedded hub. */
    serverScript: context.asAbsolutePath(path.join('dist', 'serve.js')),
    dispose: (): void => {
      all.dispose();
    },
  };
}

/** The settings with their types; names and defaults stand in package.json, and a test compares. */
interface Settings {
  readonly codeLens: boolean;
  readonly inlayHints: boolean;
  readonly hoverEstimate: boolean;
  /** Worker threads of a run whose scenario names none; 0 leaves it to the machine. */
  readonly workers: number;
  /** A step that misses an objective does not end a run. */
  readonly keepGoing: boolean;
  /** Program for runs in a cluster; empty: the one on the path. */
  readonly kubectl: string;
  /** Of agents and coordinator there, and of their bus. */
  readonly kubernetesImage: string;
  readonly kubernetesBusImage: string;
}

export function setting<Name extends keyof Settings>(name: Name): Settings[Name] {
  const value = vscode.workspace.getConfiguration('signalrBenchmark').get<Settings[Name]>(name);
  if (value === undefined) throw new Error(`the manifest has no setting ${name}`);
  return value;
}

/** The scenario whose run is going on: where others have Run, it has Stop. */
class RunningScenario implements vscode.Disposable {
  private uri: string | undefined;
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChange = this.emitter.event;

  is(uri: vscode.Uri): boolean {
    return this.uri === uri.toString();
  }

  /** @param uri of the scenario whose run began; undefined when the run is over */
  async set(uri: vscode.Uri | undefined): Promise<void> {
    this.uri = uri?.toString();
    const files = this.uri === undefined ? [] : [this.uri];
    const going = uri !== undefined;
    await vscode.commands.executeCommand('setContext', 'signalrBenchmark.running', going);
    await vscode.commands.executeCommand('setContext', 'signalrBenchmark.runningScenarios', files);
    this.emitter.fire();
  }

  dispose(): void {
    this.emitter.dispose();
  }
}

/** Type of the editor of `result.json`, as in the manifest. */
export const resultEditorType = 'signalrBenchmark.result';
/** Scheme of the copies of scenarios; documents of it have no way back to the disk: the editor shows them read-only. */
export const runCopyScheme = 'signalr-benchmark-run';
/** Type of the panel of a run; the manifest waits for it to bring panels back. */
export const runPanelViewType = 'signalrBenchmark.run';
export const comparisonViewType = 'signalrBenchmark.comparison';
export const overviewViewType = 'signalrBenchmark.overview';

/** What features are made from. */
export interface FeatureParts {
  readonly services: Services;
  readonly files: ScenarioFiles;
  readonly context: vscode.ExtensionContext;
  readonly onRelevantChange: vscode.Event<void>;
}
