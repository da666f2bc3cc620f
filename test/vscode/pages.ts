import * as vscode from 'vscode';

/** Lets a test send messages as the pages of the panels that are opened from now on do. */
export function recordedPages(): ((message: unknown) => void)[] {
  const window = vscode.window as unknown as Record<string, unknown>;
  const open = vscode.window.createWebviewPanel;
  const pages: ((message: unknown) => void)[] = [];
  window['createWebviewPanel'] = (...args: Parameters<typeof open>): vscode.WebviewPanel => {
    const panel = open(...args);
    const { onDidReceiveMessage } = panel.webview;
    Object.assign(panel.webview, {
      onDidReceiveMessage: (listener: (message: unknown) => void): vscode.Disposable => {
        pages.push(listener);
        return onDidReceiveMessage(listener);
      },
    });
    return panel;
  };
  return pages;
}
