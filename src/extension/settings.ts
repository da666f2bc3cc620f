import * as vscode from 'vscode';

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
