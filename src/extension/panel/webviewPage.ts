import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { inBackground } from '../log';
import type { PageName } from '../../messages/panel';
import { panelHtml, type PanelPort } from './panelSession';

/** Hidden it costs nothing: the page goes away and is filled again when it is shown. */
export function newPanel(viewType: string, title: string): vscode.WebviewPanel {
  const inFront = { viewColumn: vscode.ViewColumn.Active, preserveFocus: false };
  const options = { retainContextWhenHidden: false };
  return vscode.window.createWebviewPanel(viewType, title, inFront, options);
}

/** Puts one of our pages into a panel, and its icon: an image in a tab takes no colour of the theme, so there is one for each kind. */
export function setPage(
  panel: vscode.WebviewPanel,
  extensionUri: vscode.Uri,
  title: string,
  name: PageName,
): void {
  const { webview } = panel;
  const uri = (...parts: string[]): vscode.Uri => vscode.Uri.joinPath(extensionUri, ...parts);
  const source = (...parts: string[]): string => webview.asWebviewUri(uri(...parts)).toString();
  webview.options = { enableScripts: true, localResourceRoots: [uri('dist'), uri('media')] };
  webview.html = panelHtml({
    ...{ title, name, language: vscode.env.language, cspSource: webview.cspSource },
    scriptUri: source('dist', 'panel.js'),
    styleUris: [source('media', 'uPlot.css'), source('media', 'panel.css')],
    nonce: randomBytes(16).toString('base64url'),
  });
  panel.iconPath = { light: uri('media', 'panel-light.svg'), dark: uri('media', 'panel-dark.svg') };
}

/** What a session sends its page, and hears of it. */
export const portOf = (panel: vscode.WebviewPanel): PanelPort => ({
  post: (message) => inBackground(panel.webview.postMessage(message)),
  onMessage: panel.webview.onDidReceiveMessage,
  onVisibility: (listener) => panel.onDidChangeViewState(() => listener(panel.visible)),
});
