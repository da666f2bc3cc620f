import * as vscode from 'vscode';
import type { Disposable } from '../../base/event';
import { ExpectedError } from '../../base/expectedError';
import { runPanelViewType, type PanelSource } from './panelSource';
import { panelTitle, showProblem, showSource, webviewOptions, type PanelLog } from './webviewPage';

interface OpenPanel {
  readonly panel: vscode.WebviewPanel;
  /** Without a result, and not going on: it is known from its folder only. */
  readonly interrupted: boolean;
  /** What the panel shows, until it shows something else. */
  readonly shown: Disposable;
}

/** Open panels by the id of their run. */
const open = new Map<string, OpenPanel>();

/**
 * Shows a run in a panel of its own, or brings the one it has to the front.
 *
 * @param instead id of a run that this one repeats: it takes over the panel of that run, where it is open
 */
export function openRunPanel(
  extensionUri: vscode.Uri,
  source: PanelSource,
  log: PanelLog = () => undefined,
  instead?: string,
): vscode.WebviewPanel {
  const known = open.get(source.run.id);
  if (known) {
    known.panel.reveal(undefined, true);
    return known.panel;
  }
  const repeated = instead === undefined ? undefined : open.get(instead);
  if (instead !== undefined && repeated) {
    open.delete(instead);
    repeated.shown.dispose();
    adopt(repeated.panel, extensionUri, source, log);
    repeated.panel.reveal();
    return repeated.panel;
  }
  const panel = vscode.window.createWebviewPanel(
    runPanelViewType,
    panelTitle(source.run),
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
  const { id } = source.run;
  const shown = showSource(panel, extensionUri, source, log);
  open.set(id, { panel, interrupted: source.interrupted, shown });
  panel.onDidDispose(() => {
    if (open.get(id)?.panel === panel) open.delete(id);
  });
}
