import path from 'node:path';
import * as vscode from 'vscode';
import { EditorState } from './editorState';
import { Log } from './log';
import type { ResultNode } from './results/resultNodes';
import { ResultPlaces, ResultsIndex } from './results/resultsTree';
import type { ScenarioFiles } from './scenarios/scenarioFiles';
import { SecretStore, TargetsTree } from './targets/targetsTree';

export type Services = ReturnType<typeof createServices>;

export function createServices(context: vscode.ExtensionContext) {
  const log = new Log();
  const state = new EditorState(context.workspaceState, context.globalState);
  const secrets = new SecretStore(context.secrets, state);
  const places = new ResultPlaces(context.globalStorageUri, state);
  const index = new ResultsIndex(places, state);
  const targets = new TargetsTree(state, secrets);
  const running = new RunningScenario();
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
    serverScript: context.asAbsolutePath(path.join('dist', 'serve.js')),
    dispose: (): void => {
      all.dispose();
    },
  };
}

/** Settings with types; names and defaults are in package.json, and a test compares. */
interface Settings {
  readonly codeLens: boolean;
  readonly inlayHints: boolean;
  readonly hoverEstimate: boolean;
  /** Worker threads if the scenario names none; 0 lets the machine decide. */
  readonly workers: number;
  /** A missed objective does not end the run. */
  readonly keepGoing: boolean;
  /** Empty: `kubectl` on the path. */
  readonly kubectl: string;
  readonly kubernetesImage: string;
  readonly kubernetesBusImage: string;
}

export function setting<Name extends keyof Settings>(name: Name): Settings[Name] {
  const value = vscode.workspace.getConfiguration('signalrBenchmark').get<Settings[Name]>(name);
  if (value === undefined) throw new Error(`the manifest has no setting ${name}`);
  return value;
}

class RunningScenario implements vscode.Disposable {
  private uri: string | undefined;
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChange = this.emitter.event;

  is(uri: vscode.Uri): boolean {
    return this.uri === uri.toString();
  }

  /** @param uri of the running scenario; undefined at its end */
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

/** View types and schemes, as in the manifest. The copies of scenarios are read-only by their scheme. */
export const resultEditorType = 'signalrBenchmark.result';
export const runCopyScheme = 'signalr-benchmark-run';
export const runPanelViewType = 'signalrBenchmark.run';
export const comparisonViewType = 'signalrBenchmark.comparison';
export const overviewViewType = 'signalrBenchmark.overview';

export interface FeatureParts {
  readonly services: Services;
  readonly files: ScenarioFiles;
  readonly context: vscode.ExtensionContext;
  readonly onRelevantChange: vscode.Event<void>;
}
