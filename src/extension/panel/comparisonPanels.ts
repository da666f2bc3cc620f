import type * as vscode from 'vscode';
import type { ToComparisonPanel } from '../../protocol/comparisonPanel';
import { comparisonStrings } from '../../protocol/comparisonStrings';
import { startComparisonSession, type ComparisonOrders } from './comparedRuns';
import { localised, setIcon, setPage } from './webviewPage';

/** Fills a panel with how later runs stand to the first one, until the panel is closed. */
export function showComparison(
  panel: vscode.WebviewPanel,
  extensionUri: vscode.Uri,
  compared: Pick<ToComparisonPanel, 'shown' | 'folders'>,
  orders: ComparisonOrders,
): void {
  const { title } = panel;
  const port = {
    post: (message: object) => void panel.webview.postMessage(message),
    onMessage: panel.webview.onDidReceiveMessage,
  };
  const session = startComparisonSession(
    port,
    { ...compared, strings: localised(comparisonStrings) },
    orders,
  );
  panel.onDidDispose(() => session.dispose());
  setIcon(panel, extensionUri);
  setPage(panel, extensionUri, title, 'comparison');
}
