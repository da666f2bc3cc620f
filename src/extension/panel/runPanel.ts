import * as vscode from 'vscode';
import { ExpectedError } from '../../base/expectedError';
import type { PanelSource } from '../panelSource';
import { runPanelViewType } from '../viewTypes';
import { showProblem, showSource, webviewOptions, type PanelLog } from './webviewPage';

interface OpenPanel {
  readonly panel: vscode.WebviewPanel;
  /** Without a result, and not going on: it is known from its folder only. */
  readonly interrupted: boolean;
}

/** Open panels by the id of their run. */
const open = new Map<string, OpenPanel>();

/** Shows a run in a panel of its own, or brings the one it has to the front. */
export function openRunPanel(
  extensionUri: vscode.Uri,
  source: PanelSource,
  log: PanelLog = () => undefined,
): vscode.WebviewPanel {
  const known = open.get(source.run.id);
  if (known) {
    known.panel.reveal(undefined, true);
    return known.panel;
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

/** Closes the panel of an interrupted run whose folder is gone; a run of this window knows its result. */
export function closeStoredPanel(id: string): void {
  const known = open.get(id);
  if (known?.interrupted) known.panel.dispose();
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
  try {
    const source = typeof runId === 'string' ? await find(runId) : undefined;
    if (source) {
      adopt(panel, extensionUri, source, log);
      return;
    }
    const message = vscode.l10n.t('The result of this run is no longer there.');
    showProblem(panel, extensionUri, message);
  } catch (error) {
    // Damaged meanwhile, or written by a newer version.
    if (!(error instanceof ExpectedError)) throw error;
    showProblem(panel, extensionUri, error.message);
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
  open.set(id, { panel, interrupted: source.interrupted });
  panel.onDidDispose(() => {
    if (open.get(id)?.panel === panel) open.delete(id);
  });
  showSource(panel, extensionUri, source, log);
}
