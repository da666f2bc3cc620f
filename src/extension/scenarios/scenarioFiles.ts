import * as vscode from 'vscode';
import { t, inBackground } from '../log';
import { ExpectedError } from '../../base/expectedError';
import { maximumCharacters } from '../../scenario/problem';
import type { EditorState } from '../editorState';
import { isScenarioText } from '../language/isScenarioText';

const mostFiles = 300;

export class ScenarioFiles {
  private readonly judged = new WeakMap<
    vscode.TextDocument,
    { readonly version: number; readonly scenario: boolean }
  >();

  constructor(private readonly state: EditorState) {}

  isScenario(document: vscode.TextDocument): boolean {
    if (document.languageId !== 'yaml') return false;
    return (
      this.state.list('markedFiles').includes(document.uri.toString()) ||
      this.isScenarioByItself(document)
    );
  }

  /** Whether name or content make it a scenario, without a mark. */
  isScenarioByItself(document: vscode.TextDocument): boolean {
    if (document.languageId !== 'yaml') return false;
    const before = this.judged.get(document);
    if (before?.version === document.version) return before.scenario;
    // Only the beginning: large texts are not copied at each keystroke.
    const end = document.positionAt(64 * 1024);
    const text = document.getText(new vscode.Range(new vscode.Position(0, 0), end));
    const scenario = isScenarioText(text, document.fileName);
    this.judged.set(document, { version: document.version, scenario });
    return scenario;
  }

  async toggleMark(uri: vscode.Uri): Promise<boolean> {
    const text = uri.toString();
    const marked = this.state.list('markedFiles');
    const on = !marked.includes(text);
    await this.state.store(
      'markedFiles',
      on ? [...marked, text] : marked.filter((each) => each !== text),
    );
    return on;
  }

  active(): vscode.TextDocument | undefined {
    const document = vscode.window.activeTextEditor?.document;
    return document && this.isScenario(document) ? document : undefined;
  }

  /** Scenarios of the workspace by path; those named `*.signalr.yaml` first. */
  async inWorkspace(): Promise<vscode.Uri[]> {
    const found = await vscode.workspace.findFiles(
      '**/*.{yaml,yml}',
      '**/{node_modules,.signalr-bench,.git,out,dist,bin,obj}/**',
      mostFiles,
    );
    const named = (uri: vscode.Uri): boolean => /\.signalr\.ya?ml$/i.test(uri.path);
    const others = found.filter((uri) => !named(uri));
    const rest = await Promise.all(
      others.map(async (uri) => ((await scenarioOnDisk(uri)) === undefined ? [] : [uri])),
    );
    const byPath = (a: vscode.Uri, b: vscode.Uri): number => (a.path < b.path ? -1 : 1);
    return [...found.filter(named).sort(byPath), ...rest.flat().sort(byPath)];
  }
}

/** Text of a scenario file; undefined for other files. Opens no document. */
export async function scenarioOnDisk(uri: vscode.Uri): Promise<string | undefined> {
  try {
    const { size } = await vscode.workspace.fs.stat(uri);
    if (size > maximumCharacters) return undefined;
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    return isScenarioText(text, uri.path) ? text : undefined;
  } catch {
    return undefined;
  }
}

export const isFile = (uri: vscode.Uri): Thenable<boolean> =>
  vscode.workspace.fs.stat(uri).then(
    ({ type }) => (type & vscode.FileType.File) !== 0,
    () => false,
  );

export const uriOf = (argument: unknown): vscode.Uri | undefined =>
  argument instanceof vscode.Uri ? argument : vscode.window.activeTextEditor?.document.uri;

export async function scenarioText(uri: vscode.Uri): Promise<string> {
  try {
    const { size } = uri.scheme === 'untitled' ? { size: 0 } : await vscode.workspace.fs.stat(uri);
    const document =
      size > maximumCharacters ? undefined : await vscode.workspace.openTextDocument(uri);
    const text = document?.getText();
    if (text !== undefined && text.length <= maximumCharacters) return text;
  } catch (error) {
    throw new ExpectedError('scenario-file', t('{0} cannot be read.', uri.fsPath), {
      cause: error,
    });
  }
  throw new ExpectedError(
    'scenario-file',
    t('{0} cannot be read: it is larger than 2 MB.', uri.fsPath),
  );
}

/** Current text of a file, with unsaved changes; undefined if deleted. */
export async function textNow(uri: vscode.Uri): Promise<string | undefined> {
  // Reopening a closed unsaved file would give an empty one.
  const open = vscode.workspace.textDocuments.find(
    (each) => each.uri.toString() === uri.toString(),
  );
  if (open) return open.getText();
  if (uri.scheme === 'untitled') return undefined;
  return vscode.workspace.openTextDocument(uri).then(
    (document) => document.getText(),
    () => undefined,
  );
}

const debounceMs = 200;

/** Keeps the context key of editor menus current, also while a text becomes a scenario. */
export function followActiveEditor(
  files: ScenarioFiles,
  { onDidChange }: EditorState,
): vscode.Disposable {
  const update = (): void => {
    const on = files.active() !== undefined;
    inBackground(
      vscode.commands.executeCommand('setContext', 'signalrBenchmark.activeIsScenario', on),
    );
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(update, debounceMs);
  };
  update();
  return vscode.Disposable.from(
    vscode.window.onDidChangeActiveTextEditor(update),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document === vscode.window.activeTextEditor?.document) later();
    }),
    onDidChange(update),
    new vscode.Disposable(() => clearTimeout(timer)),
  );
}
