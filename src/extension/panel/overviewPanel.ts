import * as vscode from 'vscode';
import type { OverviewRow, ToOverviewPanel } from '../../messages/panel';
import { t, inBackground } from '../log';
import type { EntryStatus, ResultEntry } from '../results/resultEntry';
import { statusWord } from '../results/resultsModel';
import { labelsOf } from '../results/resultNodes';
import type { ResultsIndex } from '../results/resultsTree';
import { overviewViewType } from '../services';
import { stringsIn } from './panelSession';
import { newPanel, setPage } from './webviewPage';

const bad: readonly EntryStatus[] = ['fail', 'invalid', 'damaged'];

/** Results as a table that can be sorted and filtered, and what became of p99 and Units over the runs of a scenario. */
export class OverviewPanel {
  private panel: vscode.WebviewPanel | undefined;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly index: ResultsIndex,
    private readonly open: (folder: string) => Promise<unknown>,
  ) {}

  /** @param scenario to begin with; undefined shows all */
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
  return { type: 'results', rows, strings: stringsIn(t), scenario };
}
