import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import type { Disposable } from '../../base/async';
import { ExpectedError } from '../../base/expectedError';
import type { PanelRun, PageName, OverviewRow, ToOverviewPanel } from '../../messages/panel';
import { t, type Log, inBackground } from '../log';
import { resultPath, type EntryStatus, type ResultEntry } from '../results/resultEntry';
import { shortTime, statusWord } from '../results/resultsModel';
import { resultEditorType, runPanelViewType, overviewViewType } from '../services';
import {
  startPanelSession,
  translatedStrings,
  type PanelSource,
  panelHtml,
  type PanelPort,
} from './panelSession';
import { randomBytes } from 'node:crypto';
import { labelsOf } from '../results/resultNodes';
import type { ResultsIndex } from '../results/resultsTree';

interface OpenPanel {
  readonly panel: vscode.WebviewPanel;
  /** Neither finished nor running: known from its folder only. */
  readonly interrupted: boolean;
  readonly shown: vscode.Disposable;
}

export class RunPanels {
  private readonly open = new Map<string, OpenPanel>();

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly log: Pick<Log, 'warn' | 'error'>,
  ) {}

  /** Shows a run in its panel, in that of the run `instead` that it repeats, or in a new one. */
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

  /** Closes the panel of an interrupted run whose folder was deleted. */
  closeStored(id: string): void {
    const known = this.open.get(id);
    if (known?.interrupted) known.panel.dispose();
  }

  /** Fills a panel that VS Code restores; `find` returns undefined for a deleted run. */
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
      if (!(error instanceof ExpectedError)) throw error;
      this.showProblem(panel, error.message);
    }
  }

  private adopt(panel: vscode.WebviewPanel, source: PanelSource): void {
    const { id } = source.run;
    const closing = panel.onDidDispose(() => this.open.delete(id));
    const shown = vscode.Disposable.from(closing, this.fill(panel, source));
    this.open.set(id, { panel, interrupted: source.interrupted, shown });
  }

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
        return t('The result cannot be read. The log has the details.');
      }
    };
    const source = await read();
    if (token.isCancellationRequested) return;
    if (typeof source === 'string') this.showProblem(panel, source);
    else this.fill(panel, source);
  }

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
    // Otherwise the tab would be named `result.json`, or like its scenario.
    panel.title = title;
    setPage(panel, this.extensionUri, title, 'run');
    return vscode.Disposable.from(session, closing);
  }

  private showProblem(panel: vscode.WebviewPanel, message: string): void {
    const subscription = panel.webview.onDidReceiveMessage((sent: { type?: unknown } | null) => {
      if (sent?.type !== 'ready') return;
      inBackground(
        panel.webview.postMessage({ type: 'unreadable', message, strings: translatedStrings(t) }),
      );
    });
    panel.onDidDispose(() => {
      subscription.dispose();
    });
    setPage(panel, this.extensionUri, message, 'run');
  }
}

export type ResultColumns = readonly vscode.ViewColumn[];

/** Closes the tabs of a deleted result; settles with their columns. */
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

/** Reopens a result, perhaps renamed, in its former columns. */
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

/** Scenario and local start time, with seconds to tell tabs apart. */
function panelTitle({ title, startedAt }: Pick<PanelRun, 'title' | 'startedAt'>): string {
  const time = new Date(startedAt);
  if (Number.isNaN(time.getTime())) return title;
  const style = { now: new Date(), language: vscode.env.language, seconds: true };
  return `${title} · ${shortTime(time, style)}`;
}

/** Discarded while hidden and filled again when shown. */
export function newPanel(viewType: string, title: string): vscode.WebviewPanel {
  const inFront = { viewColumn: vscode.ViewColumn.Active, preserveFocus: false };
  const options = { retainContextWhenHidden: false };
  return vscode.window.createWebviewPanel(viewType, title, inFront, options);
}

/** Sets the page and its icon. Tab icons take no theme colour, so there is one per theme. */
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

export const portOf = (panel: vscode.WebviewPanel): PanelPort => ({
  post: (message) => inBackground(panel.webview.postMessage(message)),
  onMessage: panel.webview.onDidReceiveMessage,
  onVisibility: (listener) => panel.onDidChangeViewState(() => listener(panel.visible)),
});

const bad: readonly EntryStatus[] = ['fail', 'invalid', 'damaged'];

/** All results as a sortable table, with the trend of p99 and Units of a scenario. */
export class OverviewPanel {
  private panel: vscode.WebviewPanel | undefined;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly index: ResultsIndex,
    private readonly open: (folder: string) => Promise<unknown>,
  ) {}

  show(scenario: string | undefined): void {
    this.panel?.dispose();
    const title = scenario === undefined ? t('Results') : t('Trend of {0}', scenario);
    const panel = newPanel(overviewViewType, title);
    this.panel = panel;
    const { webview } = panel;
    const post = async (): Promise<void> => {
      const message = overviewMessage(await this.index.load(), scenario);
      if (this.panel === panel) await webview.postMessage(message);
    };
    const subscriptions = vscode.Disposable.from(
      this.index.onDidChange(() => inBackground(post())),
      webview.onDidReceiveMessage((message: unknown) => {
        const { type, id } = (message ?? {}) as { type?: unknown; id?: unknown };
        if (type === 'ready') inBackground(post());
        else if (
          type === 'open' &&
          this.index.results.entries.some(({ folder }) => folder === id)
        ) {
          inBackground(this.open(id as string));
        }
      }),
    );
    panel.onDidDispose(() => {
      subscriptions.dispose();
      if (this.panel === panel) this.panel = undefined;
    });
    setPage(panel, this.extensionUri, title, 'overview');
  }
}

function overviewMessage(
  entries: readonly ResultEntry[],
  scenario: string | undefined,
): ToOverviewPanel {
  const labels = labelsOf(entries);
  const rows = entries.map(
    ({ folder, startedMs, p99Us, unit, status, ...entry }, at): OverviewRow => ({
      id: folder,
      scenario: entry.scenario,
      startedMs,
      when: labels[at]!,
      status: statusWord(status, t),
      tone: status === 'pass' ? 'good' : bad.includes(status) ? 'bad' : 'neutral',
      p99Us,
      unit,
    }),
  );
  return { type: 'results', rows, strings: translatedStrings(t), scenario };
}
