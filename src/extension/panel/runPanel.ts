import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import type { Disposable } from '../../base/async';
import { ExpectedError } from '../../base/expectedError';
import type { PanelRun } from '../../messages/panel';
import { t, type Log, inBackground } from '../log';
import { resultPath } from '../results/resultEntry';
import { shortTime } from '../results/resultsModel';
import { resultEditorType, runPanelViewType } from '../services';
import { startPanelSession, stringsIn, type PanelSource } from './panelSession';
import { newPanel, portOf, setPage } from './webviewPage';

interface OpenPanel {
  readonly panel: vscode.WebviewPanel;
  /** Without a result, and not going on: it is known from its folder only. */
  readonly interrupted: boolean;
  readonly shown: vscode.Disposable;
}

/** The panels of runs, one for each, and the editors that show a `result.json` in the same way. */
export class RunPanels {
  /** By the id of their run. */
  private readonly open = new Map<string, OpenPanel>();

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly log: Pick<Log, 'warn' | 'error'>,
  ) {}

  /** Shows a run: in the panel it has, in that of the run `instead` that it repeats, or in a new one. */
  show(source: PanelSource, instead?: string): vscode.WebviewPanel {
    const known = this.open.get(source.run.id);
    if (known) {
      known.panel.reveal(undefined, true);
      return known.panel;
    }
    const repeated = instead === undefined ? undefined : this.open.get(instead);
    if (instead !== undefined && repeated) {
      this.open.delete(instead);
      repeated.shown.dispose();
      this.adopt(repeated.panel, source);
      repeated.panel.reveal();
      return repeated.panel;
    }
    const panel = newPanel(runPanelViewType, panelTitle(source.run));
    this.adopt(panel, source);
    return panel;
  }

  /** Closes the panel of an interrupted run whose folder is gone; a run of this window knows its result. */
  closeStored(id: string): void {
    const known = this.open.get(id);
    if (known?.interrupted) known.panel.dispose();
  }

  /** Fills a panel that VS Code brought back; `find` gives the run of an id, unless it is gone. */
  async restore(
    panel: vscode.WebviewPanel,
    state: unknown,
    find: (runId: string) => Promise<PanelSource | undefined>,
  ): Promise<void> {
    const runId = (state as { runId?: unknown } | null | undefined)?.runId;
    try {
      const source = typeof runId === 'string' ? await find(runId) : undefined;
      if (source) this.adopt(panel, source);
      else this.showProblem(panel, t('The result of this run is no longer there.'));
    } catch (error) {
      // Damaged meanwhile, or written by a newer version.
      if (!(error instanceof ExpectedError)) throw error;
      this.showProblem(panel, error.message);
    }
  }

  private adopt(panel: vscode.WebviewPanel, source: PanelSource): void {
    const { id } = source.run;
    const closing = panel.onDidDispose(() => this.open.delete(id));
    // A panel that shows another run from now on listens for that one alone.
    const shown = vscode.Disposable.from(closing, this.fill(panel, source));
    this.open.set(id, { panel, interrupted: source.interrupted, shown });
  }

  /** Shows a `result.json` in an editor that only reads. */
  async showResult(
    uri: vscode.Uri,
    panel: vscode.WebviewPanel,
    token: vscode.CancellationToken,
    sourceOf: (location: string) => Promise<PanelSource>,
  ): Promise<void> {
    const read = async (): Promise<PanelSource | string> => {
      if (uri.scheme !== 'file') return t('Results can only be shown from files on this machine.');
      try {
        return await sourceOf(uri.fsPath);
      } catch (error) {
        if (error instanceof ExpectedError) return error.message;
        this.log.error(error);
        return t('It cannot be read. The log has the details.');
      }
    };
    const source = await read();
    if (token.isCancellationRequested) return;
    if (typeof source === 'string') this.showProblem(panel, source);
    else this.fill(panel, source);
  }

  /** Shows `source` until the panel is closed, or what is returned is disposed. */
  private fill(panel: vscode.WebviewPanel, source: PanelSource): Disposable {
    const session = startPanelSession(portOf(panel), source, {
      t,
      log: (message) => this.log.warn(message),
      testConnection: (url) =>
        inBackground(
          vscode.commands.executeCommand(
            'signalrBenchmark.testTarget',
            url === undefined ? undefined : { kind: 'hub', url },
          ),
        ),
    });
    const closing = panel.onDidDispose(() => session.dispose());
    const title = panelTitle(source.run);
    // The tab of a result would be called result.json, and that of a run like the file beside it.
    panel.title = title;
    setPage(panel, this.extensionUri, title, 'run');
    return vscode.Disposable.from(session, closing);
  }

  private showProblem(panel: vscode.WebviewPanel, message: string): void {
    const subscription = panel.webview.onDidReceiveMessage((sent: { type?: unknown } | null) => {
      if (sent?.type !== 'ready') return;
      inBackground(
        panel.webview.postMessage({ type: 'unreadable', message, strings: stringsIn(t) }),
      );
    });
    panel.onDidDispose(() => {
      subscription.dispose();
    });
    setPage(panel, this.extensionUri, message, 'run');
  }
}

export type ResultColumns = readonly vscode.ViewColumn[];

/** Closes the tabs of a result that is no longer there; settles with where they were. */
export async function closeResultTabs(folder: string): Promise<ResultColumns> {
  const file = uriOf(folder).toString();
  const tabs = vscode.window.tabGroups.all.flatMap((group) =>
    group.tabs.filter(
      ({ input }) =>
        input instanceof vscode.TabInputCustom &&
        input.viewType === resultEditorType &&
        input.uri.toString() === file,
    ),
  );
  const columns = tabs.map(({ group }) => group.viewColumn);
  await vscode.window.tabGroups.close(tabs, true);
  return columns;
}

/** Opens the result of a folder where it was open before, perhaps by another name. */
export async function openResultTabs(folder: string, columns: ResultColumns): Promise<void> {
  if (!existsSync(resultPath({ folder }))) return;
  for (const viewColumn of columns) {
    const options = { viewColumn, preserveFocus: true, preview: false };
    const file = uriOf(folder);
    await vscode.commands.executeCommand('vscode.openWith', file, resultEditorType, options);
  }
}

function uriOf(folder: string): vscode.Uri {
  return vscode.Uri.file(resultPath({ folder }));
}

/** Scenario and local time of the start, with seconds: which other tabs there will be, nobody knows. */
function panelTitle({ title, startedAt }: Pick<PanelRun, 'title' | 'startedAt'>): string {
  const time = new Date(startedAt);
  if (Number.isNaN(time.getTime())) return title;
  const style = { now: new Date(), language: vscode.env.language, seconds: true };
  return `${title} · ${shortTime(time, style)}`;
}
