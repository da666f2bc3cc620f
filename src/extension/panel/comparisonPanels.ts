import type * as vscode from 'vscode';
import type { ShownComparison } from '../../protocol/comparisonPanel';
import { comparisonStrings } from '../../protocol/comparisonStrings';
import { comparisonViewType } from '../services';
import { startComparisonSession, type ComparisonOrders } from './comparedRuns';
import { localised, newPanel, setIcon, setPage } from './webviewPage';

/** Shows how later runs stand to the first one, until the panel is closed. */
export function showComparison(
  extensionUri: vscode.Uri,
  title: string,
  shown: readonly ShownComparison[],
  orders: ComparisonOrders,
): void {
  const panel = newPanel(comparisonViewType, title);
  const port = {
    post: (message: object) => void panel.webview.postMessage(message),
    onMessage: panel.webview.onDidReceiveMessage,
  };
  const session = startComparisonSession(port, shown, localised(comparisonStrings), orders);
  panel.onDidDispose(() => session.dispose());
  setIcon(panel, extensionUri);
  setPage(panel, extensionUri, title, 'comparison');
}
