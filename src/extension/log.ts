import * as vscode from 'vscode';
import { inBackground as letRun } from '../base/async';
import { ExpectedError } from '../base/expectedError';
import { redactNotice, redactText } from '../results/redact';

/** Texts of ours in the language of the editor. */
export const { t } = vscode.l10n;

/** The one of this window, once it is there. */
const logs = new Set<Log>();

export class Log implements vscode.Disposable {
  private readonly channel = vscode.window.createOutputChannel('SignalR Benchmark', { log: true });

  constructor() {
    logs.add(this);
  }

  info(message: string): void {
    this.channel.info(redactText(message));
  }

  warn(message: string): void {
    this.channel.warn(redactText(message));
  }

  /** Expected errors with their sentence, defects with their stack. */
  error(error: unknown): void {
    if (error instanceof ExpectedError) this.channel.error(redactText(detailsOf(error)));
    else this.channel.error(redactText(stackOf(error)));
  }

  show(): void {
    this.channel.show();
  }

  dispose(): void {
    logs.delete(this);
    this.channel.dispose();
  }
}

function detailsOf({ message, cause }: ExpectedError): string {
  return cause instanceof Error ? `${message}\n${cause.message}` : message;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Work that nobody waits for, such as a notification: what goes wrong with it is in the log. */
export const inBackground = (work: PromiseLike<unknown> | undefined): void =>
  letRun(work, (error) => {
    for (const log of logs) log.error(error);
  });

/** In place of an error whose text anybody may read. */
export const shownError = (error: unknown): Error => new Error(errorText(error));

/** A notification is read at a glance; the log has all of it. */
const mostNoticeCharacters = 400;

/** Text of an error for a message: its first line. A defect is in the log with its stack. */
export function errorText(error: unknown): string {
  const text = redactNotice(error instanceof Error ? error.message : String(error));
  const line = text.split('\n', 1)[0]!.trim();
  return line.length > mostNoticeCharacters ? `${line.slice(0, mostNoticeCharacters)}…` : line;
}
