import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import {
  overviewStrings,
  type OverviewRow,
  type ToOverviewPanel,
} from '../../protocol/overviewPanel';
import { t } from '../log';
import type { EntryStatus, ResultEntry } from '../results/resultEntry';
import { statusWord } from '../results/resultsModel';
import { labelsOf } from '../results/resultNodes';
import type { ResultsIndex } from '../results/resultsTree';
import { overviewViewType } from '../services';
import { panelHtml } from './panelSession';

const bad: readonly EntryStatus[] = ['fail', 'invalid', 'damaged'];

/** Results as a table that can be sorted and filtered, and what became of p99 and Units over the runs of a scenario. */
export class OverviewPanel {
  private panel: vscode.WebviewPanel | undefined;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly index: ResultsIndex,
    private readonly open: (folder: string) => unknown,
  ) {}

  /** @param scenario to begin with; undefined shows all */
  show(scenario: string | undefined): void {
    this.panel?.dispose();
    const uri = (...parts: string[]): vscode.Uri =>
      vscode.Uri.joinPath(this.extensionUri, ...parts);
    const title = scenario === undefined ? t('Results') : t('Trend of {0}', scenario);
    const panel = vscode.window.createWebviewPanel(
      overviewViewType,
      title,
      { viewColumn: vscode.ViewColumn.Active, preserveFocus: false },
      {
        enableScripts: true,
        localResourceRoots: [uri('dist'), uri('media')],
        retainContextWhenHidden: false,
      },
    );
    this.panel = panel;
    const { webview } = panel;
    const post = async (): Promise<void> => {
      const message = overviewMessage(await this.index.load(), scenario);
      if (this.panel === panel) await webview.postMessage(message);
    };
    const subscriptions = vscode.Disposable.from(
      this.index.onDidChange(() => void post()),
      webview.onDidReceiveMessage((message: unknown) => {
        const { type, id } = (message ?? {}) as { type?: unknown; id?: unknown };
        if (type === 'ready') void post();
        else if (
          type === 'open' &&
          this.index.results.entries.some(({ folder }) => folder === id)
        ) {
          void this.open(id as string);
        }
      }),
    );
    panel.onDidDispose(() => {
      void subscriptions.dispose();
      if (this.panel === panel) this.panel = undefined;
    });
    panel.iconPath = {
      light: uri('media', 'panel-light.svg'),
      dark: uri('media', 'panel-dark.svg'),
    };
    const source = (...parts: string[]): string => webview.asWebviewUri(uri(...parts)).toString();
    webview.html = panelHtml({
      title,
      language: vscode.env.language,
      scriptUri: source('dist', 'overview.js'),
      styleUris: [source('media', 'uPlot.css'), source('media', 'panel.css')],
      cspSource: webview.cspSource,
      nonce: randomBytes(16).toString('base64url'),
    });
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
      ...(p99Us !== undefined && { p99Us }),
      ...(unit !== undefined && { unit }),
    }),
  );
  const strings = Object.fromEntries(
    Object.entries(overviewStrings).map(([name, text]) => [name, t(text)]),
  );
  return { type: 'results', rows, strings, ...(scenario !== undefined && { scenario }) };
}
