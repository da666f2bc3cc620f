import * as vscode from 'vscode';
import type { Snapshot } from '../measure/snapshot';
import type { RunSession } from './runSession';
import { statusDetails, statusText } from './statusText';

/** Shows a run in the status bar and as a notification that can cancel it, until it is over. */
export function showStatus(session: RunSession): void {
  const { title } = session.run;
  const item = vscode.window.createStatusBarItem(
    'signalrBenchmark.run',
    vscode.StatusBarAlignment.Left,
    50,
  );
  item.name = 'SignalR Benchmark';
  item.command = 'signalrBenchmark.showRun';
  const show = (snapshot: Snapshot | undefined): string => {
    const text = statusText(snapshot, vscode.l10n.t);
    item.text = `$(pulse) ${text}`;
    item.tooltip = [`${title} → ${session.run.targetUrl}`]
      .concat(statusDetails(snapshot, vscode.l10n.t), vscode.l10n.t('Click for the live panel.'))
      .join('\n');
    item.accessibilityInformation = {
      label: vscode.l10n.t('SignalR Benchmark {0}: {1}', title, text),
    };
    return text;
  };
  show(undefined);
  item.show();
  const over = session.finished.then(
    () => undefined,
    () => undefined,
  );
  void vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t('SignalR Benchmark: {0}', title),
      cancellable: true,
    },
    async (progress, token) => {
      token.onCancellationRequested(() => session.stop());
      const subscription = session.onSnapshot((snapshot) => {
        progress.report({ message: show(snapshot) });
      });
      await over;
      subscription.dispose();
      item.dispose();
    },
  );
}
