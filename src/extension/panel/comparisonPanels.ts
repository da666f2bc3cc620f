import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { ShownComparison } from '../../protocol/comparisonPanel';
import { comparisonStrings } from '../../protocol/comparisonStrings';
import { t } from '../log';
import { comparisonViewType } from '../services';
import { startComparisonSession, type ComparisonOrders } from './comparedRuns';
import { panelHtml } from './panelSession';

/** Shows how later runs stand to the first one, until the panel is closed. */
export function showComparison(
  extensionUri: vscode.Uri,
  title: string,
  shown: readonly ShownComparison[],
  orders: ComparisonOrders,
): vscode.WebviewPanel {
  const uri = (...parts: string[]): vscode.Uri => vscode.Uri.joinPath(extensionUri, ...parts);
  const panel = vscode.window.createWebviewPanel(
    comparisonViewType,
    title,
    { viewColumn: vscode.ViewColumn.Active, preserveFocus: false },
    {
      enableScripts: true,
      localResourceRoots: [uri('dist'), uri('media')],
      // Hidden it costs nothing: the page goes away and is filled again when it is shown.
      retainContextWhenHidden: false,
    },
  );
  const { webview } = panel;
  const strings = Object.fromEntries(
    Object.entries(comparisonStrings).map(([name, text]) => [name, t(text)]),
  );
  const session = startComparisonSession(
    {
      post: (message) => void webview.postMessage(message),
      onMessage: (listener) => webview.onDidReceiveMessage(listener),
    },
    shown,
    strings,
    orders,
  );
  panel.onDidDispose(() => session.dispose());
  const icon = (name: string): vscode.Uri => uri('media', name);
  panel.iconPath = { light: icon('panel-light.svg'), dark: icon('panel-dark.svg') };
  const source = (...parts: string[]): string => webview.asWebviewUri(uri(...parts)).toString();
  webview.html = panelHtml({
    title,
    language: vscode.env.language,
    scriptUri: source('dist', 'comparison.js'),
    styleUris: [source('media', 'uPlot.css'), source('media', 'panel.css')],
    cspSource: webview.cspSource,
    nonce: randomBytes(16).toString('base64url'),
  });
  return panel;
}
