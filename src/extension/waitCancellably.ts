import * as vscode from 'vscode';
import { noticeText } from './noticeText';

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
