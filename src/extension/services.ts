import path from 'node:path';
import * as vscode from 'vscode';
import { RunningScenario } from './contextKeys';
import { EditorState } from './editorState';
import { Log } from './log';
import { ResultPlaces } from './results/resultPlaces';
import { ResultsIndex } from './results/resultsIndex';
import { SecretStore } from './targets/secretStore';
import { TargetsTree } from './targets/targetsTree';

/** What commands and views share. */
export interface Services {
  readonly log: Log;
  readonly state: EditorState;
  readonly secrets: SecretStore;
  readonly places: ResultPlaces;
  readonly index: ResultsIndex;
  readonly targets: TargetsTree;
  readonly running: RunningScenario;
  /** Script that runs `serve hub`, for the embedded hub. */
  readonly serverScript: string;
  rememberHub(url: string): Promise<void>;
  dispose(): void;
}

/** Builds them; nothing is read from disk or network by it. */
export function createServices(context: vscode.ExtensionContext): Services {
  const log = new Log();
  const state = new EditorState(context.workspaceState, context.globalState);
  const secrets = new SecretStore(context.secrets, state);
  const places = new ResultPlaces(context.globalStorageUri, state);
  const index = new ResultsIndex(
    places,
    () => new Date(),
    (folder) => state.originOf(folder),
  );
  const targets = new TargetsTree(state, secrets);
  const running = new RunningScenario();
  const all = vscode.Disposable.from(log, secrets, index, targets, running);
  return {
    log,
    state,
    secrets,
    places,
    index,
    targets,
    running,
    serverScript: context.asAbsolutePath(path.join('dist', 'cli.js')),
    rememberHub: async (url) => {
      await state.rememberHub(url);
      targets.refresh();
    },
    dispose: () => {
      all.dispose();
    },
  };
}

/** The settings with their types; names and defaults stand in package.json, and a test compares. */
export interface Settings {
  readonly codeLens: boolean;
  readonly inlayHints: boolean;
  readonly hoverEstimate: boolean;
  /** Worker threads of a run whose scenario names none; 0 leaves it to the machine. */
  readonly workers: number;
  /** A step that misses an objective does not end a run. */
  readonly keepGoing: boolean;
}

export function setting<Name extends keyof Settings>(name: Name): Settings[Name] {
  const value = vscode.workspace.getConfiguration('signalrBenchmark').get<Settings[Name]>(name);
  if (value === undefined) throw new Error(`the manifest has no setting ${name}`);
  return value;
}
