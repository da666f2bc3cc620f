/** The only place that shows notifications: the editor makes links of what stands in them, also such that carry out commands. */
import * as vscode from 'vscode';
import { redactNotice } from '../results/redact';
import { inBackground } from './log';

type Kind = 'Information' | 'Warning' | 'Error';

/** @returns the button that was pressed */
export function ask(
  kind: Kind,
  text: string,
  ...buttons: readonly string[]
): Thenable<string | undefined> {
  return vscode.window[`show${kind}Message`](redactNotice(text), ...buttons);
}

/** In a dialog that has to be answered. @returns the button that was pressed */
export function askFirst(
  question: string,
  detail: string,
  ...buttons: readonly string[]
): Thenable<string | undefined> {
  const options = { modal: true, ...(detail !== '' && { detail: redactNotice(detail) }) };
  return vscode.window.showWarningMessage(redactNotice(question), options, ...buttons);
}

/** Nobody waits for it to be read. */
export function say(kind: Kind, text: string): void {
  inBackground(ask(kind, text));
}

/** Says something, and does what stands behind the button that is pressed. */
export async function offer(
  kind: Kind,
  text: string,
  buttons: Readonly<Record<string, () => unknown>>,
): Promise<void> {
  const answer = await ask(kind, text, ...Object.keys(buttons));
  if (answer !== undefined) await buttons[answer]?.();
}

/** Below the editor, for a moment. */
export function sayBriefly(text: string, shownMs: number): void {
  vscode.window.setStatusBarMessage(redactNotice(text), shownMs);
}

/** Shows a notification for as long as something takes. */
export function showWhile<Result>(
  title: string,
  work: (report: (message: string) => void, token: vscode.CancellationToken) => Thenable<Result>,
  cancellable = false,
): Thenable<Result> {
  const location = vscode.ProgressLocation.Notification;
  return vscode.window.withProgress(
    { location, title: redactNotice(title), cancellable },
    (progress, token) =>
      work((message) => progress.report({ message: redactNotice(message) }), token),
  );
}
