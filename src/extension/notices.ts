/** The only place that shows notifications: VS Code turns links in their text into commands. */
import * as vscode from 'vscode';
import { redactNotice } from '../results/redact';
import { inBackground } from './log';

type Kind = 'Information' | 'Warning' | 'Error';

export function ask(
  kind: Kind,
  text: string,
  ...buttons: readonly string[]
): Thenable<string | undefined> {
  return vscode.window[`show${kind}Message`](redactNotice(text), ...buttons);
}

/** Asks in a modal dialog. @returns the pressed button */
export function askModal(
  question: string,
  detail: string,
  ...buttons: readonly string[]
): Thenable<string | undefined> {
  const options = { modal: true, ...(detail !== '' && { detail: redactNotice(detail) }) };
  return vscode.window.showWarningMessage(redactNotice(question), options, ...buttons);
}

export function say(kind: Kind, text: string): void {
  inBackground(ask(kind, text));
}

export async function offer(
  kind: Kind,
  text: string,
  buttons: Readonly<Record<string, () => unknown>>,
): Promise<void> {
  const answer = await ask(kind, text, ...Object.keys(buttons));
  if (answer !== undefined) await buttons[answer]?.();
}

export function sayBriefly(text: string, shownMs: number): void {
  vscode.window.setStatusBarMessage(redactNotice(text), shownMs);
}

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
