import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { t } from '../log';
import type { PageName } from '../../messages/panel';
import { panelHtml } from './panelSession';

/** Hidden it costs nothing: the page goes away and is filled again when it is shown. */
export function newPanel(viewType: string, title: string): vscode.WebviewPanel {
  const inFront = { viewColumn: vscode.ViewColumn.Active, preserveFocus: false };
  const options = { retainContextWhenHidden: false };
  return vscode.window.createWebviewPanel(viewType, title, inFront, options);
}

/** Puts one of our pages into a panel. */
export function setPage(
  { webview }: vscode.WebviewPanel,
  extensionUri: vscode.Uri,
  title: string,
  name: PageName,
): void {
  const uri = (...parts: string[]): vscode.Uri => vscode.Uri.joinPath(extensionUri, ...parts);
  const source = (...parts: string[]): string => webview.asWebviewUri(uri(...parts)).toString();
  webview.options = { enableScripts: true, localResourceRoots: [uri('dist'), uri('media')] };
  webview.html = panelHtml({
    ...{ title, name, language: vscode.env.language, cspSource: webview.cspSource },
    scriptUri: source('dist', 'panel.js'),
    styleUris: [source('media', 'uPlot.css'), source('media', 'panel.css')],
    nonce: randomBytes(16).toString('base64url'),
  });
}

/** An image in a tab takes no colour of the theme: one for each kind. */
export function setIcon(panel: vscode.WebviewPanel, extensionUri: vscode.Uri): void {
  const icon = (name: string): vscode.Uri => vscode.Uri.joinPath(extensionUri, 'media', name);
  panel.iconPath = { light: icon('panel-light.svg'), dark: icon('panel-dark.svg') };
}

/** Texts of a page in the language of the editor. */
export const localised = <Name extends string>(english: Readonly<Record<Name, string>>) =>
  Object.fromEntries(
    Object.entries<string>(english).map(([name, text]) => [name, t(text)]),
  ) as Record<Name, string>;
