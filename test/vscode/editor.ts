import path from 'node:path';
import * as vscode from 'vscode';

const extensionId = 'signalr-benchmark.signalr-benchmark';

/** The extension under test, as VS Code knows it. */
export function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension<unknown>(extensionId);
  if (found === undefined) throw new Error(`${extensionId} is not installed`);
  return found;
}

/** Folder the tests work in: a copy, which they may change. */
export function workspaceFolder(): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) throw new Error('no folder is open');
  return folder.uri;
}

/** Opens a file of the workspace in an editor, as it is on disk. */
export async function openFile(name: string): Promise<vscode.TextDocument> {
  const uri = vscode.Uri.joinPath(workspaceFolder(), name);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  if (document.isDirty) await vscode.commands.executeCommand('workbench.action.files.revert');
  return document;
}

/** Position right behind the first occurrence of `text`. */
export function behind(document: vscode.TextDocument, text: string): vscode.Position {
  const offset = document.getText().indexOf(text);
  if (offset < 0) throw new Error(`${path.basename(document.fileName)} has no "${text}"`);
  return document.positionAt(offset + text.length);
}

/** Waits until `look` finds something; says what it was when it does not. */
export async function until<T>(
  what: string | (() => string),
  look: () => T | undefined | Promise<T | undefined>,
  limitMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) {
      const words = typeof what === 'string' ? what : what();
      throw new Error(`not within ${limitMs} ms: ${words}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Problems of a document once there are some (or, with `none`, once there are none). */
export function problemsOf(
  uri: vscode.Uri,
  wanted: 'some' | 'none' = 'some',
): Promise<vscode.Diagnostic[]> {
  return until(`${wanted} problems`, () => {
    const found = vscode.languages.getDiagnostics(uri);
    return found.length > 0 === (wanted === 'some') ? found : undefined;
  });
}

/** The code of a problem, without the address some problems link to. */
export function codeOf({ code }: vscode.Diagnostic): string {
  return String(typeof code === 'object' ? code.value : code);
}

/** What hovers say, as Markdown. */
export function hoverText(hovers: readonly vscode.Hover[]): string {
  return hovers
    .flatMap(({ contents }) => contents)
    .map((part) => (part instanceof vscode.MarkdownString ? part.value : ''))
    .join('\n');
}
