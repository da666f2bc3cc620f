import * as vscode from 'vscode';
import type { PanelSource } from '../panelSource';
import { showProblem, showSource, webviewOptions, type PanelLog } from './webviewPage';

/** View type of the panel of a run; its serializer is registered under the same name. */
export const runPanelViewType = 'signalrBenchmark.run';

/** Open panels by the id of their run. */
const open = new Map<string, vscode.WebviewPanel>();

/** Shows a run in a panel of its own, or brings the one it has to the front. */
export function openRunPanel(
  extensionUri: vscode.Uri,
  source: PanelSource,
  log: PanelLog = () => undefined,
): vscode.WebviewPanel {
  const known = open.get(source.run.id);
  if (known) {
    known.reveal(undefined, true);
    return known;
  }
  const panel = vscode.window.createWebviewPanel(
    runPanelViewType,
    source.run.title,
    { viewColumn: vscode.ViewColumn.Active, preserveFocus: false },
    // Hidden it costs nothing: the page goes away and is filled again when it is shown.
    { ...webviewOptions(extensionUri), retainContextWhenHidden: false },
  );
  adopt(panel, extensionUri, source, log);
  return panel;
}

/** Finds the run with that id, going on or stored; undefined when it is gone. */
export type FindSource = (runId: string) => Promise<PanelSource | undefined>;

/**
 * Fills a panel that VS Code brought back after the window was loaded again.
 *
 * @param state what the page had left with VS Code; not trusted
 */
export async function restoreRunPanel(
  panel: vscode.WebviewPanel,
  extensionUri: vscode.Uri,
  state: unknown,
  find: FindSource,
  log: PanelLog = () => undefined,
): Promise<void> {
  const runId = (state as { runId?: unknown } | null | undefined)?.runId;
  const source = typeof runId === 'string' ? await find(runId) : undefined;
  if (source) adopt(panel, extensionUri, source, log);
  else {
    const message = vscode.l10n.t('The result of this run is no longer there.');
    showProblem(panel, extensionUri, message);
  }
}

function adopt(
  panel: vscode.WebviewPanel,
  extensionUri: vscode.Uri,
  source: PanelSource,
  log: PanelLog,
): void {
  const { id, title } = source.run;
  panel.title = title;
  open.set(id, panel);
  panel.onDidDispose(() => {
    if (open.get(id) === panel) open.delete(id);
  });
  showSource(panel, extensionUri, source, log);
}
