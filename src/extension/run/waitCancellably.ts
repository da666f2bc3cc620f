import * as vscode from 'vscode';
import { noticeText } from '../noticeText';

/** Shows a notification until `over` settles, and with what; false when the person called it off. */
export function waitCancellably(title: string, over: Promise<boolean>): Thenable<boolean> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: noticeText(title),
    cancellable: true,
  };
  return vscode.window.withProgress(options, (_progress, token) => {
    const calledOff = new Promise<boolean>((resolve) =>
      token.onCancellationRequested(() => resolve(false)),
    );
    return Promise.race([over, calledOff]);
  });
}

/** Shows a notification until a silent target has answered, or is not waited for any more. */
export function showWaiting(url: string, over: Promise<void>): void {
  const title = noticeText(vscode.l10n.t('Waiting for {0} to answer…', url));
  const location = vscode.ProgressLocation.Notification;
  void vscode.window.withProgress({ location, title }, () => over);
}
